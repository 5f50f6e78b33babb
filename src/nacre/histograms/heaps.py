"""Heaped numbers: how many rows lie at multiples of round steps, wherever in wide cells they are.

Amounts are rounded to hundreds or to quarters, so that inside a cell of thousands of ticks a few of
them hold most rows.  Which step a row's number is a multiple of takes one count for each step, of
all rows together.  Where more rows lie on a step than a uniform spread and noise explain, its ticks
weigh more when one is drawn inside a cell; by how much follows from all cells together.  Likewise
for the places of a cycle, such as the days of a week.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.cells import Cells, CodeColumn, Column, NumberColumn
from nacre.histograms.histograms import Histograms, deviation
from nacre.histograms.look import sure_among
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]
RoundSteps = Sequence[tuple[int, int]]

ROUNDS = 50  # of the fit, at most
SETTLED = 1e-4  # of the rows: a change of what is on any step by less ends the fit
DIFFERS = 3.0  # deviations of their squares, by which the places of a cycle must differ
SLOPED = 0.5  # a step as wide as the cells may hold so much more than a uniform spread, for nothing


def heaped(columns: tuple[Column, ...], layout: Layout) -> tuple[int, ...]:
    """The columns with cells of several ticks and steps that people round to.

    A function of one row must be able to tell the ticks apart.
    """
    return tuple(
        place
        for place, column in enumerate(columns)
        if isinstance(column, NumberColumn)
        and layout.numbers[column.number].shift == 0
        and layout.numbers[column.number].rounds
        and (column.cells.widths > 1).any()
    )


def classes(columns: tuple[Column, ...], layout: Layout, chosen: Sequence[int]) -> list[int]:
    """How many classes of steps each of these columns has: one for rows on none of them."""
    own = [columns[place] for place in chosen]
    return [1 + len(layout.numbers[c.number].rounds) for c in own if isinstance(c, NumberColumn)]


@final
@dataclasses.dataclass(frozen=True)
class Heaps:
    """By how much the ticks on round steps outweigh others, inside every wide cell of a number.

    A tick that is on several steps has all their weights.

    Attributes:
        places: (H, 3) a number's place, each so many ticks (1 for all of them), and the first of
            these; sorted.
        weights: (H,) of one such tick.
    """

    places: Index
    weights: NDArray[np.float64]

    @staticmethod
    def none() -> Heaps:
        """Numbers that are spread uniformly in each of their cells."""
        return Heaps(np.zeros((0, 3), np.int64), np.zeros(0))

    def without(self, numbers: Sequence[int]) -> Heaps:
        """The same but for some numbers."""
        kept = ~np.isin(self.places[:, 0], list(numbers))
        return Heaps(self.places[kept], self.weights[kept])

    def of_ticks(self, number: int, ticks: Index) -> NDArray[np.float64]:
        """How much each of a number's ticks weighs; ones where no step stands out."""
        own = self.places[:, 0] == number
        if not own.any():
            return np.ones(len(ticks))
        found = np.zeros(len(ticks))
        for (every, start), weight in zip(self.places[own, 1:], self.weights[own], strict=True):
            found += weight * ((ticks - start) % every == 0)
        return found

    def draw(
        self, number: int, cells: Cells, cell: Index, ticks: Index, rng: np.random.Generator
    ) -> Index:
        """`ticks` that were drawn from these cells of a number, drawn again in wide ones."""
        own = self.places[:, 0] == number
        if not own.any():
            return ticks
        every, start = self.places[own, 1:].T
        first, count = _multiples(cells, [*zip(every.tolist(), start.tolist(), strict=True)])
        ends = np.cumsum(self.weights[own][:, None] * count, axis=0)  # (steps, cells)
        again = np.flatnonzero((cells.widths > 1)[cell] & (ends[-1] > 0)[cell])
        here = cell[again]
        point = rng.random(len(here)) * ends[-1, here]
        step = np.minimum((ends[:, here] <= point).sum(0), len(every) - 1)
        found = ticks.copy()
        # The last step may have no tick there, where the point is rounded up to the very end.
        among = np.maximum(count[step, here], 1)
        drawn = first[step, here] + every[step] * rng.integers(0, among)
        found[again] = np.clip(drawn, cells.low[here], cells.high[here])
        return found

    def check(self, layout: Layout) -> None:
        """Raise ValueError unless these are steps of numbers of such a table."""
        if len(self.weights) != len(self.places):
            raise NacreError("The round steps of the model have no weights.")
        if not len(self.places):
            return
        number, every, start = self.places.T
        if number.max() >= len(layout.numbers) or (every < 1).any() or (start >= every).any():
            raise NacreError("The round steps of the model belong to no number.")
        if (every > np.maximum(layout.limits[number], 1)).any():
            raise NacreError("The round steps of the model are wider than their numbers.")
        if not np.array_equal(np.lexsort((every, number)), np.arange(len(every))):
            raise NacreError("The round steps of the model are not sorted.")


