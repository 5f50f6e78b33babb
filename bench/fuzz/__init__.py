"""Hostile input, counted: schemas, tables, images, models, addresses and commands, all changed.

Each case changes something that is valid and hands it to the reader.  A reader may accept it or
raise a `NacreError`; anything else, which a user would see as a failure of nacre, is a finding.
With `--guided` changes are steered by coverage (atheris): what reaches new code is changed further.
"""

import argparse
import random
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from bench.fuzz.changes import changed_bytes, changed_text
from bench.fuzz.readers import Readers

TEXTS = frozenset({"schema", "ledger", "command"})


def run(
    cases: int, seed: int, minutes: float, only: tuple[str, ...] = ()
) -> tuple[Counter, dict[str, str]]:
    """How often each reader accepted or refused; and what else came up, once each."""
    rng, outcomes, found = random.Random(seed), Counter(), {}
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        readers = Readers(Path(name))
        kinds = sorted(only or readers.seeds)
        for _ in range(cases):
            if time.monotonic() > until:
                break
            kind = rng.choice(kinds)
            try_one(readers, kind, changed(readers, kind, rng), outcomes, found)
    return outcomes, found


def changed(readers: Readers, kind: str, rng: random.Random) -> bytes:
    """Something valid, made something else."""
    data = rng.choice(readers.seeds[kind])
    if kind in TEXTS and rng.random() < 0.8:
        return changed_text(data.decode(), rng).encode("utf-8", "surrogatepass")
    return changed_bytes(data, rng)


def try_one(
    readers: Readers, kind: str, data: bytes, outcomes: Counter, found: dict[str, str]
) -> None:
    """Count what a reader does with the bytes."""
    from nacre.errors import NacreError

    try:
        readers.readers[kind](data)
        outcomes[kind, "accepted"] += 1
    except (NacreError, FileNotFoundError):
        outcomes[kind, "refused"] += 1
    except Exception as error:
        outcomes[kind, "FAILED"] += 1
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{kind} {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        trace = "".join(traceback.format_exception(error))[-900:]
        found.setdefault(where, f"{data[:300]!r}\n{trace}")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench fuzz")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", nargs="*", default=(), help="readers to try; all if none")
    parser.add_argument("--guided", action="store_true", help="by coverage, needs atheris")
    parser.add_argument("--trace", action="store_true", help="print what failed")
    chosen = parser.parse_args(arguments)
    if chosen.guided:
        from bench.fuzz.guided import guided

        outcomes, found = guided(chosen.cases, chosen.seed, chosen.minutes, tuple(chosen.only))
    else:
        outcomes, found = run(chosen.cases, chosen.seed, chosen.minutes, tuple(chosen.only))
    for (kind, what), count in sorted(outcomes.items()):
        print(f"{kind:10} {what:9} {count:9,}")
    print(f"{sum(outcomes.values()):,} cases, {len(found)} kinds of failure")
    for where, trace in found.items():
        print(where)
        if chosen.trace:
            print(trace)
