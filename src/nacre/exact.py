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
DENSE_LIMIT = 128  # one-hot blocks wider than this are looked up instead of multiplied


def exact_dot(x: jax.Array, weights: jax.Array) -> jax.Array:
    """x @ weights for int32, by a float32 product: exact while all partial sums are below 2^24.

    `ExactPhases` proves that bound for every row before it uses this, and any other caller owes
    the same proof; the vault knows the program and lets it pass as integer arithmetic.
    """
    product = jnp.dot(
        x.astype(jnp.float32), weights.astype(jnp.float32), precision=jax.lax.Precision.HIGHEST
    )
    return product.astype(jnp.int32)


_exact_dot = jax.jit(exact_dot)


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
        # Rounding adds at most half a step per term; leave one bit for it.
        bits = 24 - UNIT_BITS - 1 - math.ceil(math.log2(most + 1e-9) if most > 0 else 0)
        bits = min(bits, 24 - UNIT_BITS - 2 - math.ceil(math.log2(terms + 1)), 12)
        if bits < TURN_BITS - UNIT_BITS - 8:
            raise NacreError(
                f"Frequencies of up to {most:.0f} turns a row cannot be summed exactly. "
                "Use a larger bandwidth."
            )
        self.bits = bits
        whole = np.rint(turns * 2.0**bits).astype(np.int32)
        self.frequencies = whole * (2 * math.pi * 2.0**-bits)
        self._check(whole, numbers, sizes)
        self.numbers, self.sizes = numbers, tuple(sizes)
        self._tables: list[NDArray[np.int32]] = []
        dense = [whole[:, :numbers]]
        start = numbers
        for size in self.sizes:
            block = whole[:, start : start + size] << UNIT_BITS
            if size <= DENSE_LIMIT:
                dense.append(block)
            else:
                self._tables.append(np.ascontiguousarray(block.T))
            start += size
        self._dense = np.ascontiguousarray(np.concatenate(dense, axis=1).T)

    @staticmethod
    def _check(whole: NDArray[np.int32], numbers: int, sizes: Sequence[int]) -> None:
        reach = np.abs(whole[:, :numbers].astype(np.int64)).sum(1)
        start = numbers
        for size in sizes:
            reach += np.abs(whole[:, start : start + size].astype(np.int64)).max(1)
            start += size
        if int(reach.max(initial=0)) << UNIT_BITS >= EXACT:
            raise NacreError("The frequencies are too large to be summed exactly.")

    def __call__(self, numbers: jax.Array, codes: jax.Array) -> jax.Array:
        """The phases of one row, given its numbers (2^16 grid) and codes, as int32."""
        shift = 16 - UNIT_BITS
        coarse = (jnp.clip(numbers, 0, 1 << 16) + (1 << (shift - 1))) >> shift
        parts, rest = [coarse.astype(jnp.int32)], jnp.zeros((), jnp.int32)
        wide = 0
        for place, size in enumerate(self.sizes):
            if size <= DENSE_LIMIT:
                parts.append((codes[place] == jnp.arange(size, dtype=jnp.int32)).astype(jnp.int32))
            else:
                rest = rest + jnp.asarray(self._tables[wide])[jnp.clip(codes[place], 0, size - 1)]
                wide += 1
        total = _exact_dot(jnp.concatenate(parts), jnp.asarray(self._dense)) + rest
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


def is_exact(jaxpr: Any) -> bool:
    """Whether a traced function of one row computes with integers only (or by `exact_dot`)."""
    for equation in jaxpr.eqns:
        if _is_exact_dot(equation):
            continue
        if any(jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in equation.outvars):
            return False
        if not all(is_exact(inner) for inner in subjaxprs(equation)):
            return False
    return True


def _is_exact_dot(equation: Any) -> bool:
    """Whether a call is to `exact_dot` itself, by its program and not only by its name."""
    if equation.params.get("name") != exact_dot.__name__:
        return False
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars]
    if [shape.dtype for shape in shapes] != [jnp.int32, jnp.int32]:
        return False
    inner = subjaxprs(equation)
    return len(inner) == 1 and str(inner[0]) == str(jax.make_jaxpr(exact_dot)(*shapes).jaxpr)


def subjaxprs(equation: Any) -> list[Any]:
    """The jaxprs inside an equation: of loops, branches and calls."""
    found = []
    for value in equation.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if hasattr(item, "jaxpr"):
                item = item.jaxpr
            if hasattr(item, "eqns"):
                found.append(item)
    return found
