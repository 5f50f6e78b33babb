"""Dates on some days of the week, of the month and of the year: how much likelier these are.

Contracts begin on the first of a month, forms are signed on working days, and accidents happen in
winter.  Cells of dates are weeks or wider, and a smooth histogram takes most of the comb for noise,
and much of the season.  How many rows there are on each day of the month and of the week, and in
each month of the year, takes one count each, of all rows together.  Where these differ beyond
noise, each day has the product of its weights, fitted such that the counts are met (iterative
proportional fitting; Deming and Stephan, 1940).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.cells import Cells, CodeColumn, Column, NumberColumn
from nacre.histograms.day_counts import DayCounts
from nacre.histograms.histograms import Histograms
from nacre.schema import Layout
from nacre.schema.calendar import (
    CLASSES,
    MONTH,
    PARTS,
    WEEK,
    YEAR,
    month_class,
    month_of_year,
    weekday,
)

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SWEEPS = 60  # of proportional fitting
ROUNDS = 3  # of fitting weights to cells, and cells to weights
LEAST = 0.02  # of a usual day's weight, that a day is taken to have where cells are smoothed
WINDOW = 31  # days
STEEPEST = 1e6  # how much likelier one day may be than another


def dated(columns: tuple[Column, ...], layout: Layout) -> tuple[int, ...]:
    """The columns that are dates of many weeks, or distances of such dates from others."""
    return tuple(
        place
        for place, column in enumerate(columns)
        if isinstance(column, NumberColumn)
        and layout.numbers[column.number].day is not None
        and layout.numbers[column.number].shift == 0
    )


def classes_of(column: Column, layout: Layout) -> int:
    """How many counts of days a date has, beside its steps: the days of the month, and others.

    Of a date by itself these are the months of the year; of a distance, whose date follows its
    anchor through the year, the days of the week.
    """
    if isinstance(column, CodeColumn):
        raise NacreError("A column with a list of values is no date.")
    return MONTH + (YEAR if layout.numbers[column.number].tie is None else WEEK)


def sums_by(key: Index, rows: Array, size: int) -> Array:
    """Sums of `rows` by an index, as many as `size` at least."""
    return np.asarray(np.bincount(key, rows, size), np.float64)


@final
@dataclasses.dataclass(frozen=True)
class Days:
    """A stretch of days from a first one on, by their classes."""

    first: int
    size: int

    @cached_property
    def week(self) -> Index:
        """(days,) the day of the week of each."""
        return np.asarray(weekday(np.arange(self.first, self.first + self.size)))

    @cached_property
    def month(self) -> Index:
        """(days,) its class in its month."""
        return np.asarray(month_class(np.arange(self.first, self.first + self.size)))

    @cached_property
    def year(self) -> Index:
        """(days,) its month of the year."""
        return np.asarray(month_of_year(np.arange(self.first, self.first + self.size)))

    def sums(self, rows: Array) -> tuple[Array, Array, Array]:
        """Rows by day of the week, class of day of the month, and month of the year."""
        return (
            sums_by(self.week, rows, WEEK),
            sums_by(self.month, rows, MONTH),
            sums_by(self.year, rows, YEAR),
        )

    def weights(self, own: Array) -> Array:
        """(days,) what the weights (49,) of all classes make of each."""
        week, month, year = (own[part] for part in PARTS)
        return np.asarray(week[self.week] * month[self.month] * year[self.year])


@final
@dataclasses.dataclass(frozen=True)
class Calendars:
    """By how much some days of the week, the month and the year outweigh others, for some dates.

    Attributes:
        numbers: (D,) whose they are; sorted.
        weights: (D, 49) of Monday to Sunday, then of the 1st to the 28th of a month, of later days,
            and of its last day, then of January to December.
    """

    numbers: Index
    weights: Array

    @staticmethod
    def none() -> Calendars:
        """Dates of which every day is like its neighbors."""
        return Calendars(np.zeros(0, np.int64), np.zeros((0, CLASSES)))

    @staticmethod
    def of(found: Mapping[int, Array]) -> Calendars:
        """Those of some numbers."""
        if not found:
            return Calendars.none()
        order = sorted(found)
        return Calendars(np.array(order, np.int64), np.stack([found[place] for place in order]))

    def own(self, number: int) -> Array | None:
        """(49,) the weights of a number's days, if there are any."""
        place = np.flatnonzero(self.numbers == number)
        return self.weights[place[0]] if len(place) else None

    def of_ticks(self, number: int, layout: Layout) -> Array | None:
        """The weight of each tick of the date that a number is, or is the distance of."""
        own, kind = self.own(number), layout.numbers[number]
        if own is None or kind.day is None:
            return None
        last = kind.ticks if kind.tie is None else kind.tie.line.ticks
        return Days(kind.day, last + 1).weights(own)

    @staticmethod
    def draw(
        cells: Cells, cell: Index, weights: Array, ticks: Index, rng: np.random.Generator
    ) -> Index:
        """A tick of each cell by the weights of its ticks; where these are none, `ticks`."""
        ends = np.r_[0.0, weights.cumsum()]
        low, high = cells.low[cell], cells.high[cell]
        start, end = ends[low], ends[high + 1]
        point = start + (end - start) * rng.random(len(cell))
        found = np.clip(np.searchsorted(ends, point, side="right") - 1, low, high)
        # Beside a point that was rounded up a tick without any weight may lie.
        none = (end <= start) | (weights[found] <= 0)
        return np.where(none, ticks, found)

    def check(self, layout: Layout) -> None:
        """Raise ValueError unless these are weights of dates of such a table."""
        if self.weights.shape != (len(self.numbers), CLASSES):
            raise NacreError("The days of the model have no weights.")
        for number, own in zip(self.numbers.tolist(), self.weights, strict=True):
            if number >= len(layout.numbers) or layout.numbers[number].day is None:
                raise NacreError("The days of the model belong to no date.")
            if not (
                all(own[part].max() > 0 for part in PARTS)
                and 0 <= own.min() <= own.max() <= STEEPEST
            ):
                raise NacreError("The days of a date of the model have no weight at all.")
        if (np.diff(self.numbers) <= 0).any():
            raise NacreError("The dates of the model are not sorted.")


