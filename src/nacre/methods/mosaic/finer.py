"""Pairs of single values: what bins of several values hide of two columns that go together.

Values that few rows have share a bin where pairs are counted, so that a code and its group, or
race and country, come apart inside such bins.  The pairs that were counted tell, at no further
cost, which columns go together most; of a few of these all pairs of values are counted once more.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums, within
from nacre.histograms.cells import CodeColumn, Column
from nacre.histograms.histograms import Histograms, deviation
from nacre.methods.mosaic.sparse import Link, as_forest, directed
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.marginals import Places
    from nacre.methods.mosaic.generator import MosaicGenerator
    from nacre.methods.mosaic.learn import Pairs
    from nacre.vault import Vault

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FINER = "pairs of values"
TABLES = 3  # at most
ROOM = 16_384  # pairs of values in all tables together
VALUES = 512  # of a category, at most
FEW = 64  # values of a number, at most
HIDING = 5  # values of a column that may share a bin: of fewer there is nothing to be told apart
SURE = 3.0  # noise deviations by which a pair of values must differ from what bins make expect
LEAST = 0.001  # of the square of Cramér's V that must be missing for a table to be counted
PRICE = 0.2  # of that square for each share of the rows that is drawn again, at least
SEEN = 0.02  # of the rows that a pair of values has at least, if noise lets it be seen
BLOCK = 4096  # rows that are drawn at once
ROUNDS = 60  # of proportional fitting
NOTHING, TINY = 1e-9, 1e-15


def is_fine(column: Column) -> bool:
    """Whether pairs of a column's values can be counted: each has a cell, and they are few."""
    if isinstance(column, CodeColumn):
        return column.size <= VALUES
    return column.size <= FEW and bool((column.cells.widths == 1).all())


def finer_question(columns: tuple[Column, ...], joined: int, norm: int, share: float) -> Sum | None:
    """The counts of pairs of values; none if no two columns can hide anything in their bins.

    Sensitivity:
        a row lies in one cell of each table; weights are whole numbers, none negative, and the
        vault clips a row's vector to `norm`: add-remove `norm`, replace-one sqrt(2) `norm`.
    """
    fine = [column for column in columns if is_fine(column)]
    if joined < 2 or len(fine) < 2 or max(column.size for column in fine) < HIDING or not share:
        return None
    return Sum(
        name=FINER,
        meaning=f"how many rows have each pair of values of at most {TABLES} pairs of columns that "
        "go together",
        bound=Bound(segments=(Segment(size=ROOM, norm=norm, signed=False),)),
        share=share,
        unit=norm / math.sqrt(TABLES),
    )


@final
@dataclasses.dataclass(frozen=True)
class Finer:
    """Joint tables of single values, by which cells inside bins are drawn.

    Attributes:
        columns: (F, 2) joined columns of each table.
        tables: shares of each pair of cells.
    """

    columns: Index
    tables: tuple[Array, ...]

    @staticmethod
    def none() -> Finer:
        """No tables."""
        return Finer(np.zeros((0, 2), np.int64), ())

    @staticmethod
    def of(columns: Index, flat: NDArray[np.floating], sizes: tuple[int, ...]) -> Finer:
        """From how a model keeps them: all tables in one row."""
        shapes = [(sizes[a], sizes[b]) for a, b in columns.tolist()]
        ends = np.cumsum([a * b for a, b in shapes], dtype=np.int64)[:-1]
        parts = np.split(flat.astype(np.float64), ends)[: len(shapes)]
        return Finer(columns, tuple(p.reshape(s) for p, s in zip(parts, shapes, strict=True)))

    @property
    def flat(self) -> Array:
        """All tables in one row."""
        return np.concatenate([np.zeros(0), *(table.ravel() for table in self.tables)])

    def settle(
        self,
        cells: Index,
        label: Index,
        generator: MosaicGenerator,
        given: set[int],
        rng: np.random.Generator,
    ) -> None:
        """Draw cells anew inside their bins, where these have several, so that values go together.

        One column after the other: P(cell | bin, class) times, for each table that it is in, how
        much likelier the other column's cell makes each of its own; the other's bin, as long as
        that one's cell is not settled.  What is `given` stays.
        """
        groups = {c: generator.group(c) for c in dict.fromkeys(self.columns.ravel().tolist())}
        several = {c: np.bincount(group) > 1 for c, group in groups.items()}
        settled = {c for c in groups if c in given or not several[c].any()}
        for column in [c for c in groups if c not in settled]:
            group = groups[column]
            rows = np.flatnonzero(several[column][group[cells[:, column]]])
            chance = generator.inside_of(column).astype(np.float64)
            known = [(label[rows], chance)]
            for other, table in self._beside(column):
                lift, told = _lift(table, group), cells[rows, other]
                if other not in settled:
                    own = groups[other]
                    lift, told = _lift(bin_sums(own, table.T).T, group), own[told]
                known.append((told, lift))
            cells[rows, column] = _drawn(known, group, cells[rows, column], rng)
            settled.add(column)

    def _beside(self, column: int) -> Iterator[tuple[int, Array]]:
        """The tables of a column, whose cells come last, and their other columns."""
        for (left, right), table in zip(self.columns.tolist(), self.tables, strict=True):
            if column == right:
                yield left, table
            elif column == left:
                yield right, table.T


