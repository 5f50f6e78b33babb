"""Numbers standardized by public facts, or by noisy answers that were paid for; and back.

A map is a table of knots: positions in [0, 1] and standardized values, both increasing, a straight
line between two of them.  The mean of a class may be taken off, so that the numbers of a rare class
are where those of a common one are: what is left to be learnt is how columns depend on each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from nacre.histograms.cells import NumberColumn
from nacre.histograms.histograms import Histograms
from nacre.methods.standardize import moments

KNOTS = 65
TAIL = 1e-5  # share of rows beyond the last knot of a map by quantiles
FARTHEST = 10.0  # standardized values end here
REACH = 4.0  # as far as a value counts for the mean of its class
FEWEST = 5  # generated rows beyond a quantile, for it to be believed
TINY = 1e-6  # between two knots, at least

Array = NDArray[np.float64]


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Scaling:
    """A map for every number of a layout, and the classes' means in what it maps to.

    Attributes:
        positions: of the knots, in [0, 1], (numbers, KNOTS).
        values: standardized, of the same shape.
        means: of the classes, which are taken off, (classes or 1, numbers).
        label: the label's place among the codes, if there are means by label.
    """

    positions: Array
    values: Array
    means: Array
    label: int | None = None

    def group(self, row: Any) -> Any:
        """Which class a row is of."""
        return 0 if self.label is None else row.codes[self.label]

    @staticmethod
    def bounded(values: Any, xp: Any) -> Any:
        """What a network may write for a number."""
        return xp.clip(values, -FARTHEST, FARTHEST)

    def forward(self, units: Any, numbers: Sequence[int], group: Any) -> Any:
        """Standardized values of some numbers of one row, under JAX."""
        import jax.numpy as jnp

        own = list(numbers)
        positions = jnp.asarray(self.positions[own], jnp.float32)
        values = jnp.asarray(self.values[own], jnp.float32)
        inner = (positions[:, 1:-1] <= units[:, None]).sum(1)[:, None]
        at, to = (jnp.take_along_axis(positions, inner + i, 1)[:, 0] for i in (0, 1))
        low, high = (jnp.take_along_axis(values, inner + i, 1)[:, 0] for i in (0, 1))
        part = jnp.clip((units - at) / jnp.maximum(to - at, 1e-12), 0.0, 1.0)
        mean = jnp.asarray(self.means[:, own], jnp.float32)[group]
        return self.bounded(low + part * (high - low) - mean, jnp)

    def backward(self, values: Array, numbers: Sequence[int], groups: NDArray[Any]) -> Array:
        """Positions in [0, 1] of standardized values (n, numbers), under NumPy."""
        whole = values + self.means[groups][:, list(numbers)]
        found = [
            np.interp(whole[:, place], self.values[number], self.positions[number])
            for place, number in enumerate(numbers)
        ]
        return np.stack(found, axis=1) if found else np.zeros(values.shape)

    def with_lines(self, moments: Mapping[int, tuple[float, float]]) -> Scaling:
        """With straight lines by means and deviations for some numbers, in units of the range."""
        positions, values = self.positions.copy(), self.values.copy()
        for number, (mean, deviation) in moments.items():
            positions[number], values[number] = _line(mean, deviation)
        return dataclasses.replace(self, positions=positions, values=values)

    def with_means(self, sums: Array, counts: Array, noise: float, label: int) -> Scaling:
        """Means of classes from noisy sums (classes, numbers) and counts of rows.

        Each is shrunk by what of its square is likely noise, so that a class with few rows keeps
        the mean of all.
        """
        rows = np.maximum(counts, 1.0)[:, None]
        means, square = sums / rows, (noise / rows) ** 2
        kept = np.maximum(means**2 - square, 0.0) / np.maximum(means**2, 1e-30)
        return dataclasses.replace(self, means=np.clip(kept * means, -REACH, REACH), label=label)


def put_back(scaling: Scaling, bought: Scaling, generated: Mapping[int, Array]) -> Scaling:
    """Maps by which generated numbers come out with the distributions that were bought.

    What a network writes for a number strays from it, most of all in a tail; the histogram was
    paid for.  All of it is public.

    Args:
        scaling: how numbers were standardized.
        bought: maps from normal scores, by the same histograms.
        generated: standardized values of some numbers in generated rows, means of classes added.
    """
    positions, values = scaling.positions.copy(), scaling.values.copy()
    for number, drawn in generated.items():
        chances = ndtr(bought.values[number])
        sure = np.flatnonzero(np.minimum(chances, 1 - chances) > FEWEST / max(len(drawn), 1))
        if len(sure) < 2:
            continue
        first, last = sure[0], sure[-1]
        found = np.quantile(drawn, chances[first : last + 1])
        # Beyond, where few rows were generated, as steep as over all that is between.
        own = bought.values[number]
        steep = (found[-1] - found[0]) / (own[last] - own[first])
        whole = np.concatenate(
            [
                found[0] + steep * (own[:first] - own[first]),
                found,
                found[-1] + steep * (own[last + 1 :] - own[last]),
            ]
        )
        positions[number] = bought.positions[number]
        values[number] = np.maximum.accumulate(whole) + TINY * np.arange(KNOTS)
    return dataclasses.replace(scaling, positions=positions, values=values)


def schema_scaling(numbers: int) -> Scaling:
    """As if every number were uniform within its bounds: nothing is bought."""
    return _stacked([_line(0.5, 12**-0.5) for _ in range(numbers)])


def bought_scaling(
    histograms: Histograms,
    limits: NDArray[np.int64],
    hidden: Sequence[int],
    *,
    quantiles: bool,
    schema_only: bool,
) -> Scaling:
    """Maps from noisy histograms of all numbers.

    Of `hidden` numbers only mean and deviation are used: a map by quantiles, which the model
    keeps, would be the very distribution that is to be hidden.  With `schema_only` not even these
    are used.
    """
    maps = []
    for column, cleaned in zip(histograms.columns, histograms.cleaned, strict=True):
        if not isinstance(column, NumberColumn):
            continue
        cells = column.cells
        centers = (cells.low + cells.high) / 2 / max(int(limits[column.number]), 1)
        mass = cleaned.sum(0)[: cells.size]
        if column.number in hidden:
            maps.append(_line(0.5, 12**-0.5) if schema_only else _moments(centers, mass))
        else:
            maps.append((_quantiles if quantiles else _moments)(centers, mass))
    return _stacked(maps)


def _stacked(maps: Sequence[tuple[Array, Array]]) -> Scaling:
    positions, values = (
        np.array([one[side] for one in maps]).reshape(len(maps), KNOTS) for side in (0, 1)
    )
    return Scaling(positions, values, np.zeros((1, len(maps))))


def _line(mean: float, deviation: float) -> tuple[Array, Array]:
    positions = np.linspace(0.0, 1.0, KNOTS)
    return positions, (positions - mean) / deviation


def _moments(centers: Array, mass: Array) -> tuple[Array, Array]:
    """A straight line by the mean and the standard deviation of a histogram."""
    return _line(*moments(centers, mass))


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
