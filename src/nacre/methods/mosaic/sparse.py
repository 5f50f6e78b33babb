"""Pairs of bins that hold no rows: how a mixture is kept from putting some there.

A mixture that is fitted only as closely as noise allows leaves a few rows in each of many cells
that are empty: too few to be seen in any of them, but together many husbands are female.  The
cells that are not surely filled are few numbers' worth of evidence if they are added up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.draw import draw_bins

if TYPE_CHECKING:
    from nacre.methods.mosaic.learn import Pairs

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SURE = 3.0  # noise deviations above which a cell of a pair surely holds rows
MOSTLY = 0.2  # a table is sparse if its other cells hold less than this share of the rows
NEVER = 0.0005  # share of the rows that may lie in cells of which a rule says that none can
WORTH = 0.002  # share of the rows that must lie wrong for a table to be linked
ROUNDS = 50  # of proportional fitting


@dataclasses.dataclass(frozen=True)
class Sparse:
    """What is known about cells that are not surely filled.

    Attributes:
        cells: (D, D) ones in such cells of sparse tables.
        most: (K, K) what those of each table hold together, at most.
        precision: (K, K) of that; zero for tables that are not sparse.
        never: by pair of columns, the cells of which a rule says that none can hold rows.
    """

    cells: Array
    most: Array
    precision: Array
    never: Mapping[tuple[int, int], NDArray[np.bool_]] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(pairs: Pairs, blocks: Sequence[tuple[int, int]], total: float) -> Sparse:
        """From noisy counts by pair of columns, `total` rows in all.

        A table is not sparse if its cells would hold hardly more in columns that are independent:
        those of a rare value are never surely filled, but for one by chance, where all of its rows
        would go.
        """
        columns, places = len(blocks), blocks[-1][1]
        cells, most = np.zeros((places, places)), np.zeros((columns, columns))
        precision = np.zeros((columns, columns))
        for (i, j), table in pairs.tables.items():
            pool, deviation = table.sum(0), pairs.pooled((i, j))
            surely = (pool > SURE * deviation) | (table > SURE * pairs.noise[i, j]).any(0)
            # The fewer cells are added up, the less noise: these, or what the others leave.
            few = 2 * surely.sum() > surely.size
            rest = float(pool[~surely].sum()) if few else total - float(pool[surely].sum())
            left, right = slice(*blocks[i]), slice(*blocks[j])
            never = pairs.zeros.get((i, j))
            added = max(1, min(int(surely.sum()), int((~surely).sum())))
            error = deviation * np.sqrt(added) / total
            lacks = float(_independent(pool)[~surely].sum()) - rest / total
            if surely.all() or rest > MOSTLY * total or lacks < SURE * error:
                if never is not None:
                    cells[left, right], cells[right, left] = never, never.T
                    most[i, j] = most[j, i] = NEVER
                    precision[i, j] = precision[j, i] = (deviation / total + NEVER) ** -2
                continue
            cells[left, right], cells[right, left] = ~surely, ~surely.T
            most[i, j] = most[j, i] = max(rest, 0.0) / total + error
            precision[i, j] = precision[j, i] = error**-2
        return Sparse(cells, most, precision, pairs.zeros)


def _independent(table: Array) -> Array:
    """Shares that cells would have if columns had nothing to do with each other."""
    rows, columns = (np.maximum(table.sum(axis), 0.0) for axis in (1, 0))
    return np.outer(rows, columns) / max(float(rows.sum() * columns.sum()), 1e-9)


@dataclasses.dataclass(frozen=True)
class Link:
    """The bins of column `child` are to follow from those of `parent` as this joint table says."""

    parent: int
    child: int
    table: Array


def find_links(moments: Array, sparse: Sparse, blocks: Sequence[tuple[int, int]]) -> list[Link]:
    """Tables in which a mixture of these two-way `moments` (D, D) puts rows where none can be.

    A link's table has the mixture's own margins and no more than the allowed mass in such cells.
    The child is the column that the other says more about; no column has two parents, and parents
    come before their children.
    """
    found: list[tuple[float, Link]] = []
    for i, j in np.argwhere(np.triu(sparse.precision) > 0).tolist():
        left, right = slice(*blocks[i]), slice(*blocks[j])
        model = moments[left, right] / moments[left, right].sum()
        empty = sparse.cells[left, right] > 0
        never = sparse.never.get((i, j), np.zeros_like(empty))
        held, lost, most = float(model[empty].sum()), float(model[never].sum()), sparse.most[i, j]
        wrong = max(held - most, lost - NEVER)
        if wrong < WORTH:
            continue
        wanted = model * np.where(empty, min(most / max(held, 1e-12), 1.0), 1.0)
        # Of what cells that are not surely filled may hold together, these hold nothing.
        wanted *= np.where(never, min(NEVER / max(lost, 1e-12), 1.0), 1.0)
        for _ in range(ROUNDS):
            wanted *= (model.sum(1) / np.maximum(wanted.sum(1), 1e-12))[:, None]
            wanted *= model.sum(0) / np.maximum(wanted.sum(0), 1e-12)
        found.append((wrong, directed(i, j, wanted)))
    return as_forest([link for _, link in sorted(found, key=lambda each: -each[0])])


def as_forest(links: Sequence[Link]) -> list[Link]:
    """Those of the links, the first ones first, that give no column two parents and no circle.

    Parents come before their children.
    """
    chosen: list[Link] = []
    for link in links:
        if all(link.child != other.child for other in chosen) and not _leads(chosen, link):
            chosen.append(link)
    return _parents_first(chosen)


def directed(i: int, j: int, table: Array) -> Link:
    """A link of two columns, of which the child is the one that the other says more about."""
    if _surprise(table) > _surprise(table.T):
        return Link(j, i, table.T)
    return Link(i, j, table)


def relink(
    parent: Index, child: Index, model: Array, wanted: Array, rng: np.random.Generator
) -> Index:
    """New bins of the child: as few as possible are drawn again for the pair to be as `wanted`.

    A row whose pair of bins has probability p in the `model` and q among those that are wanted,
    given the parent, keeps it with chance min(1, q / p); the others go where q > p.
    """
    model = model / np.maximum(model.sum(1, keepdims=True), 1e-12)
    wanted = wanted / np.maximum(wanted.sum(1, keepdims=True), 1e-12)
    keep = np.minimum(1.0, wanted / np.maximum(model, 1e-12))
    again = rng.random(len(child)) >= keep[parent, child]
    lacking = np.maximum(wanted - model, 0.0)
    again &= lacking.sum(1)[parent] > 0
    lacking[lacking.sum(1) == 0] = 1.0
    out = child.copy()
    out[again] = draw_bins(lacking, parent[again], rng)
    return out


def _surprise(joint: Array) -> float:
    """The entropy of the second given the first."""
    given = joint / np.maximum(joint.sum(1, keepdims=True), 1e-12)
    return -float((joint * np.log(np.maximum(given, 1e-12))).sum())


def _leads(chosen: Sequence[Link], link: Link) -> bool:
    """Whether the link's parent already follows from its child."""
    parents = {other.child: other.parent for other in chosen}
    place = link.parent
    while place in parents:
        place = parents[place]
    return place == link.child


def _parents_first(links: Sequence[Link]) -> list[Link]:
    parents = {link.child: link.parent for link in links}

    def depth(place: int) -> int:
        return 0 if place not in parents else 1 + depth(parents[place])

    return sorted(links, key=lambda link: depth(link.child))
