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

from scipy.stats import chi2

FEWEST, MOST = 20, 2_000
"""Runs in each world."""
SUMS = ("merf", "pearl", "functional")
"""Methods of sums that follow from no earlier answer: their evidence has a law that is known."""


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
        "| method | data | runs | ε shown (95 %) | most with so many | μ reached / allowed "
        "| noise drawn / stated |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for place, (name, kind) in enumerate(wanted):
        began = time.process_time()
        print(_audited(name, kind, chosen, left / (len(wanted) - place)), flush=True)
        left = max(0.0, left - (time.process_time() - began))


def _audited(name: str, kind: str, chosen: argparse.Namespace, seconds: float) -> str:
    """One row of the table, by an audit of about so many seconds of one core."""
    began, moments = time.process_time(), []

    def noted(stage: str, done: float | None) -> None:
        moments.append(time.process_time())

    audit = _audit(name, kind, chosen, FEWEST, noted)
    if len(moments) > FEWEST:  # of runs that were made now; the first ones compile
        each = (moments[-1] - moments[FEWEST // 2]) / (len(moments) - 1 - FEWEST // 2)
        start = moments[FEWEST // 2] - began
        more = math.floor((seconds - start - (moments[-1] - began)) / (2 * each))
        if more > FEWEST // 2:
            audit = _audit(name, kind, chosen, min(FEWEST + more, MOST), noted)
    apart = f"{audit.reached_mu:.4f}"
    apart += "" if audit.claimed_mu is None else f" / {audit.claimed_mu:.4f}"
    said = " REFUTED" if audit.refuted else ""
    cells = (audit.method, kind, f"{audit.runs:,}", f"{audit.shown.epsilon:.2f}{said}")
    drawn = _drawn(_kept(name, kind, chosen), audit.reached_mu) if name in SUMS else ""
    return f"| {' | '.join(cells)} | {audit.most:.2f} | {apart} | {drawn} |"


def _drawn(kept: Path, mu: float) -> str:
    """The deviation of the noise in the direction of the canary over the stated one, and 95 %.

    The evidence of a run is mu times a normal number, shifted by mu^2 / 2 towards the true world,
    if the noise is what it says; with half of the noise the number would be half as large.
    """
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    found = [
        line["answers"] / mu - (mu / 2 if line["present"] else -mu / 2)
        for line in lines
        if "present" in line
    ]
    total, count = math.fsum(number**2 for number in found), len(found)
    low, high = (math.sqrt(total / chi2.ppf(part, count)) for part in (0.975, 0.025))
    return f"{math.sqrt(total / count):.2f} ({low:.2f} to {high:.2f})"


def _kept(name: str, kind: str, chosen: argparse.Namespace) -> Path:
    return chosen.folder / f"{name}-{kind}-{chosen.epsilon:g}.jsonl"


def _audit(name: str, kind: str, chosen: argparse.Namespace, runs: int, noted: Any) -> Any:
    from nacre.audit import audit_method

    kept = _kept(name, kind, chosen)
    return audit_method(
        name, data=kind, epsilon=chosen.epsilon, runs=runs, resume=kept, on_progress=noted
    )
