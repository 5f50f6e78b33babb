"""Options that several benches have: which methods, epsilons and seeds."""

import argparse
import math
import time
from collections.abc import Iterable

from bench.variants import Variant, usable


def chosen_variants(text: str | None) -> dict[str, Variant]:
    """The variants of a comma-separated list (None: all); others are skipped with a message."""
    found, problems = usable(None if text is None else split(text))
    for problem in problems:
        print(problem, flush=True)
    if not found:
        raise SystemExit("No method is left to run.")
    return found


def chosen(kind: str, text: str, known: Iterable[str]) -> list[str]:
    """The names in a comma-separated list, each of them known."""
    names, known = split(text), [*known]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"No such {kind}: {', '.join(unknown)}. There are: {', '.join(known)}.")
    return names


def split(text: str) -> list[str]:
    """Names between commas."""
    return [name for name in text.split(",") if name]


def epsilons(text: str) -> list[float]:
    """Positive numbers between commas; "inf" for none of the privacy."""
    try:
        found = [float(part) for part in split(text)]
    except ValueError:
        found = []
    if not found or not all(epsilon > 0 for epsilon in found):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of epsilons such as 0.8,1,inf")
    return found


def seeds(text: str) -> list[int]:
    """How many, from 0; or which, between commas: '3,' is seed 3 alone."""
    if not all(part.isdigit() for part in split(text)) or not split(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seeds, nor a list such as 3,4")
    return [int(part) for part in split(text)] if "," in text else list(range(int(text)))


class Deadline:
    """When no new run is to be started."""

    def __init__(self, minutes: float | None) -> None:
        self.end = math.inf if minutes is None else time.monotonic() + 60 * minutes

    @property
    def over(self) -> bool:
        """Whether it is past."""
        return time.monotonic() >= self.end
