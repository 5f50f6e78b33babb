"""From noisy counts to a Mosaic generator: bins, targets of the fit, and the taught label."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums, within
from nacre.histograms.draw import chances
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.drawn import Drawn
from nacre.methods.mosaic.fit import block_bounds
from nacre.methods.mosaic.generator import MosaicGenerator
from nacre.methods.mosaic.misfit import Targets
from nacre.methods.mosaic.prior import Prior, ordered_classes
from nacre.methods.mosaic.sparse import Link, Sparse, find_links
from nacre.methods.mosaic.spectrum import Basis, Spectrum, waves
from nacre.methods.mosaic.teacher import Evidence, evidence, teach
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]

WORK = 6_000_000  # rows times tables times classes that the teacher looks at in one step
TEACHER_ROWS = 10_000  # that the label is learned on, at most
TAUGHT_ROWS = 30_000  # where that leaves room for all tables
DRAWN_ROWS = 30_000  # that are drawn for it, and for what is learned after it, at most
DRAWN = 15_000_000  # their chances of all classes
TEACHER_BINS = 48


@dataclasses.dataclass(frozen=True)
class Labeled:
    """Counts (classes of a numeric label, bins of a column), each cell's bin, and the noise."""

    group: Index
    table: Array
    noise: float

    def over(self, coarse: Index) -> tuple[Array, Array]:
        """The counts of coarser bins, and their variances."""
        bins = np.zeros(self.table.shape[1], np.int64)
        bins[self.group] = coarse
        counted = np.bincount(bins).astype(np.float64)
        return bin_sums(bins, self.table), self.noise**2 * counted


def _mean(counts: Array, variance: Array, again: Array, spread: Array) -> tuple[Array, Array]:
    """Two countings of the same bins, averaged by their precision, and the variances of that."""
    total = 1 / variance + 1 / spread
    return (counts / variance + again / spread) / total, 1 / total


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Two-way counts of the `joined` columns' bins, by class or over all classes.

    tables[i, j] has shape (classes or 1, bins of i, bins of j), i and j being places in `joined`;
    noise[i, j] is the deviation of each of its counts, and summed[i, j] that of what these add up
    to over the classes, if that was counted, too; `released` are then both countings by themselves.
    labeled[i] has the counts of i with the classes of a numeric label, where there is such a label.
    zeros[i, j] are pairs of bins that no permitted row can have.
    """

    joined: tuple[int, ...]
    groups: list[Index]
    tables: dict[tuple[int, int], Array]
    noise: dict[tuple[int, int], float]
    labeled: dict[int, Labeled] = dataclasses.field(default_factory=dict)
    zeros: dict[tuple[int, int], NDArray[np.bool_]] = dataclasses.field(default_factory=dict)
    summed: dict[tuple[int, int], float] = dataclasses.field(default_factory=dict)
    released: tuple[Pairs, ...] = ()

    def pooled(self, pair: tuple[int, int]) -> float:
        """The deviation of what a pair's counts add up to over the classes."""
        return self.summed.get(pair, self.noise[pair] * math.sqrt(len(self.tables[pair])))

    def over_classes(self) -> Pairs:
        """The same counts of all classes together."""
        tables = {pair: table.sum(0, keepdims=True) for pair, table in self.tables.items()}
        noise = {pair: self.pooled(pair) for pair in tables}
        return dataclasses.replace(self, tables=tables, noise=noise, summed={}, released=())

    def averaged(self, place: int, counts: Array, variance: Array) -> tuple[Array, Array]:
        """Counts of a column's bins by class, those with a numeric label's classes among them."""
        if place not in self.labeled:
            return counts, variance
        table, noise = self.labeled[place].over(self.groups[place])
        return _mean(counts, variance, table, noise)

    @property
    def bins(self) -> list[int]:
        """How many bins each joined column has."""
        return [int(group.max()) + 1 for group in self.groups]


@dataclasses.dataclass(frozen=True)
class Loose:
    """Class-wise counts of the bins of columns that are not joined, and their noise.

    A column's commonest bin was not counted: it holds what the others leave.
    """

    groups: dict[int, Index]
    commonest: dict[int, int]
    tables: list[Array]
    noise: list[float]