def find_heaps(
    histograms: Histograms,
    layout: Layout,
    atoms: Atoms,
    counts: dict[int, Array],
    noise: float,
) -> Heaps:
    """The steps on which more rows lie than uniform cells, single values and noise explain.

    `counts` are, for each column, of rows in wide cells by class: on none of its steps, then by the
    widest that each is on.
    """
    places: list[tuple[int, int, int]] = []
    weights: list[float] = []
    for place, found in counts.items():
        column = histograms.columns[place]
        if isinstance(column, CodeColumn):
            raise NacreError("A column with a list of values has no round steps.")
        rounds = [(1, 0), *layout.numbers[column.number].rounds]
        mass = histograms.cleaned[place].sum(0)[: column.cells.size]
        rest, single = _apart(atoms, column, mass, rounds)
        steps = _Steps.of(column.cells, rounds, rest)
        cyclic = layout.numbers[column.number].cyclic
        look = steps.turning if cyclic else steps.believed
        own = look(found - single, deviation(noise))
        if len(own) > 1:
            places += [(column.number, *rounds[step]) for step in own]
            weights += list(own.values())
    return Heaps(np.array(places, np.int64).reshape(-1, 3), np.array(weights))


def _apart(
    atoms: Atoms, column: NumberColumn, mass: Array, rounds: RoundSteps
) -> tuple[Array, Array]:
    """The rows of a column's wide cells that are at no single value, and the others by class."""
    own = atoms.places[:, 0] == column.number
    cell, tick = atoms.places[own, 1:].T
    rows = mass[cell] * atoms.shares[own]
    rest = np.where(column.cells.widths > 1, mass, 0.0)
    np.subtract.at(rest, cell, rows)
    on = np.array([(tick - start) % every == 0 for every, start in rounds])
    widest = len(rounds) - 1 - on[::-1].argmax(0) if len(tick) else np.zeros(0, np.int64)
    return np.maximum(rest, 0.0), np.asarray(np.bincount(widest, rows, len(rounds)), np.float64)


