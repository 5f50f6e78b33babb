"""Where inside their bins the numbers of a row lie, if strong links go on there.

A mixture knows pairs of numbers by bins.  In the last bin of a skewed column lies most of what its
Pearson correlation is made of.  So the numbers of a row are taken for a Gaussian copula that has
the mixture's own correlations, drawn given its bins (Gibbs sampling of truncated normals).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]
Index = NDArray[np.int64]

STRONG = 0.5  # correlations below hardly go on inside bins
STRONGEST = 0.995
SWEEPS = 3
FARTHEST = 8.0  # deviations


@final
@dataclasses.dataclass(frozen=True)
class Scale:
    """The bins of a number on the scale of a normal deviate.

    Attributes:
        edges: (ordered bins + 1,) from -inf to inf.
        scores: (bins,) the mean deviate in each; 0 for 'missing', which has no order.
    """

    edges: Array
    scores: Array

    @staticmethod
    def of(shares: Array, ordered: int) -> Scale:
        """From the shares of the bins, of which the first `ordered` have an order."""
        known = np.maximum(shares[:ordered], 1e-12)
        edges = ndtri(np.r_[0.0, np.cumsum(known / known.sum())[:-1], 1.0])
        height = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
        scores = np.zeros(len(shares))
        scores[:ordered] = (height[:-1] - height[1:]) / (known / known.sum())
        return Scale(edges, scores)

    def ends(self, bins: Index) -> tuple[Array, Array]:
        """Between which deviates each row lies."""
        place = np.minimum(bins, len(self.edges) - 2)
        missing = bins > len(self.edges) - 2
        low, high = self.edges[place], self.edges[place + 1]
        return np.where(missing, -np.inf, low), np.where(missing, np.inf, high)


def linked_places(
    components: Mapping[int, NDArray[np.floating]],
    ordered: Mapping[int, int],
    weights: Array,
    bins: Mapping[int, Index],
    rng: np.random.Generator,
) -> dict[int, Array]:
    """A place in [0, 1] in every row's bin, of the numbers that correlate strongly with another.

    `components` holds P(bin | component), (R, bins), of each number, of whose bins the first so
    many are `ordered`; `weights` are those of the R components, `bins` those of the rows.
    """
    weights = weights / weights.sum()
    shares = {c: weights @ own for c, own in components.items()}
    scales = {c: Scale.of(share, ordered[c]) for c, share in shares.items()}
    if len(scales) < 2:
        return {}
    means = np.stack([components[c] @ scales[c].scores for c in scales], axis=1)
    means = means - weights @ means
    spread = np.array([shares[c] @ scales[c].scores ** 2 for c in scales])
    # What the components have in common: positive definite with the rest of each on the diagonal.
    found = (means.T * weights) @ means / np.sqrt(np.maximum(np.outer(spread, spread), 1e-12))
    np.fill_diagonal(found, 0.0)
    found *= STRONGEST / max(float(np.abs(found).max()), STRONGEST)
    strong = np.flatnonzero((np.abs(found) > STRONG).any(1))
    if not len(strong):
        return {}
    chosen = [list(scales)[place] for place in strong]
    correlations = found[np.ix_(strong, strong)] + np.eye(len(strong))
    places = positions([scales[c] for c in chosen], [bins[c] for c in chosen], correlations, rng)
    return dict(zip(chosen, places, strict=True))


def positions(
    scales: list[Scale], bins: list[Index], correlations: Array, rng: np.random.Generator
) -> list[Array]:
    """For each number a place in [0, 1] in every row's bin, uniform by itself."""
    precision = np.linalg.inv(correlations)
    ends = [scale.ends(own) for scale, own in zip(scales, bins, strict=True)]
    chances = [(ndtr(low), ndtr(high)) for low, high in ends]
    drawn = np.stack(
        [ndtri(low + (high - low) * rng.random(len(low))) for low, high in chances], axis=1
    )
    drawn = np.clip(drawn, -FARTHEST, FARTHEST)
    for _ in range(SWEEPS):
        for place, (low, high) in enumerate(ends):
            own = precision[place, place]
            mean = drawn[:, place] - drawn @ precision[place] / own
            deviation = 1 / np.sqrt(own)
            first, last = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
            there = ndtri(first + (last - first) * rng.random(len(mean)))
            found = np.clip(mean + deviation * there, low, high)
            drawn[:, place] = np.clip(found, -FARTHEST, FARTHEST)
    return [
        np.clip((ndtr(drawn[:, k]) - low) / np.maximum(high - low, 1e-300), 0, 1)
        for k, (low, high) in enumerate(chances)
    ]
