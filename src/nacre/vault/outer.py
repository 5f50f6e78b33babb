"""Outer products among a program's outputs, kept as two vectors until a whole chunk is added up.

The gradient of a row's loss by the weights of a dense layer is an outer product: what came into the
layer times what came back.  Made for every row, such matrices are most of what a step of training
computes.  Here a program stops at the two vectors, l and r.  The vault clips the row by its norm,
for which |l r'|^2 = |l|^2 |r|^2, and rounds l and r to integers; a row's contribution is the outer
product of these, and the sum over a chunk of rows is one product of two matrices of integers.

Order:
    nothing here hangs on the order in which numbers are added.  Maxima are the same in any; norms
    are sums of squares of integers, rounded up, and sums over rows are sums of integers: all so
    small that float64 holds every partial sum exactly.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from nacre.vault.tracing import Traced

EXPONENT = 0x7FF0000000000000  # of a float64
NO_SUM = (((), ()), ((), ()))  # of a dot_general: nothing is contracted, nothing is a batch


class Parts(NamedTuple):
    """One row's outputs in float64, or those of several rows with the row as the first axis.

    Attributes:
        rest: all outputs that are no outer product, as one vector.
        factors: left and right vector of each of the others.
    """

    rest: Any
    factors: tuple[tuple[Any, Any], ...]

    def norms(self) -> Norms:
        """Of a single row."""
        pairs = [(norm_above(left), norm_above(right)) for left, right in self.factors]
        return Norms(norm_above(self.rest), tuple(pairs))

    def whole(self, norms: Norms, units: Any, most: float, good: Any) -> Parts:
        """A single row in units of 1 / `units`: integers in float64; zero unless `good`.

        Both vectors of a product are scaled to the same norm and rounded towards zero, so that
        their product is at most `units` times as long as it was, and no number above `most`.
        """

        def integers(values: Any, scale: Any, good: Any, reach: float) -> Any:
            found = jnp.clip(jnp.trunc(values * scale), -reach, reach)
            return jnp.where(good, found, 0.0)

        factors, reach = [], math.floor(math.sqrt(most))
        for pair, (one, other) in zip(self.factors, norms.factors, strict=True):
            root = jnp.sqrt(units * (one * other))
            some = good & (root > 0)
            left, right = (
                integers(values, root / norm, some, reach)
                for values, norm in zip(pair, (one, other), strict=True)
            )
            factors.append((left, right))
        return Parts(integers(self.rest, units, good, most), tuple(factors))

    def arrays(self) -> tuple[Any, ...]:
        """The vector of a single row, and its matrices."""
        return (self.rest, *(left[:, None] * right[None, :] for left, right in self.factors))

    def total(self) -> tuple[Any, ...]:
        """The sums of `arrays` over rows: exact for integers whose sums float64 holds."""
        highest = jax.lax.Precision.HIGHEST
        matrices = (jnp.matmul(left.T, right, precision=highest) for left, right in self.factors)
        return (self.rest.sum(0), *matrices)


class Norms(NamedTuple):
    """Norms of the vectors of `Parts`, or a little more."""

    rest: Any
    factors: tuple[tuple[Any, Any], ...]

    @property
    def whole(self) -> Any:
        """Of all outputs together."""
        found = self.rest**2
        for left, right in self.factors:
            found = found + (left * right) ** 2
        return jnp.sqrt(found)


def norm_above(vector: Any) -> Any:
    """The norm of float32 numbers in float64, or a little more; not finite unless all of them are.

    Each is rounded up to a multiple of a fraction of the largest, so fine that the sum of squares
    of these integers is just below 2^53.  The excess is at most sqrt(n) times that fraction, which
    is 2^-22 for a hundred numbers.
    """
    count = vector.shape[-1]
    if not count:
        return jnp.zeros(())
    bits = (53 - count.bit_length() - 2) // 2
    sizes = jnp.abs(vector)
    most = jnp.max(sizes)
    exponent = jax.lax.bitcast_convert_type(most, jnp.int64) & EXPONENT
    power = jax.lax.bitcast_convert_type(exponent, jnp.float64)  # of two, at most `most`
    integers = jnp.ceil(sizes / power * 2.0**bits)
    found = jnp.sqrt(jnp.sum(integers**2)) * (power * 2.0**-bits)
    return jnp.where(most == 0, 0.0, found)


class Factored:
    """A checked program that stops short of the outer products among its outputs.

    Attributes:
        sizes: of the vector and the matrices of `Parts.arrays`.
    """

    def __init__(self, program: Traced) -> None:
        made = {
            variable: equation for equation in program.jaxpr.eqns for variable in equation.outvars
        }
        self._factors = [_factors(atom, made) for atom in program.jaxpr.outvars]
        wanted = [
            atom
            for output, pair in zip(program.jaxpr.outvars, self._factors, strict=True)
            for atom in (pair or (output,))
        ]
        # What only the products needed is dead code, which the compiler drops.
        self._jaxpr = program.jaxpr.replace(outvars=wanted, debug_info=None)
        self._constants = program.constants
        self._shapes = [output.shape for output in program.outputs]
        matrices = [s for s, pair in zip(self._shapes, self._factors, strict=True) if pair]
        rest = sum(map(math.prod, self._shapes)) - sum(map(math.prod, matrices))
        self.sizes: list[tuple[int, ...]] = [(rest,), *matrices]

    def __call__(self, *leaves: Any) -> Parts:
        """The parts of one row, for the leaves of the function's arguments."""
        with jax.enable_x64(False):
            values = iter(jax.core.eval_jaxpr(self._jaxpr, self._constants, *leaves))
            # As one vector: an operation for each array takes long to compile.
            rest, factors = [jnp.zeros(0, jnp.float32)], []
            for pair in self._factors:
                if pair:
                    factors.append((next(values), next(values)))
                else:
                    rest.append(next(values).astype(jnp.float32).ravel())
            together = jnp.concatenate(rest)
        return jax.tree.map(lambda v: v.astype(jnp.float64), Parts(together, tuple(factors)))

    def flat(self, sums: tuple[Any, ...]) -> Any:
        """Arrays like those of `Parts.arrays` as one vector, in the order of the outputs."""
        rest, *matrices = sums
        parts, start, left = [], 0, iter(matrices)
        for shape, pair in zip(self._shapes, self._factors, strict=True):
            size = math.prod(shape)
            parts.append(next(left).ravel() if pair else rest[start : start + size])
            start += 0 if pair else size
        return jnp.concatenate(parts)


def _factors(atom: Any, made: dict[Any, Any]) -> tuple[Any, Any] | None:
    """The vectors whose outer product an output is, both float32; None if it is not seen to be."""
    turned = False
    equation = None if isinstance(atom, Literal) else made.get(atom)
    if equation is not None and equation.primitive is jax.lax.transpose_p:
        turned = tuple(equation.params["permutation"]) == (1, 0)
        equation = made.get(equation.invars[0]) if turned else None
    if equation is None or equation.primitive is not jax.lax.dot_general_p:
        return None
    left, right = equation.invars
    vectors = all(
        not isinstance(side, Literal) and side.aval.ndim == 1 and side.aval.dtype == jnp.float32
        for side in (left, right)
    )
    plain = equation.params["dimension_numbers"] == NO_SUM
    if not (vectors and plain and equation.outvars[0].aval.dtype == jnp.float32):
        return None
    return (right, left) if turned else (left, right)
