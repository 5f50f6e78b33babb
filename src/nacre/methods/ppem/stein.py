"""The normalized kernel Stein statistic of a batch, one row at a time, against public anchors.

The paper's statistic pairs the rows of a batch, so that one row moves the gradients of others.
Here each row meets points that the generator has made, which are public: for every y,
E u(x, y) = 0 if x is drawn from the energy's density, whatever y is, so that

    v_i = mean_j u(x_i, y_j),  S = (N - 1) (sum v_i)^2 / (N sum v_i^2)

is asymptotically chi^2_1 under the null hypothesis, as the paper's S is, and v_i is a function of
one row.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp


class Anchors(NamedTuple):
    """Public points, and the scores of an energy's density at them.

    Attributes:
        points: (anchors, d).
        scores: (anchors, d), minus the energy's gradient; held when the energy is moved.
    """

    points: Any
    scores: Any


def stein_value(x: Any, score: Any, anchors: Anchors, bandwidth: float) -> Any:
    """v of one row: the mean of u(x, y_j) over the anchors.

    u = k [ s(x)·s(y) + (x-y)·(s(x)-s(y))/h² + d/h² - |x-y|²/h⁴ ], k = exp(-|x-y|²/2h²).
    """
    apart = x - anchors.points
    squared = jnp.sum(apart**2, axis=1)
    square = bandwidth**2
    inner = (
        anchors.scores @ score
        + (apart @ score - jnp.sum(apart * anchors.scores, axis=1)) / square
        + x.shape[0] / square
        - squared / square**2
    )
    return jnp.mean(jnp.exp(-squared / (2 * square)) * inner)


@final
@dataclasses.dataclass(frozen=True)
class Statistic:
    """How S is formed from the two noisy sums of a batch, and how a row's share in it is bounded.

    Releases:
        (A, B) = sum_i (w_i, w_i^2) with w = clip(v / largest, -1, 1): add-remove sqrt(2), as
        |w| <= 1.  Of K energies side by side, sqrt(2 K).

    Attributes:
        largest: beyond which a row's v is clipped.
        rows: the expected number of rows of a batch, public or noisy.
        noise: the standard deviation of the noise of each sum.
        critical: quantiles of chi^2_1, one for each energy, (K,).
        weight: of the penalty [critical - S]_+.
    """

    largest: float
    rows: float
    noise: float
    critical: tuple[float, ...]
    weight: float

    def bounded(self, value: Any) -> Any:
        """w: what of v is counted."""
        return jnp.clip(value / self.largest, -1.0, 1.0)

    def spread(self, squares: Any) -> Any:
        """The variance of the noisy A under the null: sum w^2, not below one row's, and noise."""
        return jnp.maximum(squares, 1.0) + self.noise**2

    def value(self, sums: Any) -> Any:
        """S of each energy from its noisy (A, B), (K, 2): chi^2_1 under the null, noise and all."""
        part = (self.rows - 1) / self.rows if self.rows > 1 else 0.0
        return part * sums[:, 0] ** 2 / self.spread(sums[:, 1])

    def slopes(self, sums: Any) -> tuple[Any, Any]:
        """What the penalty's derivatives by A and by B are, (K,) each; zero where S is enough."""
        (value, total, squares) = self.value(sums), sums[:, 0], sums[:, 1]
        active = self.weight * (value < jnp.asarray(self.critical))
        part = (self.rows - 1) / self.rows if self.rows > 1 else 0.0
        spread = self.spread(squares)
        by_total = -active * part * 2 * total / spread
        by_squares = jnp.where(squares > 1.0, active * part * (total / spread) ** 2, 0.0)
        return by_total, by_squares


def score_of(energy: Any) -> Any:
    """The score of the density exp(-E) / Z: minus the gradient of E, which needs no Z."""
    slope = jax.grad(energy)
    return lambda x: -slope(x)