def _multiples(cells: Cells, rounds: RoundSteps) -> tuple[Index, Index]:
    """The first tick on each step in each cell, and how many there are, (steps, cells)."""
    every, start = np.array(rounds, np.int64).T[:, :, None]
    first = cells.low + (start - cells.low) % every
    return first, np.maximum((cells.high - first) // every + 1, 0)


@final
@dataclasses.dataclass(frozen=True)
class _Steps:
    """The ticks of a number's cells by step.

    Attributes:
        rows: that are not at single values.
        shares: (cells,) of them.
        reach: (steps,) how many of them lie in cells that have a tick on a step.
        on: (steps, classes) whether what is on the class's step, its widest, is on a step.
        ticks: (classes, cells) how many ticks each class has.
        doubt: (steps,) how far a uniform spread may be off, as a part of what it makes expect.
    """

    rows: float
    shares: Array
    reach: Array
    on: NDArray[np.bool_]
    ticks: Array
    doubt: Array

    @staticmethod
    def of(cells: Cells, rounds: RoundSteps, rest: Array) -> _Steps:
        """Those of some cells with so many rows in each."""
        every, start = np.array(rounds, np.int64).T
        on = (every % every[:, None] == 0) & ((start - start[:, None]) % every[:, None] == 0)
        _, count = _multiples(cells, rounds)
        ticks, reach = count.astype(np.float64), (count > 0) @ rest
        for step in range(len(rounds) - 2, -1, -1):
            ticks[step] -= ticks[on[step] & (np.arange(len(rounds)) > step)].sum(0)
        rows = float(rest.sum())
        shares = rest / max(rows, 1e-12)
        doubt = SLOPED * (shares * np.minimum(every[:, None] / cells.widths, 1.0)).sum(1)
        return _Steps(rows, shares, reach, on, np.maximum(ticks, 0.0), doubt)

    def turning(self, counts: Array, noise: float) -> dict[int, float]:
        """Weights of the ticks at each place of a cycle; none unless they differ beyond noise.

        They are drawn towards each other by the rule of James and Stein (1961), by which so many
        counts are better together than each by itself.  Beside noise of more than half of what a
        place is expected to hold nothing can be told.
        """
        expected = self.rows * (self.ticks @ np.divide(self.shares, self.ticks.sum(0)))
        there = np.flatnonzero(expected > 2 * noise)
        if len(there) < max(int(np.count_nonzero(self.ticks.sum(1))), 4):
            return {}
        ratio, spread = counts[there] / expected[there], noise / expected[there]
        free = len(there) - 1
        square = float((((ratio - ratio.mean()) / spread) ** 2).sum())
        if square < free + DIFFERS * np.sqrt(2 * free):
            return {}
        trust = 1 - (free - 2) / square
        return dict(zip(there.tolist(), np.maximum(1 + trust * (ratio - 1), 0), strict=True))

    def believed(self, counts: Array, noise: float) -> dict[int, float]:
        """Weights of the ticks on each step that stands out: one after the other, clearest first.

        The first step, which every tick is on, is always there.
        """
        bar = sure_among(len(counts)) ** 2
        tried = np.flatnonzero(self.reach > np.sqrt(bar) * noise)
        best = self._fitted(counts, noise, [0])
        for _ in tried:
            more = [
                self._fitted(counts, noise, sorted([*best.weights, step]))
                for step in tried.tolist()
                if step not in best.weights
            ]
            more = [fit for fit in more if all(self._stands_out(fit, step) for step in fit.weights)]
            found = min(more, key=lambda fit: fit.misfit, default=best)
            if found.misfit > best.misfit - bar:
                break
            best = self._without(counts, noise, found, bar)
        return best.weights

    def _without(self, counts: Array, noise: float, fit: _Fit, bar: float) -> _Fit:
        """The fit without steps that are not needed: a finer one may have come before its own."""
        for step in [*fit.weights][1:]:
            fewer = self._fitted(counts, noise, [s for s in fit.weights if s != step])
            if fewer.misfit <= fit.misfit + bar / 2:
                return self._without(counts, noise, fewer, bar)
        return fit

    def _stands_out(self, fit: _Fit, step: int) -> bool:
        """Whether the ticks on a step hold more than cells that are not uniform may explain."""
        return fit.weights[step] > self.doubt[step] * fit.weights[0] or not step

    def _fitted(self, counts: Array, noise: float, chosen: list[int]) -> _Fit:
        """Weights of some steps, by least squares of what they make expect of each class.

        With weights v of the ticks, cells j hold sum_j m_j k_sj v_s / sum_t k_tj v_t rows of class
        s.  That is linear in v but for the last sum, which is that of the round before.  All rows
        together are known from the histogram, about as well as one count.
        """
        known = np.append(counts, self.rows)
        deviation = np.sqrt(noise**2 + np.maximum(known, 1.0))
        on, value = self.on[chosen].astype(np.float64), np.ones(len(counts))
        rows = weights = np.zeros(len(chosen))
        misfit = np.inf
        for _ in range(ROUNDS):
            whole = value @ self.ticks
            each = (self.ticks / np.where(whole > 0, whole, np.inf)) @ self.shares
            parts = on * each  # (steps, classes): the rows on each step, for a weight of one
            sums = np.maximum(parts.sum(1), 1e-300)
            before = rows
            made = np.vstack([(parts / sums[:, None]).T, np.ones(len(chosen))])
            rows, misfit = nnls(made / deviation[:, None], known / deviation)
            weights = rows / sums
            value = weights @ on
            if not rows.sum() > 0 or np.abs(rows - before).max() < SETTLED * rows.sum():
                break
            value, weights = value / (value @ each), weights / (value @ each)
        return _Fit(dict(zip(chosen, weights.tolist(), strict=True)), misfit**2)


@final
@dataclasses.dataclass(frozen=True)
class _Fit:
    """Weights of ticks by step, and the sum of squares that they leave."""

    weights: dict[int, float]
    misfit: float
