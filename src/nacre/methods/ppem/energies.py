"""Energies of rows: what they see, the margin loss, and the Lipschitz penalty, all of one row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.nets.descent import first_weights
from nacre.nets.layers import AbstractLayer, run

SMALL = 1e-12  # under the root of a squared norm, so that it has a slope everywhere


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Energy:
    """A network from some places of a vector to one number, low where rows are likely.

    Attributes:
        layers: its layers, the last without a bias: that would tell nothing.
        places: of the vector that it sees.
    """

    layers: tuple[AbstractLayer, ...]
    places: NDArray[np.int64]

    def start(self, rng: np.random.Generator) -> Any:
        """First weights."""
        return first_weights(self.layers, rng)

    def seen(self, x: Any) -> Any:
        """The places that it sees of one vector, or of many."""
        return x[..., self.places]

    def __call__(self, weights: Any, seen: Any) -> Any:
        """The energy of what it sees of one vector, or of many."""
        return run(self.layers, weights, seen, jnp)[..., 0]

    def steepness(self, weights: Any, seen: Any, moving: int | None = None) -> Any:
        """(|dE/dx| - 1)^2 at one point, over its first `moving` places, or all."""
        slope = jax.grad(lambda x: self(weights, x))(seen)[:moving]
        return (jnp.sqrt(jnp.sum(slope**2) + SMALL) - 1.0) ** 2


def between(x: Any, made: Any, share: Any) -> Any:
    """A point on the line between a row and a generated one."""
    return share * x + (1 - share) * made


def hinge(energy: Any, margin: float) -> Any:
    """[m - E]_+: what is asked of generated rows."""
    return jnp.maximum(margin - energy, 0.0)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Ensemble:
    """One energy for each protected set, and, where there are several, one for their union.

    A set's penalty needs the score of the set's *own* density.  The coordinates of a joint score
    are no such thing: they are the score of the set given all other columns, and a test on them
    can reject because of how the columns depend on each other, while the set's marginal is the
    data's.  So each set has an energy that sees nothing else.  The union's energy keeps the
    dependence between sets; its marginal differs if that of any set does, so that its level is the
    largest of theirs.

    Attributes:
        energies: of the sets in their order, then that of the union.
    """

    energies: tuple[Energy, ...]

    def start(self, rng: np.random.Generator) -> list[Any]:
        """First weights of each."""
        return [energy.start(rng) for energy in self.energies]

    def each(self, weights: Sequence[Any], x: Any) -> list[Any]:
        """The energies of one vector, or of many."""
        pairs = zip(self.energies, weights, strict=True)
        return [energy(own, energy.seen(x)) for energy, own in pairs]

    def total(self, weights: Sequence[Any], x: Any) -> Any:
        """Their sum, which the generator lowers."""
        return sum(self.each(weights, x))

    def asked(self, weights: Sequence[Any], x: Any, margin: float) -> Any:
        """What is asked of generated rows, summed over the energies."""
        return sum(hinge(energy, margin) for energy in self.each(weights, x))

    def steepness(self, weights: Sequence[Any], x: Any) -> Any:
        """The Lipschitz penalties at one point, summed over the energies."""
        pairs = zip(self.energies, weights, strict=True)
        return sum(energy.steepness(own, energy.seen(x)) for energy, own in pairs)
