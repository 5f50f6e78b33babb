"""Arithmetic on one row whose answer never depends on where in a batch the row stands.

Floating-point matrix products round differently at different places of a block, which would let
one added row move the features of all others.  Here every intermediate number is an integer that
float32 or int32 holds exactly, so the order of operations cannot matter.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError

UNIT_BITS = 11  # numbers are seen on a grid of 2^-11 of their range
TURN_BITS = 16  # a full turn of a phase, after reduction
AMPLITUDE = 1 << 14  # what the number one is in the fixed-point sine and cosine
EXACT = 1 << 24  # float32 holds every integer up to here
MOST_TURNS = 1 << 14  # of a row's phase, for which frequencies can be summed exactly
DENSE_LIMIT = 128  # one-hot blocks wider than this are looked up instead of multiplied


def exact_product(
    numbers: jax.Array,
    codes: jax.Array,
    weights: jax.Array,
    owners: jax.Array,
    values: jax.Array,
) -> jax.Array:
    """Numbers and one-hot codes of one row times int32 weights, by a float32 product.

    Exact if `largest_sum(weights, owners, values)` is below 2^24: no partial sum can then leave the
    integers that float32 holds, whatever the row.  The vault computes it itself.

    Args:
        numbers: of one row, on the grid of 2^16; seen here on that of 2^11.
        codes: of one row.
        weights: one row of weights for each number, then one for each entry of `owners`.
        owners: the place among the codes that each further row of weights belongs to.
        values: the code for which it counts.
    """
    shift = 16 - UNIT_BITS
    coarse = (jnp.clip(numbers, 0, 1 << 16) + (1 << (shift - 1))) >> shift
    hot = codes.at[owners].get(mode="clip") == values
    row = jnp.concatenate([coarse.astype(jnp.float32), hot.astype(jnp.float32)])
    product = jnp.dot(row, weights.astype(jnp.float32), precision=jax.lax.Precision.HIGHEST)
    return product.astype(jnp.int32)


run_exact_product = jax.jit(exact_product)


def largest_sum(
    weights: NDArray[np.int32], owners: NDArray[np.int32], values: NDArray[np.int32]
) -> int:
    """The largest sum of |number x weight| in `exact_product` over all rows there could be.

    A number is at most 2^11.  A code has one value, so of the weights of one owner only those of
    one value count.
    """
    size = np.abs(np.asarray(weights).astype(np.int64))
    numbers = len(size) - len(owners)
    total = size[:numbers].sum(0) << UNIT_BITS
    for owner in np.unique(owners):
        mine = np.asarray(owners) == owner
        _, which = np.unique(np.asarray(values)[mine], return_inverse=True)
        by_value = np.zeros((which.max() + 1, size.shape[1]), np.int64)
        np.add.at(by_value, which, size[numbers:][mine])
        total = total + by_value.max(0)
    return int(total.max(initial=0))


def is_exact_product(equation: Any, inputs: Sequence[Any]) -> bool:
    """Whether a call is to `exact_product`, with constants for which it is exact.

    By its program, not only by its name; whoever finds one runs `run_exact_product` in its place.
    """
    if equation.params.get("name") != exact_product.__name__ or len(inputs) != 5:
        return False
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars]
    if [(len(s.shape), s.dtype) for s in shapes] != [(n, jnp.int32) for n in (1, 1, 2, 1, 1)]:
        return False
    count, _, weights, owners, values = (s.shape[0] for s in shapes)
    if owners != values or weights != count + owners:
        return False
    if any(isinstance(value, jax.core.Tracer) for value in inputs[2:]):
        return False
    inner = equation.params.get("jaxpr")
    reference = jax.make_jaxpr(exact_product)(*shapes)
    if inner is None or inner.consts or str(inner.jaxpr) != str(reference.jaxpr):
        return False
    return largest_sum(*(np.asarray(value) for value in inputs[2:])) < EXACT


class ExactPhases:
    """Phases 2^TURN_BITS <t_j, x> / 2 pi of a row for public frequencies t_j, in integers.

    x is the encoded row: numbers in [0, 1] (seen on a grid of 2^-11) and one-hot blocks.  The
    frequencies are rounded to the finest grid on which sum_a |t_a| x_a < 2^24 grid steps for
    *every* row; use `frequencies`, the rounded ones, wherever the features are computed again.
    """

    def __init__(self, frequencies: NDArray[np.float64], numbers: int, sizes: Sequence[int]):
        turns = np.asarray(frequencies, np.float64) / (2 * math.pi)
        reach = np.abs(turns[:, :numbers]).sum(1)
        start = numbers
        for size in sizes:
            reach = reach + np.abs(turns[:, start : start + size]).max(1)
            start += size
        terms = numbers + len(sizes)
        most = float(reach.max(initial=0.0))
        # Rounding adds at most half a step per term.
        room = (1 << (24 - UNIT_BITS)) - 1 - terms / 2
        bits = 12 if most <= 0 else min(math.floor(math.log2(max(room, 1e-9) / most)), 12)
        if room < 1 or bits < TURN_BITS - UNIT_BITS - 8:
            raise NacreError(
                f"Frequencies of up to {most:.0f} turns a row cannot be summed exactly. "
                "Use a larger bandwidth."
            )
        self.bits = bits
        whole = np.rint(turns * 2.0**bits).astype(np.int32)
        self.frequencies = whole * (2 * math.pi * 2.0**-bits)
        self.numbers, self.sizes = numbers, tuple(sizes)
        self._tables: list[tuple[int, NDArray[np.int32]]] = []
        owners: list[int] = []
        values: list[int] = []
        dense = [whole[:, :numbers]]
        start = numbers
        for place, size in enumerate(self.sizes):
            block = whole[:, start : start + size] << UNIT_BITS
            start += size
            if size > DENSE_LIMIT:
                self._tables.append((place, np.ascontiguousarray(block.T)))
                continue
            dense.append(block)
            owners += [place] * size
            values += range(size)
        self._dense = (
            np.ascontiguousarray(np.concatenate(dense, axis=1).T),
            np.array(owners, np.int32),
            np.array(values, np.int32),
        )
        if largest_sum(*self._dense) >= EXACT:
            raise NacreError("The frequencies are too large to be summed exactly.")

    def __call__(self, numbers: jax.Array, codes: jax.Array) -> jax.Array:
        """The phases of one row, given its numbers (2^16 grid) and codes, as int32."""
        total = run_exact_product(numbers, codes, *(jnp.asarray(part) for part in self._dense))
        for place, table in self._tables:
            total = total + jnp.asarray(table)[jnp.clip(codes[place], 0, len(table) - 1)]
        spare = UNIT_BITS + self.bits - TURN_BITS
        return total >> spare if spare >= 0 else total << -spare


def sine_cosine(phase: jax.Array) -> tuple[jax.Array, jax.Array]:
    """AMPLITUDE * (sin, cos) of 2 pi phase / 2^16, in int32 fixed point (error under 1.5e-4)."""
    quarter = 1 << (TURN_BITS - 2)
    shifted = phase + quarter // 2
    quadrant = (shifted >> (TURN_BITS - 2)) & 3
    w = (shifted & (quarter - 1)) - quarter // 2  # within an eighth of a turn, 13 bits
    z = (w * w) >> 11  # (w / 2^13)^2 on a grid of 2^-15
    # Chebyshev fits on [0, 1] of sin(pi w / 4) / w and cos(pi w / 4) in z = w^2, times 2^15.
    s = -2645 + ((80 * z) >> 15)
    s = 25736 + ((s * z) >> 15)
    s = (s * w + (1 << 13)) >> 14
    c = 519 - ((10 * z) >> 15)
    c = -10106 + ((c * z) >> 15)
    c = 32768 + ((c * z) >> 15)
    c = (c + 1) >> 1
    odd = (quadrant & 1) == 1
    sine, cosine = jnp.where(odd, c, s), jnp.where(odd, s, c)
    sine = jnp.where(quadrant >= 2, -sine, sine)
    cosine = jnp.where((quadrant == 1) | (quadrant == 2), -cosine, cosine)
    return sine, cosine


@functools.cache
def pair_norm() -> float:
    """The largest norm of a (sine, cosine) pair over all 2^16 phases: found by trying each."""
    phases = np.arange(1 << TURN_BITS, dtype=np.int32)
    sine, cosine = (np.asarray(v, np.int64) for v in jax.jit(sine_cosine)(phases))
    return math.sqrt(int((sine**2 + cosine**2).max()))
