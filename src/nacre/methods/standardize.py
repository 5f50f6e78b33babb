"""Numbers standardized for networks, by means and deviations that were bought.

The schema's bounds are generous: of a payment of up to 30,000 the standard deviation is 250, a
hundredth of the range.  In units of the range such a column is a constant to a network, and so the
papers standardize.  They do so by the rows themselves, which would have to be paid for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import NumberColumn, table_columns
from nacre.histograms.histograms import Histograms
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.schema import Layout
    from nacre.vault import Vault

CELLS = 256  # of a number's histogram, at most
NARROWEST = 1e-4  # of a range: no standard deviation is taken to be smaller

Scale = tuple[tuple[float, float], ...]


def scale_questions(layout: Layout, share: float) -> tuple[Sum, ...]:
    """A histogram of every number, as one sum; nothing where there are no numbers.

    Releases:
        how many rows lie in each cell of each number, 'missing' among them.
    Adjacency:
        both.
    Sensitivity:
        a row is in one cell of each number: add-remove sqrt(numbers); replace-one sqrt(2) times
        that, as counts move down as much as up.
    Guarantee:
        a discrete Gaussian on integers, composed with the method's other releases.
    Public:
        cells and their number, by the schema alone.
    """
    columns = _columns(layout)
    if not columns:
        return ()
    cells = sum(column.size for column in columns)
    return (
        Sum(
            name="histograms",
            meaning="how many rows lie in each cell of each number",
            bound=Bound(
                segments=(Segment(size=cells, norm=math.sqrt(len(columns)), signed=False),)
            ),
            share=share,
        ),
    )


def ask_scale(vault: Vault, question: Sum) -> Scale:
    """Mean and standard deviation of every number, in units of its range, from the noisy answer."""
    from nacre.embed.marginals import cell_places, single_features

    layout: Layout = vault.encoder.layout  # type: ignore[attr-defined]
    columns = _columns(layout)
    sums = vault.sum(question, single_features(cell_places(layout, columns)))
    return histogram_moments(Histograms.of(columns, sums.values, sums.noise[0]), layout)


def histogram_moments(histograms: Histograms, layout: Layout) -> Scale:
    """Mean and standard deviation of every number that there is a histogram of."""
    found = []
    for column, cleaned in zip(histograms.columns, histograms.cleaned, strict=True):
        if not isinstance(column, NumberColumn):
            continue
        cells = column.cells
        centers = (cells.low + cells.high) / 2 / max(int(layout.limits[column.number]), 1)
        found.append(moments(centers, cleaned.sum(0)[: cells.size]))
    return tuple(found)


def moments(centers: NDArray[np.float64], mass: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and the standard deviation of a histogram; those of a uniform one if it is empty."""
    if not mass.sum() > 0:
        return 0.5, 12**-0.5
    share = mass / float(mass.sum())
    mean = float(share @ centers)
    variance = float(share @ (centers - mean) ** 2)
    return mean, max(variance**0.5, NARROWEST)


def _columns(layout: Layout) -> tuple[NumberColumn, ...]:
    return tuple(c for c in table_columns(layout, None, CELLS) if isinstance(c, NumberColumn))
