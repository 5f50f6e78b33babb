"""Numbers with several modes as a mode and a place within it, and back (CTGAN's encoding).

A number x in [0, 1] is seen as its likeliest mode k of a Gaussian mixture, and as (x - m_k) / 2 s_k
clipped to [-1, 1].  Rows go from one layout to another, in integers: each number that is split
keeps its place, on a finer grid, and its mode is one more code, after all others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema import Code, Encoded, Layout, Number

BITS = 12  # of the grid on which a number is looked up, and of that within a mode
WIDEST = 2.0  # standard deviations to either side that a mode reaches


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Modes:
    """Gaussian mixtures of some numbers.

    Attributes:
        places: which numbers of the layout they belong to.
        weights: of each mode, (numbers, modes).
        means: in [0, 1], likewise.
        deviations: standard deviations, likewise.
    """

    places: tuple[int, ...]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = (len(self.places), self.size)
        for values in (self.weights, self.means, self.deviations):
            if values.shape != shape or not np.isfinite(values).all() or (values < 0).any():
                raise NacreError("The modes of a number are not what modes can be.")
        if not (self.deviations > 0).all() or (self.means > 1).any():
            raise NacreError("The modes of a number are not what modes can be.")

    @property
    def size(self) -> int:
        """How many modes a number has."""
        return self.means.shape[1] if self.means.ndim == 2 else 0

    @classmethod
    def grid(cls, places: Sequence[int], size: int) -> Self:
        """Where the search starts: equal modes on a public grid."""
        shape = (len(places), size)
        means = np.broadcast_to((np.arange(size) + 0.5) / size, shape)
        return cls(
            tuple(places), np.full(shape, 1 / size), means.copy(), np.full(shape, 0.5 / size)
        )

    def chances(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The posterior of each mode at each of some values: (numbers, values, modes)."""
        m, s = self.means[:, None], self.deviations[:, None]
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights[:, None] / s) - 0.5 * ((x[None, :, None] - m) / s) ** 2
        found = np.exp(logs - logs.max(axis=2, keepdims=True))
        return np.asarray(found / found.sum(axis=2, keepdims=True))


@final
@dataclasses.dataclass(frozen=True, eq=False)
class ModeSplit:
    """Rows of a layout as rows of another in which some numbers are split into modes.

    Attributes:
        source: the layout of the rows as they are.
        modes: of some of its numbers.
    """

    source: Layout
    modes: Modes

    @cached_property
    def layout(self) -> Layout:
        """The layout of rows once they are split."""
        return split_layout(self.source, self.modes.places, self.modes.size)

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The mode of each grid point, and the place within it, (numbers, 2^BITS + 1) each."""
        x = np.arange((1 << BITS) + 1) / (1 << BITS)
        mode = self.modes.chances(x).argmax(axis=2)
        own = np.arange(len(mode))[:, None]
        reach = WIDEST * self.modes.deviations[own, mode]
        unit = np.clip((x - self.modes.means[own, mode]) / reach, -1, 1)
        return mode.astype(np.int32), np.rint((unit + 1) / 2 * (1 << BITS)).astype(np.int32)

    def forward(self, row: Any) -> Any:
        """One row, split; under JAX, in integers only, so that it is exact."""
        import jax.numpy as jnp

        mode, within = (jnp.asarray(table) for table in self._tables)
        places = np.array(self.modes.places, np.int32)
        most = np.array([self.source.numbers[p].positions for p in places], np.int64)
        position = jnp.clip(row.numbers[places].astype(jnp.int64), 0, most)
        point = (((position << (BITS + 1)) + most) // (2 * most)).astype(jnp.int32)
        own = np.arange(len(places))
        numbers = row.numbers.at[places].set(within[own, point])
        return type(row)(numbers, jnp.concatenate([row.codes, mode[own, point]]))

    def backward(self, drawn: Encoded) -> Encoded:
        """Rows as they were, up to what lies beyond a mode's reach."""
        ticks = drawn.ticks.copy()
        first = len(self.source.codes)
        for place, number in enumerate(self.modes.places):
            mode = drawn.codes[:, first + place]
            unit = 2 * drawn.ticks[:, number] / (1 << BITS) - 1
            x = self.modes.means[place, mode] + WIDEST * self.modes.deviations[place, mode] * unit
            most = self.source.numbers[number].ticks
            ticks[:, number] = np.rint(np.clip(x, 0, 1) * most).astype(np.int64).clip(0, most)
        return self.source.encoded(ticks, drawn.codes[:, :first], drawn.valid)

    # -- files ---------------------------------------------------------------------------------

    def state(self) -> tuple[list[int], NDArray[np.float64]]:
        """The places as JSON, and one array of the rest."""
        modes = self.modes
        return list(modes.places), np.stack([modes.weights, modes.means, modes.deviations])

    @classmethod
    def restore(cls, said: Any, arrays: Mapping[str, NDArray[Any]], source: Layout) -> Self:
        """The inverse of `state`; raises ValueError for what does not fit together."""
        places = tuple(said)
        if not all(type(p) is int and 0 <= p < len(source.numbers) for p in places):
            raise NacreError("Modes of a number that there is not.")
        if len(set(places)) != len(places) or not places:
            raise NacreError("Modes of no number, or of one twice.")
        values = np.asarray(arrays["modes"], np.float64)
        if values.ndim != 3 or len(values) != 3 or not 1 <= values.shape[2] <= 1000:
            raise NacreError("Modes need weights, means and deviations.")
        return cls(source, Modes(places, *values))


def split_layout(source: Layout, places: Sequence[int], size: int) -> Layout:
    """The layout of rows of which some numbers are split into `size` modes."""
    numbers = tuple(
        Number(number.name, 1 << BITS) if place in places else number
        for place, number in enumerate(source.numbers)
    )
    added = tuple(Code(f"{source.numbers[place].name} mode", size) for place in places)
    return Layout(numbers, (*source.codes, *added))