def fitted(
    targets: Sequence[Array],
    sums: Callable[[Array], Sequence[Array]],
    sweeps: int = SWEEPS,
) -> Array:
    """Weights (49,) by which days hold what they are to: `sums` are what given weights make."""
    own, wanted = np.ones(CLASSES), [each / max(each.sum(), 1e-9) for each in targets]
    for _ in range(sweeps):
        for k, part in enumerate(PARTS):
            found = sums(own)[k]
            found = found / max(found.sum(), 1e-9)
            there = (found > 0) & (wanted[k] > 0)
            ratio = np.where(there, wanted[k] / np.where(there, found, 1.0), wanted[k] > 0)
            own[part] *= np.clip(ratio, 1 / STEEPEST, STEEPEST)
            # Where noise asks for what no days can be (firsts of a month on few weekdays), weights
            # would fall to nothing on all days.
            own[part] = np.clip(own[part] / own[part].max(), 1 / STEEPEST, 1.0)
    return own


def comb(days: Days, density: Array, rows: float, counts: DayCounts) -> Array | None:
    """Weights (49,) of a date's days; None unless they differ beyond noise.

    Args:
        days: all its ticks.
        density: (ticks,) of rows on usual days, smooth; zero for single dates.
        rows: beside those at single dates.
        counts: of these.
    """
    scale = rows / max(float(density.sum()), 1e-9)
    expected = [each * scale for each in days.sums(density)]
    ratios = counts.ratios(expected)
    if ratios is None:
        return None
    targets = [ratio * own for ratio, own in zip(ratios, expected, strict=True)]
    found = fitted(targets, lambda own: days.sums(density * days.weights(own)))
    return found if density @ days.weights(found) > 0 else None