def _lift(table: Array, group: Index) -> Array:
    """How much likelier each row of a table makes a cell inside its bin than it is in all rows."""
    return within(group, table) / np.maximum(within(group, table.sum(0, keepdims=True)), NOTHING)


def _drawn(
    known: list[tuple[Index, Array]], group: Index, cells: Index, rng: np.random.Generator
) -> Index:
    """A cell of the same bin for each row, by the product of what is known."""
    found = cells.copy()
    for start in range(0, len(cells), BLOCK):
        part = slice(start, start + BLOCK)
        chance = (group[cells[part]][:, None] == group).astype(np.float64)
        for told, table in known:
            chance *= table[told[part]]
        ends = chance.cumsum(1)
        drawn = (ends <= rng.random((len(ends), 1)) * ends[:, -1:]).sum(1)
        # Where all that is known contradicts itself, what was drawn before stays.
        found[part] = np.where(ends[:, -1] > 0, np.minimum(drawn, len(group) - 1), cells[part])
    return found


def with_finer(
    vault: Vault,
    question: Sum,
    places: Places,
    histograms: Histograms,
    pairs: Pairs,
    generator: MosaicGenerator,
) -> MosaicGenerator:
    """Count pairs of values where it pays; link their bins, and keep their values together."""
    from nacre.embed.marginals import table_features

    norm = int(question.bound.segments[0].norm)
    noise = vault.noise(question) / math.floor(norm / math.sqrt(TABLES))
    tables = chosen_tables(histograms, pairs, generator, noise)
    sizes = [column.size for column in histograms.columns]
    identity = np.concatenate([np.arange(size) for size in sizes])
    if not tables:  # what was announced is asked, so that whether it was depends on no answer
        short = min(pairs.joined, key=sizes.__getitem__)
        vault.sum(question, table_features(places, identity, sizes, [(short,)], [1]), used=0)
        return generator
    weight = math.floor(norm / math.sqrt(len(tables)))
    named = [(pairs.joined[i], pairs.joined[j]) for i, j in tables]
    features = table_features(places, identity, sizes, named, [weight] * len(tables))
    used = sum(sizes[left] * sizes[right] for left, right in named)
    sums = vault.sum(question, features, used=used)
    values, noise = sums.values[0] / weight, deviation(sums.noise[0] / weight)
    links: list[Link] = []
    start, found = 0, []
    for (i, j), (left, right) in zip(tables, named, strict=True):
        size = sizes[left] * sizes[right]
        counted = values[start : start + size].reshape(sizes[left], sizes[right])
        start += size
        bins = _bins(counted, noise, histograms.total, pairs, generator, (i, j))
        link = directed(left, right, bins)
        if any(link.child == other.child for other in links):  # it has a parent already
            link = Link(link.child, link.parent, link.table.T)
        links.append(link)
        found.append(_joint(counted, noise, histograms, generator, (left, right), bins))
    finer = Finer(np.array(named, np.int64), tuple(found))
    chosen = as_forest([*links, *generator.link_tables()])
    return dataclasses.replace(
        generator.with_links(chosen),
        finer=finer.columns,
        finer_shares=finer.flat.astype(np.float32),
    )


def chosen_tables(
    histograms: Histograms, pairs: Pairs, generator: MosaicGenerator, noise: float
) -> list[tuple[int, int]]:
    """The pairs (places among the joined) that the model gets most wrong, as far as noise tells.

    Without a circle of pairs, in which what two columns tell of a third would count twice.
    """
    fine = [p for p, c in enumerate(pairs.joined) if is_fine(histograms.columns[c])]
    known = {(k.parent, k.child): k.table for k in generator.link_tables()}
    known |= {(child, parent): table.T for (parent, child), table in known.items()}
    gains = {}
    for i, j in itertools.combinations(fine, 2):
        pair = pairs.joined[i], pairs.joined[j]
        model = known.get(pair, generator.pair_moments(*pair))
        gains[i, j] = _gain(histograms, pairs, (i, j), model / max(float(model.sum()), NOTHING))
    found: list[tuple[int, int]] = []
    if SURE * noise > SEEN * histograms.total:
        return found
    room, trees = ROOM, {place: {place} for place in fine}
    for (i, j), (gain, moved) in sorted(gains.items(), key=lambda item: -item[1][0]):
        size = math.prod(histograms.columns[pairs.joined[place]].size for place in (i, j))
        if gain < LEAST or len(found) == TABLES:
            break
        if size <= room and trees[i] is not trees[j] and gain >= PRICE * moved:
            found.append((i, j))
            room -= size
            trees[i] |= trees[j]
            trees |= dict.fromkeys(trees[j], trees[i])
    return found