def refined(histograms: Histograms, loose: Loose) -> Histograms:
    """Histograms of loose columns that agree with what was counted again, in fewer bins.

    Both countings of a bin are averaged by their precision.  How a class differs from all rows is
    then shrunk by one factor for all columns: the share of its squares that is not noise.
    """
    shares = (histograms.sizes / histograms.total)[:, None]
    means, gaps, squares, chance = [], [], 0.0, 0.0
    for (column, group), table, noise in zip(
        loose.groups.items(), loose.tables, loose.noise, strict=True
    ):
        counts, variance = histograms.binned(column, group)
        before, again = 1 / variance, noise**-2
        mean = (counts * before + table * again) / (before + again)
        gap = mean - shares * mean.sum(0)
        rest = np.arange(len(before)) != loose.commonest[column]
        # Var(x_c - s_c sum_k x_k) = Var(x) ((1 - s_c)^2 + s_c^2 (C - 1))
        factor = (1 - shares) ** 2 + shares**2 * (len(shares) - 1)
        squares += float((gap[:, rest] ** 2).sum())
        chance += float((factor / (before + again)[rest]).sum())
        means.append(mean.sum(0))
        gaps.append(gap)
    keep, cleaned = max(0.0, 1 - chance / max(squares, 1e-9)), list(histograms.cleaned)
    for (column, group), mean, gap in zip(loose.groups.items(), means, gaps, strict=True):
        place = loose.commonest[column]
        pooled = _completed(mean, place, histograms.total)
        rows = [
            _completed(share * pooled + keep * row, place, size)
            for share, row, size in zip(shares, gap, histograms.sizes, strict=True)
        ]
        cleaned[column] = within(group, cleaned[column]) * np.stack(rows)[:, group]
    return dataclasses.replace(histograms, cleaned=cleaned)


def _completed(counts: Array, place: int, total: float) -> Array:
    """Counts that are not negative and add up to `total`, the one at `place` being what is left."""
    found = np.maximum(counts, 0.0)
    found[place] = 0.0
    found *= min(1.0, total / max(float(found.sum()), 1e-9))
    found[place] = max(total - float(found.sum()), 0.0)  # rounding may leave -1e-16
    return found


def bases(histograms: Histograms, pairs: Pairs) -> list[Basis]:
    """The waves and contrasts of each joined column's bins."""
    return [
        waves(
            histograms.in_order(column, group),
            int(group.max()) + 1,
            histograms.bin_families(column, group),
            histograms.spikes(column, group),
        )
        for column, group in zip(pairs.joined, pairs.groups, strict=True)
    ]


def targets(histograms: Histograms, pairs: Pairs) -> Targets:
    """Shares and precisions for `fit_mixtures`."""
    blocks, total = block_bounds(pairs.bins), histograms.total
    places, classes = blocks[-1][1], len(histograms.sizes)
    sides = len(next(iter(pairs.tables.values())))
    moments, precision = np.zeros((sides, places, places)), np.zeros((places, places))
    whole = np.zeros((places, places))
    for (i, j), table in pairs.tables.items():
        left, right = slice(*blocks[i]), slice(*blocks[j])
        moments[:, left, right] = table
        moments[:, right, left] = table.transpose(0, 2, 1)
        precision[left, right] = precision[right, left] = (total / pairs.noise[i, j]) ** 2
        whole[left, right] = whole[right, left] = (total / pairs.pooled((i, j))) ** 2
    single, single_precision = np.zeros((classes, places)), np.zeros(places)
    kept = zip(pairs.joined, pairs.groups, blocks, strict=True)
    for place, (column, group, block) in enumerate(kept):
        counts, variance = pairs.averaged(place, *histograms.binned(column, group))
        single[:, slice(*block)], single_precision[slice(*block)] = counts, total**2 / variance
    sparse = Sparse.of(pairs, blocks, total)
    starts = [start for start, _ in blocks]
    spectrum = Spectrum.of(bases(histograms, pairs), precision[np.ix_(starts, starts)], sides)
    shares = moments / total, precision, single / total, single_precision
    return Targets(*shares, blocks, sparse, spectrum, whole if pairs.summed else None)


