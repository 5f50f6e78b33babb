"""Noisy histograms of every column by class, and what can be made of them."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums, join_rare, lump_families, lump_rare, quantile_bins
from nacre.histograms.cells import CodeColumn, Column
from nacre.histograms.clean import clean, clean_column
from nacre.histograms.spikes import Parts, standing_out

Array = NDArray[np.float64]
Index = NDArray[np.int64]

EXACT = 0.1  # rows, in place of no noise: so little that a cell of a single row is believed


def deviation(noise: float) -> float:
    """The deviation by which counts of rows are weighed: not nothing where there is no noise."""
    return float(noise) or EXACT


@final
@dataclasses.dataclass(frozen=True)
class Histograms:
    """Class-wise histograms of all columns, each (classes, cells).

    Attributes:
        columns: whose they are.
        released: as they left the vault.
        noisy: the same, or better if more is known by now.
        cleaned: denoised: support detection, then exponential tails.
        filled: which cells surely hold rows.
        sizes: of the classes.
        noise: (columns,) the deviation of one released count of each column.
        begins: of some numbers, the cells at which a bin has to begin.
        families: of some categories, which of their values belong together, finest order first.
        scales: of categories with an order, how many of their codes are in it: the first ones.
        pooled: (columns,) the deviation of what noisy counts add up to over the classes.
        whole: counts of all rows (all cells) as they left the vault, and the deviation of one of
            each column, if there are any.
    """

    columns: tuple[Column, ...]
    released: list[Array]
    noisy: list[Array]
    cleaned: list[Array]
    filled: list[NDArray[np.bool_]]
    sizes: Array
    noise: Array
    begins: Mapping[int, NDArray[np.bool_]] = dataclasses.field(default_factory=dict)
    families: Mapping[int, Sequence[Index]] = dataclasses.field(default_factory=dict)
    scales: Mapping[int, int] = dataclasses.field(default_factory=dict)
    pooled: Array = dataclasses.field(default_factory=lambda: np.zeros(0))
    whole: tuple[Array, Array] | None = None

    @staticmethod
    def of(
        columns: tuple[Column, ...],
        values: Array,
        noise: float,
        weights: Index | None = None,
        counted: tuple[Array, float] | None = None,
        whole: tuple[Array, float] | None = None,
    ) -> Histograms:
        """From the released counts (C, all cells) and the deviation of each.

        With `weights`, the rows of each column were counted with its own.  `counted` are the class
        sizes and their deviation, and `whole` the counts of all rows (all cells) and theirs, where
        these were counted, too.
        """
        ends = np.cumsum([column.size for column in columns])
        released = np.split(values, ends[:-1], axis=1)
        weights = np.ones(len(columns), np.int64) if weights is None else weights
        released = [table / weight for table, weight in zip(released, weights, strict=True)]
        noises = noise / weights
        spread = [deviation(own) for own in noises]
        noisy, pooled = released, [own * math.sqrt(len(values)) for own in spread]
        kept = None
        if whole is not None:
            rows = whole[0] / np.repeat(weights, [column.size for column in columns])
            kept = rows, whole[1] / weights
            again = [deviation(own) for own in kept[1]]
            every = zip(released, np.split(rows, ends[:-1]), spread, again, strict=True)
            merged = [with_whole(*each) for each in every]
            noisy, pooled = [table for table, _ in merged], [own for _, own in merged]
        parts = [Parts.of(*each) for each in zip(columns, noisy, spread, pooled, strict=True)]
        some = [part.table for part in parts]
        if counted is not None:
            counted = counted[0], deviation(counted[1])
        widths = [part.widths for part in parts]
        found, known, sizes = clean(
            some, spread, widths, counted, [p.together for p in parts], pooled
        )
        cleaned = [p.join(table, mask) for p, table, mask in zip(parts, found, known, strict=True)]
        filled = [part.mark(mask) for part, mask in zip(parts, known, strict=True)]
        return Histograms(
            columns,
            released,
            noisy,
            cleaned,
            filled,
            sizes,
            noises,
            pooled=np.array(pooled),
            whole=kept,
        )

    def weighed(self, column: int, widths: Array) -> Histograms:
        """The same with a number cleaned as if its cells had these `widths`.

        Its density is smooth beside these.
        """
        noise = deviation(self.noise[column])
        pooled = float(self.pooled[column]) if len(self.pooled) else noise * len(self.sizes) ** 0.5
        part = Parts.of(self.columns[column], self.noisy[column], noise, pooled)
        part = dataclasses.replace(part, cell_widths=np.asarray(widths, np.float64))
        table, known = clean_column(
            part.table, part.widths, noise, part.together, pooled, self.sizes
        )
        cleaned, filled = [*self.cleaned], [*self.filled]
        cleaned[column], filled[column] = part.join(table, known), part.mark(known)
        return dataclasses.replace(self, cleaned=cleaned, filled=filled)

    def binned(self, column: int, group: Index) -> tuple[Array, Array]:
        """Counts (C, bins) of a column's bins, and their variances (bins,).

        Cells that are not filled are many, and their noise adds up.  What they are expected to
        hold, right within as much again and the noise of one cell, is averaged with what was
        counted, by precision.
        """
        filled, one = self.filled[column], deviation(self.noise[column]) ** 2
        known = bin_sums(group, np.where(filled, self.noisy[column], 0.0))
        counted = bin_sums(group, np.where(filled, 0.0, self.noisy[column]))
        expected = bin_sums(group, np.where(filled, 0.0, self.cleaned[column]))
        cells = np.bincount(group, filled)
        counted_variance = one * np.maximum(np.bincount(group) - cells, 1e-9)
        expected_variance = one + (expected**2).mean(0)
        trust = expected_variance / (expected_variance + counted_variance)
        rest = trust * counted + (1 - trust) * expected
        return known + rest, one * cells + trust * counted_variance

    @property
    def total(self) -> float:
        """The noisy number of rows."""
        return float(self.sizes.sum())

    def group(
        self,
        column: int,
        *,
        most: int,
        floor: float,
        rare: float,
        slots: int,
        alone: float = 0.0,
        spike: float = 1.0,
    ) -> Index:
        """The bin of each cell of a column: quantiles of a number, the common categories.

        Categories of a family share its bin if they have less than `alone` of the rows; a single
        value of a number has its own if it stands out of those beside it by more than `spike`.
        """
        mass, kind = self.cleaned[column].sum(0), self.columns[column]
        if isinstance(kind, CodeColumn):
            families, scale = self.families.get(column, ()), self.scales.get(column, 0)
            if scale and not families:
                return join_rare(mass, scale, floor=rare, slots=slots)
            if not families:
                return lump_rare(mass, floor=rare, slots=slots)
            # Noise does not hide values in an order so soon: neighbors tell of each other.
            least = rare if scale else max(rare, alone)
            return lump_families(mass, families, floor=rare, slots=slots, alone=least)
        begins = self.begins.get(column)
        if begins is not None:
            begins = begins[: len(mass) - kind.nullable]
        bins = functools.partial(quantile_bins, most=most, floor=floor, rare=rare, begins=begins)
        high = standing_out(mass[: kind.cells.size], kind.cells) > spike * mass.sum()
        bins = functools.partial(bins, spikes=high)
        if not kind.nullable:
            return bins(mass, slots=slots)
        # 'Missing' is the last cell, and always a bin of its own.
        known = np.maximum(mass[:-1], 1e-9)
        found = bins(known, slots=slots - 1)
        return np.append(found, found.max() + 1)

    def in_order(self, column: int, group: Index) -> int:
        """How many bins of a column are in order: the first ones, all but those of gaps."""
        kind = self.columns[column]
        if not isinstance(kind, CodeColumn):
            return int(group.max()) + 1 - kind.nullable
        first = group[: self.scales.get(column, 0)]
        rising = len(first) > 0 and first[0] == 0 and set(np.diff(first).tolist()) <= {0, 1}
        apart = rising and bool((group[len(first) :] > first[-1]).all())
        return int(first[-1]) + 1 if apart else 0

    def spikes(self, column: int, group: Index) -> NDArray[np.bool_]:
        """Which bins are a single value of a number that stands out of those beside it."""
        kind, bins = self.columns[column], np.bincount(group)
        if isinstance(kind, CodeColumn):
            return np.zeros(len(bins), bool)
        size = kind.cells.size
        high = standing_out(self.cleaned[column].sum(0)[:size], kind.cells) > 0
        return (bins == 1) & (np.bincount(group[:size], high, len(bins)) > 0)

    def bin_families(self, column: int, group: Index) -> list[Index]:
        """To which family each bin belongs, in each order of families, finest first.

        A bin with values of several is a family of its own.
        """
        found = []
        for family in self.families.get(column, ()):
            least, most = np.full(group.max() + 1, len(group)), np.full(group.max() + 1, -1)
            np.minimum.at(least, group, family)
            np.maximum.at(most, group, family)
            own = np.where(least == most, least, len(group) + np.arange(len(least)))
            found.append(np.unique(own, return_inverse=True)[1])
        return found

    def association(self, column: int) -> float:
        """Mutual information of a column's cells and the class, from the cleaned histograms."""
        joint = self.cleaned[column] / self.total
        product = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        used = (joint > 0) & (product > 0)  # the product of two small shares may be too small
        return float((joint[used] * np.log(joint[used] / product[used])).sum())

    def entropy(self, column: int) -> float:
        """Of a column's cells over all classes, from the cleaned histograms."""
        share = self.cleaned[column].sum(0) / self.total
        return -float((share * np.log(np.maximum(share, 1e-12))).sum())


def with_whole(table: Array, whole: Array, noise: float, again: float) -> tuple[Array, float]:
    """Counts by class (C, ...) that add up to what they and those of all rows say together.

    Also the deviation of what they then add up to.  Least squares: each class takes an equal part
    of the difference, by how precisely their sum was known.
    """
    own, other = len(table) * noise**2, again**2
    share = own / (own + other)
    return table + (whole - table.sum(0)) * (share / len(table)), math.sqrt(other * share)
