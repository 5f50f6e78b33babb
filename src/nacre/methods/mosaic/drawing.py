"""Rows of Mosaic's mixture alone: a component and class, bins, links set right, cells in bins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.draw import draw_bins, draw_cells, pick, slopes
from nacre.histograms.inside import linked_places
from nacre.methods.mosaic.sparse import relink

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
NOT_POSSIBLE = "The model gives rows with these values no probability at all."


def draw_rows(
    generator: MosaicGenerator,
    n: int,
    rng: np.random.Generator,
    given: Mapping[int, int] | None = None,
    by_class: Floats | None = None,
) -> tuple[Index, Index]:
    """Cells (n, K) of the joined columns and classes, which no label model has looked at.

    Args:
        generator: whose mixture it is.
        n: how many rows.
        rng: what they are drawn by.
        given: cells that all rows are to have, by column.
        by_class: what conditions on other columns say about each class.
    """
    g, given = generator, given or {}
    component, label = _sides(g, n, given, by_class, rng)
    bins: dict[int, Index] = {}
    for column in filter(g.is_joined, range(len(g.sizes))):
        bins[column] = draw_bins(g.components_of(column), component, rng)
        if column in given:
            bins[column] = np.full(n, g.group(column)[given[column]])
    _relink(g, bins, given, rng)
    cells = np.zeros((n, len(g.sizes)), np.int64)
    places = _places(g, bins, rng)
    for column, drawn in bins.items():
        lean = _slope(g, column, component, drawn), places.get(column)
        cells[:, column] = draw_cells(
            g.inside_of(column), g.group(column), drawn, label, rng, *lean
        )
    for column, cell in given.items():
        cells[:, column] = cell
    if len(g.finer):
        from nacre.methods.mosaic.finer import Finer

        finer = Finer.of(g.finer, g.finer_shares, g.sizes)
        finer.settle(cells, label, g, set(given), rng)
    return cells, label


def _sides(
    g: MosaicGenerator,
    n: int,
    given: Mapping[int, int],
    by_class: Floats | None,
    rng: np.random.Generator,
) -> tuple[Index, Index]:
    """Each row's component and class, by what is given and Bayes' rule."""
    weights = g.weights.astype(np.float64)
    for column, cell in given.items():
        if g.is_joined(column):
            place = g.start(column) + cell
            weights = weights * (g.components[:, [g.bins[place]]] * g.inside[:, place])
    if by_class is not None:
        weights = weights * by_class
    if not weights.sum() > 0:
        raise NacreError(NOT_POSSIBLE)
    component, label = np.divmod(pick(weights, n, rng), weights.shape[1])
    return component, label


def _relink(
    g: MosaicGenerator, bins: dict[int, Index], given: Mapping[int, int], rng: np.random.Generator
) -> None:
    """Draw bins again where a linked pair cannot be; what is given stays."""
    for link in g.link_tables():
        parent, child, wanted = link.parent, link.child, link.table
        model = g.pair_moments(parent, child)
        if child not in given:
            bins[child] = relink(bins[parent], bins[child], model, wanted, rng)
        elif parent not in given:
            bins[parent] = relink(bins[child], bins[parent], model.T, wanted.T, rng)


def _places(
    g: MosaicGenerator, bins: Mapping[int, Index], rng: np.random.Generator
) -> dict[int, Floats]:
    """Where inside their bins strongly linked numbers lie, by column."""
    own = {c: g.components_of(c) for c in bins if c < len(g.layout.numbers)}
    ordered = {c: p.shape[1] - _nullable(g, c) for c, p in own.items()}
    return linked_places(own, ordered, g.weights.sum(1, dtype=np.float64), bins, rng)


def _slope(g: MosaicGenerator, column: int, component: Index, bins: Index) -> Floats | None:
    """To which end of its bin a number leans in each row, as its component's bins beside tell.

    So what two numbers have to do with each other goes on inside their bins.
    """
    if column >= len(g.layout.numbers):
        return None
    own, nullable = g.components_of(column), _nullable(g, column)
    shares = g.weights.sum(1, dtype=np.float64) @ own
    found = slopes(own, shares / shares.sum(), own.shape[1] - nullable)
    return found[component, bins]


def _nullable(g: MosaicGenerator, column: int) -> bool:
    """Whether the last bin of a number is that of gaps."""
    name = g.layout.numbers[column].name
    return any(c.name == name and c.role == "missing" for c in g.layout.codes)
