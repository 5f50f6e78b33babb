"""Days of dates that are modeled by their distance from others: weights fitted to drawn rows.

What a distance's days would be without any weights follows from the whole model: its anchor's days,
and how the two go together.  So rows are drawn, their distances moved by the weights so far, and
the weights multiplied by what is counted over what is found (iterative proportional fitting by
simulation).  Post-processing of noisy answers.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.calendars import Calendars, Days, sums_by
from nacre.histograms.day_counts import DayCounts
from nacre.histograms.tied import Tied
from nacre.methods.heaps import Rounds
from nacre.schema import Encoded, Layout
from nacre.schema.calendar import CLASSES, PARTS

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ROWS = 16_000  # that are drawn
SWEEPS = 12
FASTEST = 4.0  # times that a weight grows or falls in one sweep
LEAST, MOST = 1e-4, 1e4


class Dated(Protocol):
    """A generator that draws numbers inside cells."""

    @property
    def layout(self) -> Layout:
        """Of its rows."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows."""
        ...

    def tied(self, drawn: Encoded) -> Tied:
        """Drawn rows with what is known of their distances."""
        ...

    def with_days(self, calendars: Calendars) -> Self:
        """The same with other weights of days."""
        ...


Generator = TypeVar("Generator", bound=Dated)


def with_distances(
    generator: Generator, rounds: Rounds, rows: float, rng: np.random.Generator
) -> Generator:
    """A generator whose distances end on days as these were counted, among about so many rows."""
    numbers = generator.layout.numbers
    counts = {p: own for p, own in rounds.days.items() if numbers[p].tie is not None}
    if not counts:
        return generator
    known = rounds.calendars
    found = dict(zip(known.numbers.tolist(), known.weights, strict=True))
    tied = generator.tied(generator.sample(ROWS, rng))
    own: dict[int, Index] = {}
    for place, tie in tied.order:
        start, first, seen = tied.start(tie, own), numbers[place].day, counts.get(place)
        if seen is not None and first is not None:
            days = Days(first, tie.line.ticks + 1)
            weights = _fitted(tied, place, start, days, seen, rows / ROWS, rng)
            if weights is not None:
                found[place] = weights
        own[place] = np.clip(start + tie.line.up * tied.ticks[:, place], 0, tie.line.ticks)
    return generator.with_days(Calendars.of(found))


def _fitted(
    tied: Tied,
    place: int,
    start: Index,
    days: Days,
    counts: DayCounts,
    each: float,
    rng: np.random.Generator,
) -> Array | None:
    """Weights (49,) of the days at which a distance ends; None unless they differ beyond noise."""
    tie, there = dict(tied.order)[place], tied.there(place)
    before = tied.ticks[:, place].copy()

    def sums() -> list[Array]:
        ends = start + tie.line.up * tied.ticks[:, place]
        inside = there & (ends >= 0) & (ends < days.size)
        held = sums_by(ends[inside], np.ones(int(inside.sum())), days.size)
        return [each * part for part in days.sums(held)]

    expected = sums()
    ratios = counts.ratios(expected, each)
    if ratios is None:
        return None
    wanted = np.concatenate([ratio * part for ratio, part in zip(ratios, expected, strict=True)])
    own, mean = np.ones(CLASSES), np.zeros(CLASSES)
    counted = [part for part, rows in zip(PARTS, counts.parts, strict=True) if len(rows)]
    for sweep in range(SWEEPS):
        tied.ticks[:, place] = before
        tied.move(place, tie, start, days.weights(own), rng)
        found = np.concatenate(sums())
        for part in counted:
            ratio = wanted[part] / wanted[part].sum() * found[part].sum()
            ratio = (ratio + 1e-9) / np.maximum(found[part], each)
            own[part] *= np.clip(ratio, 1 / FASTEST, FASTEST)
            own[part] = np.clip(own[part] / own[part].max(), LEAST, MOST)
        if 2 * sweep >= SWEEPS:
            mean += np.log(own)
    own = np.exp(mean / (SWEEPS - (SWEEPS + 1) // 2))
    tied.ticks[:, place] = before
    tied.move(place, tie, start, days.weights(own), rng)
    return own