def smoothed(density: Array) -> Array:
    """A density of days without what comes and goes within a month: two moving means."""
    window = np.ones(WINDOW)
    for _ in range(2):
        held = np.convolve(density, window, "full")[WINDOW // 2 :][: len(density)]
        there = np.convolve(np.ones(len(density)), window, "full")[WINDOW // 2 :][: len(density)]
        density = held / there
    return density


def with_combs(
    histograms: Histograms,
    layout: Layout,
    counts: Mapping[int, DayCounts],
    singles: Callable[[int, Array], tuple[Index, Array]],
    fixed: int | None = None,
) -> tuple[Histograms, Calendars, dict[int, tuple[Index, Index, Array]]]:
    """Histograms whose cells of dates hold what their days make expect, and weights of these.

    A density is smooth beside what the days of a cell weigh together, so that a cell with the
    first of a month is no jump; what released counts say beyond that, stays.

    Args:
        histograms: as released.
        layout: of the rows.
        counts: of days, of the columns that are dates by themselves.
        singles: of a date's rows by tick, as expected, the ticks that surely hold more, and their
            rows.
        fixed: a column whose cells are not to be cleaned again, as a label's classes are.

    Returns:
        Also of each such date the cells, ticks and shares of single dates.
    """
    found: dict[int, Array] = {}
    single: dict[int, tuple[Index, Index, Array]] = {}
    for place, own in counts.items():
        column = histograms.columns[place]
        if isinstance(column, CodeColumn):
            raise NacreError("A column with a list of values is no date.")
        number = layout.numbers[column.number]
        days, cells = Days(number.day or 0, number.ticks + 1), column.cells
        cell = np.repeat(np.arange(cells.size), cells.widths.astype(np.int64))
        ticks, rows, wide = np.zeros(0, np.int64), np.zeros(0), cells.widths
        weights, before = None, histograms
        for _ in range(ROUNDS):
            mass = histograms.cleaned[place].sum(0)[: cells.size]
            less = sums_by(cell[ticks], rows, cells.size)
            rest = np.ones(len(cell))
            rest[ticks] = 0.0
            beside = own.without(days.sums(sums_by(ticks, rows, len(cell))))
            left = np.maximum(mass - less, 0.0)
            density = smoothed((left / wide)[cell]) * rest
            weights = comb(days, density, float(left.sum()), beside)
            if weights is None:
                break
            each = days.weights(weights)
            wide = sums_by(cell, np.maximum(each, LEAST * each.mean()), cells.size)
            if place != fixed:
                histograms = histograms.weighed(place, wide)
                mass = histograms.cleaned[place].sum(0)[: cells.size]
            # By the days around, not by the cell, which holds what is sought.
            left = np.maximum(mass - sums_by(cell[ticks], rows, cells.size), 0.0)
            ticks, rows = singles(place, each * smoothed((left / wide)[cell]))
        if weights is None:
            histograms = before
            continue
        found[column.number] = weights
        held = np.minimum(rows / np.maximum(mass[cell[ticks]], 1e-9), 1.0)
        single[place] = cell[ticks], ticks, held
    return histograms, Calendars.of(found), single


def replaced(atoms: Atoms, found: Mapping[int, tuple[Index, Index, Array]]) -> Atoms:
    """Single values, those of some numbers (cells, ticks, shares) in place of what they had."""
    kept = ~np.isin(atoms.places[:, 0], list(found))
    parts = [(atoms.places[kept], atoms.shares[kept])]
    for number, (cells, ticks, shares) in found.items():
        each = np.full(len(ticks), number, np.int64)
        parts.append((np.stack([each, cells, ticks], axis=1), shares.astype(np.float32)))
    places = np.concatenate([place for place, _ in parts])
    order = np.lexsort(places.T[::-1])
    return Atoms(places[order], np.concatenate([share for _, share in parts])[order])
