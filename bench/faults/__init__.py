"""Faults on purpose: processes that are killed, crowds at one ledger, disks that are full."""

import argparse
import tempfile
from pathlib import Path

from bench.faults.crowd import crowd
from bench.faults.filling import filling_disk
from bench.faults.full_disk import full_disk
from bench.faults.kills import KINDS, kills
from bench.faults.postgres import Missing, server

__all__ = ["KINDS", "Missing", "crowd", "filling_disk", "full_disk", "kills", "main", "server"]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench faults")
    parser.add_argument("--kills", type=int, default=100, help="in all, of fit, save, sample ...")
    parser.add_argument("--processes", type=int, default=200, help="at one ledger")
    parser.add_argument("--disks", type=int, default=10, help="full ones of growing size")
    parser.add_argument("--filling", type=int, default=5, help="that fill up inside each fit")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in chosen.kinds if chosen.kills else ():
            told = kills(kind, chosen.kills // len(chosen.kinds), folder, seed=chosen.seed)
            print("kills of", kind, told, flush=True)
        if chosen.processes:
            print("SQLite", crowd(chosen.processes, folder / "crowd.db"), flush=True)
            try:
                with server() as url:
                    print("PostgreSQL", crowd(chosen.processes, url), flush=True)
            except Missing as missing:
                print(f"PostgreSQL was left out: {missing}")
        if chosen.disks:
            print("full disks", full_disk(chosen.disks, folder), flush=True)
        if chosen.filling:
            for method, told in filling_disk(chosen.filling, folder).items():
                print("disks that fill up inside a fit of", method, told, flush=True)
