"""Every private method audited at its quick settings, each with as many runs as its time allows.

The time is divided evenly, so that quick methods have many runs and slow ones the fewest that can
show anything.  Runs are kept in a folder, so that the command can be stopped and called again; what
it prints is the table of docs/attacks.md.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

from nacre.audit.bounds import CONFIDENCE

FEWEST, MOST = 8, 2_000
"""Runs in each world."""
SUMS = ("merf", "pearl", "functional")
"""Methods of sums that follow from no earlier answer: the two worlds' sums are always as far apart
as in one run, so the noise tells what epsilon is."""


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
    parser.add_argument(
        "--minutes", type=float, default=60, help="of one core, for all methods together"
    )
    parser.add_argument("--only", nargs="*", default=(), help="methods in order; all if none")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    wanted = subjects()
    if chosen.only:
        order = list(chosen.only)
        wanted = [each for each in wanted if each[0] in order]
        wanted.sort(key=lambda each: order.index(each[0]))
    left = 60 * chosen.minutes
    print(
        "| method | data | runs | ε counted (95 %) | most with so many | μ reached / allowed "
        "| noise drawn / stated (95 %) | numbers | ε by noise and distance (95 %) |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for place, (name, kind) in enumerate(wanted):
        began = time.process_time()
        print(_audited(name, kind, chosen, left / (len(wanted) - place)), flush=True)
        left = max(0.0, left - (time.process_time() - began))


def _audited(name: str, kind: str, chosen: argparse.Namespace, seconds: float) -> str:
    """One row of the table, by an audit of about so many seconds of one core."""
    began, moments = time.process_time(), []

    def noted(stage: str, done: float | None) -> None:
        moments.append(time.process_time())

    before = _runs_of(_kept(name, kind, chosen))
    runs = max(FEWEST, before + FEWEST // 2)
    audit = _audit(name, kind, chosen, runs, noted)
    half = len(moments) // 2  # the first runs compile
    each = (moments[-1] - moments[half]) / (len(moments) - 1 - half)
    more = math.floor((seconds - (moments[-1] - began) - (moments[half] - began)) / (2 * each))
    if more > FEWEST // 2:
        audit = _audit(name, kind, chosen, min(runs + more, MOST), noted)
    return row(name, kind, audit)


def row(name: str, kind: str, audit: Any) -> str:
    """What an audit has shown, as a row of the table."""
    apart = f"{audit.reached_mu:.4f}"
    apart += "" if audit.claimed_mu is None else f" / {audit.claimed_mu:.4f}"
    said = " REFUTED" if audit.refuted else ""
    cells = (audit.method, kind, f"{audit.runs:,}", f"{audit.shown.epsilon:.2f}{said}")
    found = f"{audit.most:.2f} | {apart} | {_noise(audit.noise)}"
    return f"| {' | '.join(cells)} | {found} | {_least(audit) if name in SUMS else ''} |"


def _noise(noise: Any) -> str:
    """How large the noise was, between which ends it lies, and by how many numbers."""
    low, high = noise.interval(CONFIDENCE)
    return f"{noise.ratio:.3f} ({low:.3f} to {high:.3f}) | {noise.numbers:,}"


def _least(audit: Any) -> str:
    """Epsilon of this pair of tables: their distance over the largest noise that there may be."""
    from nacre.vault.gaussian_dp import gaussian_epsilon

    largest = audit.noise.interval(2 * CONFIDENCE - 1)[1]
    return f"{gaussian_epsilon(audit.reached_mu / largest, audit.delta):.3f}"


def _kept(name: str, kind: str, chosen: argparse.Namespace) -> Path:
    return chosen.folder / f"{name}-{kind}-{chosen.epsilon:g}.jsonl"


def _runs_of(kept: Path) -> int:
    """How many runs of each world a file has, or none."""
    lines = kept.read_text().splitlines() if kept.is_file() else []
    worlds = [json.loads(line).get("present") for line in lines]
    return min(worlds.count(present) for present in (True, False))


def _audit(name: str, kind: str, chosen: argparse.Namespace, runs: int, noted: Any) -> Any:
    from nacre.audit import audit_method

    kept = _kept(name, kind, chosen)
    return audit_method(
        name, data=kind, epsilon=chosen.epsilon, runs=runs, resume=kept, on_progress=noted
    )
