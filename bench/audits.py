"""Every private method audited at its quick settings, a little more in each round.

Runs are kept in a folder, so that the command can be stopped and called again; what it prints is
the table of docs/attacks.md.
"""

import argparse
import time
from pathlib import Path

ROUNDS = (8, 20, 50, 100, 200)
"""Runs in each world; all methods have had a round before the next begins."""


def subjects() -> list[tuple[str, str]]:
    """The private methods, each with the kinds of data that it learns from."""
    from nacre.methods import METHODS, find

    found = []
    for name in METHODS:
        method = find(name)
        found += [(name, kind) for kind in sorted(method.data) if method.private]
    return sorted(found, key=lambda each: (each[1] != "table", each[0]))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench audits")
    parser.add_argument(
        "--folder", type=Path, default=Path("build/audits"), help="where runs are kept"
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--minutes", type=float, default=60, help="no audit begins after that")
    parser.add_argument("--only", nargs="*", default=(), help="names of methods; all if none")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * chosen.minutes
    found: dict[tuple[str, str], str] = {}
    for runs in ROUNDS:
        for name, kind in subjects():
            if time.monotonic() > until or (chosen.only and name not in chosen.only):
                continue
            found[name, kind] = _audited(name, kind, runs, chosen)
            print(found[name, kind], flush=True)
    print("\n| method | data | runs | ε shown (95 %) | most with so many | μ reached / allowed |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    print("\n".join(found.values()))


def _audited(name: str, kind: str, runs: int, chosen: argparse.Namespace) -> str:
    """One row of the table."""
    from nacre.audit import audit_method

    audit = audit_method(
        name,
        data=kind,
        epsilon=chosen.epsilon,
        runs=runs,
        jobs=chosen.jobs,
        resume=chosen.folder / f"{name}-{kind}-{chosen.epsilon:g}.jsonl",
    )
    apart = f"{audit.reached_mu:.4f}"
    apart += "" if audit.claimed_mu is None else f" / {audit.claimed_mu:.4f}"
    said = " REFUTED" if audit.refuted else ""
    cells = (audit.method, kind, f"{audit.runs:,}", f"{audit.shown.epsilon:.2f}{said}")
    return f"| {' | '.join(cells)} | {audit.most:.2f} | {apart} |"
