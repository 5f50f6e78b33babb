"""Numbers standardized by public facts, or by noisy histograms that were paid for; and back.

A map is a table of knots: positions in [0, 1] and standardized values, both increasing, a straight
line between two of them.  It may differ by the label, so that a rare class's numbers are spread
out as those of a common one are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nacre.histograms.cells import NumberColumn
from nacre.histograms.histograms import Histograms

KNOTS = 65
TAIL = 1e-5  # share of rows beyond the last knot of a map by quantiles
FARTHEST = 10.0  # standardized values end here
NARROWEST = 1e-4  # of a range: no standard deviation is taken to be smaller
FEWEST = 50  # rows that a class must have, about, for maps of its own

Array = NDArray[np.float64]


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Scaling:
    """A map for every number of a layout, and for every value of the label if it is by label.

    Attributes:
        positions: of the knots, in [0, 1], (classes or 1, numbers, KNOTS).
        values: standardized, of the same shape.
        label: the label's place among the codes, if maps are by label.
    """

    positions: Array
    values: Array
    label: int | None = None

    def group(self, row: Any) -> Any:
        """Which maps are a row's own."""
        return 0 if self.label is None else row.codes[self.label]

    @staticmethod
    def bounded(values: Any, xp: Any) -> Any:
        """What a network may write for a number."""
        return xp.clip(values, -FARTHEST, FARTHEST)

    def forward(self, units: Any, numbers: Sequence[int], group: Any) -> Any:
        """Standardized values of some numbers of one row, under JAX."""
        import jax.numpy as jnp

        own = np.array(numbers, np.int32)
        positions = jnp.asarray(self.positions, jnp.float32)[group, own]
        values = jnp.asarray(self.values, jnp.float32)[group, own]
        inner = (positions[:, 1:-1] <= units[:, None]).sum(1)[:, None]
        at, to = (jnp.take_along_axis(positions, inner + i, 1)[:, 0] for i in (0, 1))
        low, high = (jnp.take_along_axis(values, inner + i, 1)[:, 0] for i in (0, 1))
        part = jnp.clip((units - at) / jnp.maximum(to - at, 1e-12), 0.0, 1.0)
        return self.bounded(low + part * (high - low), jnp)

    def backward(self, values: Array, numbers: Sequence[int], groups: NDArray[Any]) -> Array:
        """Positions in [0, 1] of standardized values (n, numbers), under NumPy."""
        found = np.zeros(values.shape)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            for place, number in enumerate(numbers):
                knots = self.values[group, number], self.positions[group, number]
                found[rows, place] = np.interp(values[rows, place], *knots)
        return found


def schema_scaling(numbers: int) -> Scaling:
    """As if every number were uniform within its bounds: nothing is bought."""
    return _stacked([[_line(0.5, 12**-0.5) for _ in range(numbers)]], None)


def bought_scaling(
    histograms: Histograms,
    limits: NDArray[np.int64],
    hidden: Sequence[int],
    *,
    quantiles: bool,
    schema_only: bool,
    label: int | None,
) -> Scaling:
    """Maps from noisy histograms of all numbers, by label where there is one.

    Of `hidden` numbers only mean and deviation are used: a map by quantiles, which the model
    keeps, would be the very distribution that is to be hidden.  They do not follow the label.  With
    `schema_only` not even these are used.
    """
    classes = range(1 if label is None else len(histograms.sizes))
    maps: list[list[tuple[Array, Array]]] = [[] for _ in classes]
    for column, cleaned in zip(histograms.columns, histograms.cleaned, strict=True):
        if not isinstance(column, NumberColumn):
            continue
        cells = column.cells
        centers = (cells.low + cells.high) / 2 / max(int(limits[column.number]), 1)
        every = cleaned[:, : cells.size]
        for place in classes:
            enough = histograms.sizes[place] >= FEWEST and every[place].sum() > 0
            own = every[place] if label is not None and enough else every.sum(0)
            if schema_only and column.number in hidden:
                maps[place].append(_line(0.5, 12**-0.5))
            elif quantiles and column.number not in hidden:
                maps[place].append(_quantiles(centers, own))
            else:
                maps[place].append(_moments(centers, every.sum(0)))
    return _stacked(maps, label)


def _stacked(maps: Sequence[Sequence[tuple[Array, Array]]], label: int | None) -> Scaling:
    shape = (len(maps), len(maps[0]), KNOTS)
    positions, values = (
        np.array([[one[side] for one in each] for each in maps]).reshape(shape) for side in (0, 1)
    )
    return Scaling(positions, values, label)


def _line(mean: float, deviation: float) -> tuple[Array, Array]:
    positions = np.linspace(0.0, 1.0, KNOTS)
    return positions, (positions - mean) / deviation


def _moments(centers: Array, mass: Array) -> tuple[Array, Array]:
    """A straight line by the mean and the standard deviation of a histogram."""
    share = mass / max(float(mass.sum()), 1e-9)
    mean = float(share @ centers) if mass.sum() > 0 else 0.5
    variance = float(share @ (centers - mean) ** 2)
    return _line(mean, max(variance**0.5, NARROWEST))


def _quantiles(centers: Array, mass: Array) -> tuple[Array, Array]:
    """To the normal scores of a histogram, knots evenly spaced in them."""
    if len(centers) == 1 or mass.sum() <= 0:
        return _line(0.5, 12**-0.5)
    share = np.maximum(mass / mass.sum(), 1e-9)
    share /= share.sum()
    middle = np.cumsum(share) - share / 2
    scores = ndtri(np.clip(middle, TAIL, 1 - TAIL))
    inside = np.flatnonzero((middle > TAIL) & (middle < 1 - TAIL))
    first, last = (inside[0], inside[-1]) if len(inside) else (0, len(centers) - 1)
    if last == first:  # all rows in one cell: around it, by its neighbors
        first, last = max(first - 1, 0), min(last + 1, len(centers) - 1)
    at, to = scores[first], scores[last]
    if not to > at:
        return _line(float(centers[first]), 12**-0.5)
    values = np.linspace(at, to, KNOTS)
    return np.interp(values, scores[first : last + 1], centers[first : last + 1]), values
