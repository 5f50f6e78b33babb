"""A row of a table as a vector, and back: one place a number, a one-hot block a code."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Layout

FARTHEST = 10.0  # standard deviations from a mean that a standardized number may be


@final
@dataclasses.dataclass(frozen=True)
class RowVector:
    """How the encoded row of a layout is laid out as a vector of R^d.

    Numbers come first, in [0, 1] or standardized; then a block of each code, the label's left out.

    Attributes:
        layout: of the rows.
        label: the label's place among the codes, if there is a label.
        single: whether a code of two values takes one place, the chance of the second.
        scale: mean and standard deviation of each number, in units of its range, public or bought;
            None where numbers are not standardized.
    """

    layout: Layout
    label: int | None = None
    single: bool = False
    scale: tuple[tuple[float, float], ...] | None = None

    @property
    def numbers(self) -> int:
        """How many places are numbers; they come first."""
        return len(self.layout.numbers)

    @property
    def classes(self) -> int:
        """How many values the label has, or one."""
        return 1 if self.label is None else self.layout.codes[self.label].size

    @cached_property
    def blocks(self) -> tuple[tuple[int, int, int], ...]:
        """Of each code but the label: its place among the codes, where it starts, its width."""
        found, at = [], self.numbers
        for place, code in enumerate(self.layout.codes):
            if place != self.label:
                width = 1 if self.single and code.size == 2 else code.size
                found.append((place, at, width))
                at += width
        return tuple(found)

    @cached_property
    def runs(self) -> tuple[tuple[tuple[int, ...], int, int], ...]:
        """The blocks again, neighbors of one place each as one: places among codes, start, width.

        An operation for each of a thousand yes-or-no columns takes minutes to compile.
        """
        found: list[tuple[tuple[int, ...], int, int]] = []
        for place, at, width in self.blocks:
            if found and width == found[-1][2] == 1:
                found[-1] = ((*found[-1][0], place), found[-1][1], 1)
            else:
                found.append(((place,), at, width))
        return tuple(found)

    @property
    def width(self) -> int:
        """The length of the vector."""
        return self.numbers + sum(width for _, _, width in self.blocks)

    @property
    def columns(self) -> int:
        """How many columns it stands for."""
        return self.numbers + len(self.blocks)

    # -- under JAX -----------------------------------------------------------------------------

    def of(self, row: Any) -> Any:
        """The vector of one row (`nacre.rows.table.Row`), float32: for `Steps` and the like."""
        import jax.numpy as jnp

        most = np.array([number.positions for number in self.layout.numbers], np.float32)
        parts = [row.numbers.astype(jnp.float32) / most]
        if self.scale is not None:
            mean, deviation = np.array(self.scale, np.float32).reshape(-1, 2).T
            parts = [jnp.clip((parts[0] - mean) / deviation, -FARTHEST, FARTHEST)]
        for places, _, width in self.runs:
            codes = row.codes[np.array(places, np.int32)]
            hot = codes if width == 1 else codes == jnp.arange(width, dtype=jnp.int32)
            parts.append(hot.astype(jnp.float32))
        return jnp.concatenate(parts)

    def rows(self, outputs: Any, key: Any) -> Any:
        """Generated vectors (n, d) from a network's outputs, as samples will have them.

        Numbers by a sigmoid, or as they are if standardized; codes are sampled, and the gradient is
        that of their chances (straight-through): the network is trained on rows of the kind that it
        will output.
        """
        import jax
        import jax.numpy as jnp

        # One draw for all places, as each call of a random generator takes long to compile.
        uniform = jax.random.uniform(key, outputs.shape, minval=1e-7)
        gumbel = -jnp.log(-jnp.log(uniform))
        parts = [self._numbers(outputs[:, : self.numbers])]
        for codes, at, width in self.runs:
            own = slice(at, at + width * len(codes))
            logits = outputs[:, own]
            if width == 1:
                soft = jax.nn.sigmoid(logits)
                hard = (uniform[:, own] < soft).astype(soft.dtype)
            else:
                soft = jax.nn.softmax(logits, axis=-1)
                drawn = jnp.argmax(logits + gumbel[:, own], axis=-1)
                hard = jax.nn.one_hot(drawn, width, dtype=soft.dtype)
            parts.append(soft + jax.lax.stop_gradient(hard - soft))
        return jnp.concatenate(parts, axis=1)

    def chances(self, outputs: Any) -> Any:
        """Numbers as in `rows`, sigmoids of single places, softmaxes of blocks: no sampling."""
        import jax
        import jax.numpy as jnp

        numbers, *runs = jnp.split(outputs, [at for _, at, _ in self.runs], axis=-1)
        parts = [self._numbers(numbers)]
        for part, (_, _, width) in zip(runs, self.runs, strict=True):
            parts.append(jax.nn.sigmoid(part) if width == 1 else jax.nn.softmax(part, axis=-1))
        return jnp.concatenate(parts, axis=-1)

    def _numbers(self, outputs: Any) -> Any:
        """What a network writes for numbers, as `of` has them."""
        import jax
        import jax.numpy as jnp

        if self.scale is None:
            return jax.nn.sigmoid(outputs)
        return jnp.clip(outputs, -FARTHEST, FARTHEST)

    def cross_entropy(self, outputs: Any, x: Any) -> Any:
        """Of one row's vector and a network's outputs, over the number of places.

        Numbers and single places by a sigmoid each, blocks of categories by a softmax.
        """
        import jax
        import jax.numpy as jnp

        places = jax.nn.softplus(outputs) - x * outputs
        total = places[: self.numbers].sum()
        for codes, at, width in self.runs:
            part = slice(at, at + width * len(codes))
            if width == 1:
                total = total + places[part].sum()
            else:
                total = total - jnp.sum(x[part] * jax.nn.log_softmax(outputs[part]))
        return total / self.width

    def waves(self, frequencies: Any, chances: Any) -> tuple[Any, Any]:
        """E cos t'x and E sin t'x of rows with these chances (..., d): (..., count) each.

        Given a network's outputs the categories are drawn independently, so that
        E exp(i t'x) = exp(i t'numbers) prod_blocks sum_a p_a exp(i t_a), exactly: nothing is
        sampled, and its slope is what changes when another value is drawn.  (The slope of
        exp(i t'x) at a one-hot row is that only for small t.)
        """
        from nacre.nets.waves import expected_wave

        return expected_wave(self.parts(chances), self.factors(frequencies))

    def parts(self, chances: Any) -> tuple[Any, list[Any]]:
        """What `expected_wave` needs of rows: numbers, and the chances of all values by block."""
        import jax.numpy as jnp

        numbers, *blocks = self.split(chances)
        # A single place is the chance of the second value.
        return numbers, [
            jnp.concatenate([1 - p, p], axis=-1) if p.shape[-1] == 1 else p for p in blocks
        ]

    def factors(self, frequencies: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """What `expected_wave` needs of frequencies (count, d): the waves of values by block."""
        import jax.numpy as jnp

        from nacre.nets.waves import cosine_sine

        numbers, *blocks = (each.T for each in self.split(frequencies))
        # Of a single place the first value has phase zero.
        return numbers, [
            cosine_sine(jnp.concatenate([jnp.zeros_like(t), t]) if len(t) == 1 else t)
            for t in blocks
        ]

    def split(self, vectors: Any) -> list[Any]:
        """The numbers of vectors (..., d), and each block."""
        import jax.numpy as jnp

        # Not one slice after the other: their slopes would be added up as long as the whole.
        return jnp.split(vectors, [at for _, at, _ in self.blocks], axis=-1)

    # -- under NumPy ---------------------------------------------------------------------------

    def made_up(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Vectors (n, d) of rows that nobody has: all columns uniform and independent."""
        parts: list[NDArray[Any]] = [rng.random((n, self.numbers))]
        for place, _, width in self.blocks:
            codes = rng.integers(0, self.layout.codes[place].size, n)
            parts.append(codes[:, None] if width == 1 else codes[:, None] == np.arange(width))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def draw(
        self, outputs: NDArray[np.float32], rng: np.random.Generator, *, sampled: bool = True
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Ticks and codes (the label's zero) from a network's outputs.

        Codes are drawn from their chances; or, if they are not to be `sampled`, the likeliest.
        """
        n = len(outputs)
        units = outputs[:, : self.numbers].astype(np.float64)
        if self.scale is None:
            units = _sigmoid(units)
        else:
            mean, deviation = np.array(self.scale).reshape(-1, 2).T
            units = np.clip(mean + deviation * np.clip(units, -FARTHEST, FARTHEST), 0.0, 1.0)
        ticks = np.rint(units * self.layout.limits).astype(np.int64)
        codes = np.zeros((n, len(self.layout.codes)), np.int32)
        for places, at, width in self.runs:
            logits = outputs[:, at : at + width * len(places)].astype(np.float64)
            if width == 1:
                point = rng.random((len(places), n)).T if sampled else 0.5
                # A code of one value takes a place, too, and is always that value.
                several = np.array([self.layout.codes[place].size > 1 for place in places])
                codes[:, places] = (_sigmoid(logits) > point) & several
            else:
                noise = rng.gumbel(size=logits.shape) if sampled else 0.0
                codes[:, places[0]] = np.argmax(logits + noise, axis=1)
        return np.clip(ticks, 0, self.layout.limits), codes


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1 + np.tanh(0.5 * x))
