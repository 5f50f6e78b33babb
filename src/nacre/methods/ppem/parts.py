"""The two parts of a row: x', whose distribution is hidden, and x*, all other columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.methods.ppem.scaling import Scaling
from nacre.nets.vector import RowVector
from nacre.schema import Layout
from nacre.schema.protected import Protected


@final
@dataclasses.dataclass(frozen=True)
class Part:
    """Some columns of a layout: their numbers and codes, a gap's indicator with its number.

    Attributes:
        layout: of whole rows.
        columns: their names.
    """

    layout: Layout
    columns: tuple[str, ...]

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Their places among the layout's numbers."""
        return tuple(p for p, n in enumerate(self.layout.numbers) if n.name in self.columns)

    @cached_property
    def codes(self) -> tuple[int, ...]:
        """Their places among the layout's codes, indicators of gaps included."""
        return tuple(p for p, c in enumerate(self.layout.codes) if c.name in self.columns)

    @cached_property
    def vector(self) -> RowVector:
        """How these columns are laid out: numbers, then codes; two values take one place."""
        numbers = tuple(self.layout.numbers[place] for place in self.numbers)
        codes = tuple(self.layout.codes[place] for place in self.codes)
        return RowVector(Layout(numbers, codes), None, single=True)

    @property
    def width(self) -> int:
        """The length of their vector."""
        return self.vector.width

    def places(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Where some of the columns are in the vector."""
        vector, named = self.vector, frozenset(columns)
        found = [p for p, number in enumerate(vector.layout.numbers) if number.name in named]
        for place, at, width in vector.blocks:
            if vector.layout.codes[place].name in named:
                found += range(at, at + width)
        return np.array(found, np.int64)

    def of(self, row: Any, scaling: Scaling) -> Any:
        """The vector of one row under JAX: numbers standardized, codes as zeros and ones."""
        import jax.numpy as jnp

        own = type(row)(
            row.numbers[np.array(self.numbers, np.int32)],
            row.codes[np.array(self.codes, np.int32)],
        )
        vector, count = self.vector.of(own), len(self.numbers)
        if not count:
            return vector
        scaled = scaling.forward(vector[:count], self.numbers, scaling.group(row))
        return jnp.concatenate([scaled, vector[count:]])

    def numbers_from(self, outputs: Any, latent: Any, xp: Any) -> Any:
        """Standardized numbers (n, count): a latent number each, and what the network adds to it.

        So a generator starts from independent normal numbers, which have the right mean and
        spread already, and what is learnt is how columns differ from that.
        """
        count = len(self.numbers)
        plain = latent[:, : min(count, latent.shape[1])]
        zeros = xp.zeros((len(outputs), count - plain.shape[1]), outputs.dtype)
        return Scaling.bounded(outputs[:, :count] + xp.concatenate([plain, zeros], axis=1), xp)

    def made(self, outputs: Any, latent: Any, key: Any) -> Any:
        """Generated vectors (n, width) under JAX: codes drawn (`RowVector.rows`), with a gradient.

        Args:
            outputs: of a network, (n, width).
            latent: the normal numbers that went into it.
            key: for the codes.
        """
        import jax.numpy as jnp

        numbers = self.numbers_from(outputs, latent, jnp)
        drawn = self.vector.rows(outputs, key)
        return jnp.concatenate([numbers, drawn[:, len(self.numbers) :]], axis=1)

    def jittered(self, vector: Any, noise: Any) -> Any:
        """One vector, or many, its zeros and ones with a little noise: they get a density."""
        import jax.numpy as jnp

        count = len(self.numbers)
        if count == self.width:
            return vector
        return vector + jnp.where(np.arange(self.width) >= count, noise, 0.0)


class Parts(NamedTuple):
    """Both parts of a row.

    Attributes:
        hidden: x', the union of the protected sets; of no columns where none is protected.
        rest: x*, all others; of no columns where all are protected.
    """

    hidden: Part
    rest: Part

    @classmethod
    def of(cls, layout: Layout, sets: Sequence[Protected]) -> Self:
        """The columns of a layout, parted by the sets."""
        names = dict.fromkeys([*(n.name for n in layout.numbers), *(c.name for c in layout.codes)])
        hidden = {name for one in sets for name in one.columns}
        return cls(
            Part(layout, tuple(name for name in names if name in hidden)),
            Part(layout, tuple(name for name in names if name not in hidden)),
        )
