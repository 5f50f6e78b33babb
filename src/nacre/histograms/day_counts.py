"""Noisy counts of days and months, and by how much these differ from what is expected."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.histograms import deviation
from nacre.histograms.look import sure_among
from nacre.schema.calendar import YEAR

Array = NDArray[np.float64]

DIFFERS = 5.0  # deviations of their squares, by which the days must differ: one date in thousands
SLOW = 4  # coefficients of the two slowest waves of a year
LEAST = 0.02  # of what is usual, that a day or month is taken to hold


@final
@dataclasses.dataclass(frozen=True)
class DayCounts:
    """Noisy numbers of rows by day of the week, day of the month and month of the year.

    Attributes:
        parts: these three; an empty one was not counted.
        noise: the deviation of each count.
    """

    parts: tuple[Array, Array, Array]
    noise: float

    def ratios(self, expected: Sequence[Array], drawn: float = 0.0) -> list[Array] | None:
        """How many times what is expected the days hold; None unless some differ beyond noise.

        Of a date by itself (`drawn` is 0) days of the week are not enough, which are steps then.
        Otherwise what is expected was counted among rows that were drawn, each for so many.
        """
        tests = beyond_noise, beyond_noise, season
        found = [
            test(own, wanted, self.noise, drawn) if len(own) else None
            for test, own, wanted in zip(tests, self.parts, expected, strict=True)
        ]
        if all(each is None for each in (found if drawn else found[1:])):
            return None
        pairs = zip(found, expected, strict=True)
        return [np.ones(len(wanted)) if own is None else own for own, wanted in pairs]

    def without(self, parts: Sequence[Array]) -> DayCounts:
        """The counts of the other rows."""
        left = (
            own - part if len(own) else own for own, part in zip(self.parts, parts, strict=True)
        )
        week, month, year = left
        return DayCounts((week, month, year), self.noise)


def beyond_noise(counts: Array, expected: Array, noise: float, drawn: float = 0.0) -> Array | None:
    """Ratios of counts and what is expected, without what noise makes of them; None if alike.

    Chance alone makes rows on a day differ by the root of how many are expected, and so it does
    where these were themselves counted among rows that were drawn, each for so many (`drawn`).

    Those that stand out among the others by themselves are taken as counted; the others are drawn
    towards each other by the rule of James and Stein (1961), and hold what those leave.
    """
    noise = deviation(noise)
    there = expected > 0
    n = int(there.sum())
    if n < 4 or expected.sum() < noise * np.sqrt(n):
        return None
    ratio = counts[there] / expected[there]
    spread = np.sqrt(noise**2 + (1 + drawn) * expected[there]) / expected[there]

    def center(kept: NDArray[np.bool_]) -> float:
        return float(np.average(ratio[kept], weights=spread[kept] ** -2))

    square = float((((ratio - center(np.ones(n, bool))) / spread) ** 2).sum())
    alike, middle = np.ones(n, bool), float(np.median(ratio))
    for _ in range(n):
        apart = np.abs(ratio - middle) > sure_among(n) * spread
        if apart.all() or (alike == ~apart).all():
            break
        alike = ~apart
        middle = center(alike)
    if square < n - 1 + DIFFERS * np.sqrt(2 * (n - 1)) and alike.all():
        return None
    found = ratio.copy()
    if alike.any():
        square = float((((ratio - middle) / spread)[alike] ** 2).sum())
        free = int(alike.sum()) - 1
        trust = max(1 - max(free - 2, 0) / max(square, 1e-9), 0.0)
        # All rows together are known better than by adding counts up: what the others leave.
        own = expected[there][alike]
        left = expected.sum() - np.maximum(ratio[~alike], 0.0) @ expected[there][~alike]
        level = max(float(left / own.sum()), LEAST)
        parts = np.maximum(level + trust * (ratio[alike] - middle), 0.0)
        found[alike] = parts * (level * own.sum() / max(float(parts @ own), 1e-9))
    out = np.ones(len(counts))
    out[there] = np.maximum(found, 0.0)
    return out


def season(counts: Array, expected: Array, noise: float, drawn: float = 0.0) -> Array | None:
    """The same for the months of a year: slow waves first, as neighboring months are alike.

    The two slowest of a year, and the others together, are drawn towards nothing by the rule of
    James and Stein; where there are not all months, they are judged as days are.
    """
    noise = deviation(noise)
    if len(counts) != YEAR or not (expected > 0).all():
        return beyond_noise(counts, expected, noise, drawn)
    if expected.sum() < noise * np.sqrt(YEAR):
        return None
    # A month with less than its noise tells nothing: it is as the others.
    level = float(counts.sum() / expected.sum())
    ratio = np.where(expected > noise, counts / expected, level)
    spread = np.sqrt(noise**2 + (1 + drawn) * expected) / expected
    angle = 2 * np.pi * np.outer(np.arange(YEAR), np.arange(1, YEAR // 2 + 1)) / YEAR
    basis = np.linalg.qr(np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(YEAR, -1))[0]
    waves = basis[:, : YEAR - 1].T @ (ratio - level)
    # All months taken as noisy as the usual one; a month that is nearly empty is no measure.
    squares = waves**2 / float(np.median(spread**2))
    for part in (slice(SLOW), slice(SLOW, None)):
        size, square = len(squares[part]), float(squares[part].sum())
        sure = square > size + DIFFERS * np.sqrt(2 * size)
        waves[part] *= max(1 - (size - 2) / square, 0.0) if sure else 0.0
    if not waves.any():
        return None
    return np.asarray(np.maximum(1 + basis[:, : YEAR - 1] @ waves / max(level, LEAST), LEAST))
