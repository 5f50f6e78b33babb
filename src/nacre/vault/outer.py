"""Outer products among a program's outputs, kept as two vectors until a row is clipped.

The gradient of a row's loss by the weights of a dense layer is an outer product: what came into the
layer times what came back.  Made for a whole chunk of rows, such matrices are most of what a step
of training writes and reads again.  Here a program stops at the two vectors; the matrix is made
where the row is clipped and added, one row at a time, and is never kept.

Nothing about a row's contribution is approximate: the product of two float32 is exact in float64,
and |l r'|^2 = |l|^2 |r|^2, so that the norm which is clipped is that of the matrix itself.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import Literal

from nacre.vault.tracing import Traced

NO_SUM = (((), ()), ((), ()))  # of a dot_general: nothing is contracted, nothing is a batch


class Parts(NamedTuple):
    """One row's outputs in float64, or those of several rows with the row as the first axis.

    Attributes:
        rest: all outputs that are no outer product, as one vector.
        factors: left and right vector of each of the others.
    """

    rest: Any
    factors: tuple[tuple[Any, Any], ...]

    @property
    def terms(self) -> int:
        """How many numbers of a single row the norm is summed from."""
        return len(self.rest) + sum(len(left) + len(right) for left, right in self.factors)

    def squared_norm(self) -> Any:
        """Of all outputs of a single row together."""
        found = jnp.sum(self.rest**2)
        for left, right in self.factors:
            found = found + jnp.sum(left**2) * jnp.sum(right**2)
        return found

    def arrays(self) -> tuple[Any, ...]:
        """The vector of a single row, and its matrices."""
        return (self.rest, *(left[:, None] * right[None, :] for left, right in self.factors))


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
