"""Laws from which public frequencies are drawn afresh at each step, under JAX."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray


@final
@dataclasses.dataclass(frozen=True, eq=False)
class RowSpectrum:
    """Frequencies on whole rows: those of `GaussianKernels`.

    A frequency draws one of the bandwidths, then N(0, 1 / h^2) in each place, so that
    E cos t'(x - w) is the mean of the kernels.

    Attributes:
        width: the length of a row.
        bandwidths: public.
    """

    width: int
    bandwidths: tuple[float, ...]

    def draw(self, count: int, key: Any) -> Any:
        """`count` frequencies (count, width)."""
        import jax
        import jax.numpy as jnp

        first, second = jax.random.split(key)
        which = jax.random.randint(first, (count,), 0, len(self.bandwidths))
        wide = jnp.asarray(self.bandwidths, jnp.float32)[which]
        return jax.random.normal(second, (count, self.width)) / wide[:, None]


@final
@dataclasses.dataclass(frozen=True, eq=False)
class PairSpectrum:
    """Frequencies on one or two columns each: the law of `draw_frequencies`.

    Attributes:
        columns: of each place of the row, the column that it belongs to, from 0.
        numbers: how many places are numbers; they come first.
        pairs: the part of the frequencies that touch two columns.
        scales: between which the scale of a number's frequency is drawn, log-uniform.
    """

    columns: NDArray[np.int64]
    numbers: int
    pairs: float
    scales: tuple[float, float]

    def draw(self, count: int, key: Any) -> Any:
        """`count` frequencies (count, width)."""
        import jax
        import jax.numpy as jnp

        width, columns = len(self.columns), int(self.columns.max()) + 1
        keys = jax.random.split(key, 3)
        # Few draws, as each takes a compiler long: a place needs a scale or a phase, never both.
        choice = jax.random.uniform(keys[0], (count, 3))
        spread = jax.random.uniform(keys[1], (count, width))
        normal = jax.random.normal(keys[2], (count, width))
        one = jnp.minimum(jnp.floor(choice[:, :1] * columns), columns - 1)
        others = max(columns - 1, 1)
        apart = 1 + jnp.minimum(jnp.floor(choice[:, 1:2] * others), others - 1)
        # Another column, or the same one for a frequency on one column only.
        two = jnp.where(choice[:, 2:] < self.pairs, (one + apart) % columns, one)
        touched = (one == self.columns) | (two == self.columns)
        low, high = np.log(self.scales)
        number = jnp.exp(low + (high - low) * spread) * normal
        phase = math.pi * (2 * spread - 1)
        return jnp.where(touched, jnp.where(np.arange(width) < self.numbers, number, phase), 0.0)


def waves(frequencies: Any, x: Any) -> Any:
    """Cosines and sines of a row, or of rows (..., d), over the root of their number.

    Sensitivity: a cosine and its sine have norm one together, so that the whole has norm exactly
                 one for every row, whatever the frequencies, their law and their number.
    """
    import jax.numpy as jnp

    phases = x @ frequencies.T
    return jnp.concatenate([jnp.cos(phases), jnp.sin(phases)], -1) / math.sqrt(len(frequencies))


def soft_waves(frequencies: Any, rows: Any, starts: Sequence[int]) -> Any:
    """`waves` of generated rows (..., d), with a gradient that is right for categories, too.

    exp(i t'x) is written as a product over columns, each block of a category entering it linearly
    by sum_a x_a exp(i t_a).  For one-hot blocks that is the same; and as it is linear in a block,
    its slope is what changes when another value is drawn.  (The slope of exp(i t'x) itself is that
    only for small t.)

    Args:
        frequencies: (count, d).
        rows: numbers first, then blocks.
        starts: where each block starts, and the end of the last; the numbers come before.
    """
    import jax.numpy as jnp

    phases = rows[..., : starts[0]] @ frequencies[:, : starts[0]].T
    real, imaginary = jnp.cos(phases), jnp.sin(phases)
    for start, end in itertools.pairwise(starts):
        own, x = frequencies[:, start:end].T, rows[..., start:end]
        a, b = x @ jnp.cos(own), x @ jnp.sin(own)
        real, imaginary = real * a - imaginary * b, real * b + imaginary * a
    return jnp.concatenate([real, imaginary], -1) / math.sqrt(len(frequencies))