def emptied(
    components: NDArray[np.float32],
    weights: NDArray[np.float32],
    histograms: Histograms,
    pairs: Pairs,
) -> NDArray[np.float32]:
    """Components with no more in bins of rare values than the histograms say, class by class.

    Noise cannot make a share negative, so a mixture that follows noisy counts puts too much into
    bins that may be empty; the cleaned histograms know better.  Bins that surely hold rows stay.
    """
    margins, found = weights.T @ components, components.astype(np.float64)
    shares = weights / np.maximum(weights.sum(1, keepdims=True), 1e-12)
    kept = zip(pairs.joined, pairs.groups, block_bounds(pairs.bins), strict=True)
    for column, group, (start, end) in kept:
        wanted = bin_sums(group, histograms.cleaned[column]) / histograms.total
        ratio = np.minimum(wanted / np.maximum(margins[:, start:end], 1e-12), 1.0)
        empty = np.bincount(group, histograms.filled[column]) == 0
        own = found[:, start:end] * np.where(empty, shares @ ratio, 1.0)
        found[:, start:end] = own / np.maximum(own.sum(1, keepdims=True), 1e-12)
    return found.astype(np.float32)


def alone(histograms: Histograms, most: int, label: int | None, layout: Layout) -> MosaicGenerator:
    """The generator of columns of which no pairs are known: they follow from the label."""
    components = np.zeros((1, 0), np.float32)
    weights = (histograms.sizes / histograms.total)[None].astype(np.float32)
    return without_label_model(
        histograms, None, components, weights, most=most, label=label, layout=layout
    )


def without_label_model(
    histograms: Histograms,
    pairs: Pairs | None,
    components: NDArray[np.float32],
    weights: NDArray[np.float32],
    *,
    most: int,
    label: int | None,
    layout: Layout,
) -> MosaicGenerator:
    """The generator without a teacher; columns that are not joined follow from the label."""
    groups = [np.full(column.size, -1) for column in histograms.columns]
    inside = [within(np.zeros_like(g), t) for g, t in zip(groups, histograms.cleaned, strict=True)]
    done = 0
    for column, group in zip(pairs.joined, pairs.groups, strict=True) if pairs else ():
        groups[column] = group + done
        inside[column] = within(group, histograms.cleaned[column])
        done += int(group.max()) + 1
    cells = sum(column.size for column in histograms.columns)
    links = _links(histograms, pairs, components, weights) if pairs else []
    found = MosaicGenerator(
        components=components,
        weights=weights,
        bins=np.concatenate(groups).astype(np.int64),
        inside=np.concatenate(inside, axis=1).astype(np.float32),
        tilt=np.zeros((len(histograms.sizes), cells), np.float32),
        pairs=np.zeros((0, 2), np.int64),
        pair_tilt=np.zeros((len(histograms.sizes), 0), np.float32),
        sizes=tuple(column.size for column in histograms.columns),
        most=most,
        trust=None,
        label=label,
        layout=layout,
        counts=np.concatenate(histograms.released, axis=1).astype(np.float32),
        noise=histograms.noise,
        **_whole(histograms),
    )
    return found.with_links(links)


def _whole(histograms: Histograms) -> dict[str, Any]:
    """The counts of all rows and their noise, as a generator keeps them."""
    if histograms.whole is None:
        return {}
    counts, noise = histograms.whole
    return {"whole_counts": counts.astype(np.float32), "whole_noise": noise}