def _gain(
    histograms: Histograms, pairs: Pairs, pair: tuple[int, int], model: Array
) -> tuple[float, float]:
    """How much of the link of two columns is surely missing, as a square of Cramér's V.

    And the share of rows that would be drawn again for it, whose other links suffer.

    In bins, and among values that share one: these are taken to go together as much as bins of
    several values do with others, or as all bins, times the share of rows in bins of several.
    """
    table, total = pairs.tables[pair], histograms.total
    counts = table.sum(0) / total
    error = SURE * pairs.pooled(pair) / total
    rows = [np.bincount(pairs.groups[k], histograms.cleaned[pairs.joined[k]].sum(0)) for k in pair]
    alone = np.outer(*rows) / total**2
    several = [np.bincount(pairs.groups[k]) > 1 for k in pair]
    hidden = several[0][:, None] | several[1]
    scale = (alone + error) * max(min(table.shape[1:]) - 1, 1)
    wrong, apart = (
        np.maximum((counts - other) ** 2 - error**2, 0.0) / scale for other in (model, alone)
    )
    among = max(float(apart[hidden].sum()), float(apart.sum() * alone[hidden].sum()))
    moved = np.maximum(np.abs(counts - model) - error, 0.0) / 2
    return float(wrong.sum()) + among, float(moved.sum())


def _bins(
    counted: Array,
    noise: float,
    total: float,
    pairs: Pairs,
    generator: MosaicGenerator,
    pair: tuple[int, int],
) -> Array:
    """Shares of pairs of bins: the mixture's, but for those that were surely counted otherwise.

    Both countings, of pairs of bins and of values, are averaged by their precision.
    """
    left, right = (pairs.groups[place] for place in pair)
    table = pairs.tables[pair]
    again = bin_sums(left, bin_sums(right, counted).T).T
    cells = np.outer(np.bincount(left), np.bincount(right))
    first, second = pairs.pooled(pair) ** -2, 1 / (noise**2 * cells)
    mean = (table.sum(0) * first + again * second) / (first + second)
    model = generator.pair_moments(*(pairs.joined[place] for place in pair))
    model = model / max(float(model.sum()), NOTHING)
    found = _believed(mean / total, 1 / np.sqrt(first + second) / total, model)
    return fitted(found, model.sum(1), model.sum(0))


def _believed(seen: Array, error: Array, expected: Array) -> Array:
    """Shares as expected, but for those that were surely seen otherwise.

    Cells that were not surely seen to be filled hold no more together than what all of them, or
    all others, say with less noise.
    """
    sure = np.abs(seen - expected) > SURE * error
    found = np.maximum(np.where(sure, np.maximum(seen, expected / 100), expected), TINY)
    filled = seen > SURE * error
    if filled.all():
        return found
    few = 2 * filled.sum() > filled.size
    rest = float(seen[~filled].sum()) if few else 1 - float(seen[filled].sum())
    most = max(rest, 0.0) + math.sqrt(float((error[filled != few] ** 2).sum()))
    held = float(found[~filled].sum())
    return np.where(filled, found, found * min(1.0, most / max(held, TINY)))


def _joint(
    counted: Array,
    noise: float,
    histograms: Histograms,
    generator: MosaicGenerator,
    pair: tuple[int, int],
    bins: Array,
) -> Array:
    """Shares of pairs of values that agree with both columns, with bins, and with sure counts.

    Counts that noise explains are left to what bins make expect.
    """
    left, right = groups = [generator.group(column) for column in pair]
    rows = [np.maximum(histograms.cleaned[column].sum(0), NOTHING) for column in pair]
    rows = [row / row.sum() for row in rows]
    inside = [row / np.bincount(own, row)[own] for row, own in zip(rows, groups, strict=True)]
    expected = bins[np.ix_(left, right)] * np.outer(*inside)
    seen, error = counted / histograms.total, noise / histograms.total
    found = _believed(seen, np.full(seen.shape, error), expected)
    for _ in range(ROUNDS):
        found = fitted(found, rows[0], rows[1], 1)
        sums = bin_sums(left, bin_sums(right, found).T).T
        found = found * (bins / np.maximum(sums, TINY))[np.ix_(left, right)]
    return found


def fitted(table: Array, rows: Array, columns: Array, rounds: int = ROUNDS) -> Array:
    """The table with these margins, by iterative proportional fitting."""
    for _ in range(rounds):
        table = table * (rows / np.maximum(table.sum(1), TINY))[:, None]
        table = table * (columns / np.maximum(table.sum(0), TINY))
    return table