def _links(
    histograms: Histograms,
    pairs: Pairs,
    components: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> list[Link]:
    """What has to be linked; columns by their places in the table."""
    blocks = block_bounds(pairs.bins)
    sparse = Sparse.of(pairs, blocks, histograms.total)
    moments = components.T.astype(np.float64) @ (components * weights.sum(1, keepdims=True))
    found = find_links(moments, sparse, blocks)
    return [Link(pairs.joined[k.parent], pairs.joined[k.child], k.table) for k in found]


def with_label_model(
    generator: MosaicGenerator,
    histograms: Histograms,
    pairs: Pairs,
    *,
    trust: float,
    deviation: float,
    pair_deviation: float,
    rng: np.random.Generator,
) -> tuple[MosaicGenerator, Drawn]:
    """The generator with a label model that meets the noisy counts over its own rows; and these."""
    classes, columns = len(histograms.sizes), len(pairs.joined)
    if classes == 1:  # there is nothing to tell apart
        return generator, Drawn.of(generator, 1, rng)
    by_class = len(next(iter(pairs.tables.values()))) == classes
    # Tables by class tell more of the label than the mixture that was fitted to them.
    generator = dataclasses.replace(generator, trust=0.0 if by_class else trust)
    most = np.clip(DRAWN // classes, 4000, DRAWN_ROWS)
    drawn = Drawn.of(generator, int(np.clip(histograms.total, 2000, most)), rng)
    some = int(np.clip(WORK // (classes * (columns + 40)), 4000, TEACHER_ROWS))
    all_tables = WORK // (classes * (columns + len(pairs.tables)))
    taught = drawn.first(int(np.clip(all_tables, some, TAUGHT_ROWS)))
    cells, base, n = taught.cells, taught.base, len(taught.cells)
    scale, shares = n / histograms.total, histograms.sizes / histograms.total
    groups, tables = [], []
    for place, column in enumerate(pairs.joined):
        group, counts, variance = _label_table(histograms, pairs, place)
        families = histograms.bin_families(column, group)
        ordered = histograms.in_order(column, group)
        prior = Prior.single(ordered, counts.shape[1], deviation, families)
        cell = group[cells[:, column]]
        tables.append(evidence(cell, counts * scale, variance * scale**2, shares, prior, scale))
        groups.append(group)
    chosen: list[tuple[int, int]] = []
    if pair_deviation and by_class:
        found = _pair_evidence(generator, cells, histograms, pairs, scale, pair_deviation)
        chance, room = chances(base), max(WORK // (n * classes) - columns, 0)
        chosen = sorted(found, key=lambda each: -found[each].surprise(chance))[:room]
        tables += [found[each] for each in chosen]
    among = None
    if generator.target is not None:
        gaps = histograms.columns[generator.target].nullable
        among = ordered_classes(classes - gaps, classes)
    learned = teach(base, tables, among=among)
    tilt = generator.tilt.copy()
    starts = np.cumsum([0, *generator.sizes])
    for column, group, table in zip(pairs.joined, groups, learned, strict=False):
        tilt[:, starts[column] : starts[column + 1]] = table[:, group]
    nothing = np.zeros((classes, 0), np.float32)
    generator = dataclasses.replace(
        generator,
        tilt=tilt,
        pairs=np.array(chosen, np.int64).reshape(-1, 2),
        pair_tilt=np.concatenate([nothing, *learned[columns:]], axis=1).astype(np.float32),
    )
    return generator, drawn


def _label_table(histograms: Histograms, pairs: Pairs, place: int) -> tuple[Index, Array, Array]:
    """Bins of a joined column by which the label is learned, their counts by class, and variances.

    The classes of a numeric label are many and hold few rows each: they are learned from the bins
    in which they were counted with the column.
    """
    column = pairs.joined[place]
    if place not in pairs.labeled:
        group = histograms.group(column, most=TEACHER_BINS, floor=0.002, rare=0.002, slots=10**9)
        return group, *histograms.binned(column, group)
    again = pairs.labeled[place]
    counts, variance = histograms.binned(column, again.group)
    return again.group, *_mean(counts, variance, *again.over(again.group))


def _pair_evidence(
    generator: MosaicGenerator,
    cells: Index,
    histograms: Histograms,
    pairs: Pairs,
    scale: float,
    deviation: float,
) -> dict[tuple[int, int], Evidence]:
    """Evidence by pair of columns (their places in the table)."""
    shares, found = histograms.sizes / histograms.total, {}
    bins = [
        (histograms.in_order(column, group), size)
        for column, group, size in zip(pairs.joined, pairs.groups, pairs.bins, strict=True)
    ]
    for (i, j), table in pairs.tables.items():
        left, right = pairs.joined[i], pairs.joined[j]
        cell, size = generator.pair_cell(cells, left, right)
        noisy = table.reshape(len(table), size) * scale
        variance = (pairs.noise[i, j] * scale) ** 2
        prior = Prior.pair(bins[i], bins[j], deviation)
        found[left, right] = evidence(cell, noisy, variance, shares, prior, scale)
    return found
