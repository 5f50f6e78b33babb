"""Trace a function of one row and keep a program that can neither see two rows nor carry one out.

A teacher of the door `votes`, a function of one part of the rows, is traced alike.

The vault calls such a function once, on the *shape* of one row.  It then copies the program that
comes out, operation by operation, onto a program of its own: operations that are on the list
(`nacre.vault.primitives`) are copied, calls are replaced by what is inside them, anything else is
refused.  From then on only that copy runs, on flat arrays: no function, rule or class of the
caller's is called while there are rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from nacre.errors import NacreError
from nacre.exact import is_exact_product, run_exact_product
from nacre.vault.primitives import CALLS, LOOPS, MOVES, inner_programs, known

VALUE_NEEDED = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


class RefusedFunction(NacreError):
    """A function of one row, or a teacher, that the vault will not run."""


class Kind(NamedTuple):
    """What is traced, in the words of its errors.

    Attributes:
        name: of the function, at the start of a sentence.
        alone: what it is told that looks beyond what it is given.
    """

    name: str
    alone: str


ONE_ROW = Kind(
    "The function of one row",
    "it tries to combine rows (batch normalization, centering, pairing). The vault only runs "
    "functions of one row; use LayerNorm, or release the statistic by a sum of its own.",
)
ONE_PART = Kind(
    "The teacher",
    "it tries to see other parts. A teacher sees the rows of its own part only.",
)


class Traced:
    """A checked program on flat arrays: calling it runs the jaxpr, never a Python function.

    Attributes:
        shape: what the function returned, with shapes in place of arrays.
        outputs: the same, flat.
        constants: the program's public constants, the vault's own copies.
        exact: whether all its arithmetic is on integers, so that the answer for a row is the same
            wherever the row stands in a block.
    """

    def __init__(self, program: ClosedJaxpr, shape: Any, *, exact: bool):
        self.jaxpr, self.constants = program.jaxpr, tuple(program.consts)
        self.shape, self.outputs, self.exact = shape, jax.tree.leaves(shape), exact

    @property
    def operations(self) -> int:
        """About how many numbers are worked out for one row; what is in loops counts once."""
        found = [variable.aval for each in self.jaxpr.eqns for variable in each.outvars]
        return sum(math.prod(getattr(kind, "shape", ())) for kind in found)

    def __call__(self, *leaves: Any, constants: Any = None) -> list[Any]:
        """The outputs, flat, for the leaves of the function's arguments.

        `constants` may be the program's own as arguments of a compiled function: the compiler
        then need not know their values, and is much faster.
        """
        constants = self.constants if constants is None else constants
        return jax.core.eval_jaxpr(self.jaxpr, constants, *leaves)


def trace(function: Callable[..., Any], *shapes: Any, kind: Kind = ONE_ROW) -> Traced:
    """`function` on arguments of the given shapes, traced, checked and copied."""
    try:
        program, shape = jax.make_jaxpr(function, return_shape=True)(*shapes)
    except NameError as error:
        raise RefusedFunction(f"{kind.name} uses {error}: {kind.alone}") from None
    except VALUE_NEEDED as error:
        raise RefusedFunction(
            f"{kind.name} needs the rows' actual values while it is traced "
            f"({type(error).__name__}). Write it with jax.numpy and jax.lax.cond or jnp.where."
        ) from None
    if program.effects:
        raise RefusedFunction(f"{kind.name} has side effects: {program.effects}.")
    constants = [_held(value, kind) for value in program.consts]
    copy = _Copy(kind)
    clean = copy.closed(program.jaxpr, constants)
    if clean.effects:
        raise RefusedFunction(f"{kind.name} has side effects: {clean.effects}.")
    return Traced(clean, shape, exact=copy.exact)


class _Copy:
    """Copies programs, operation by operation; remembers whether any was not on integers."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.exact = kind, True

    def closed(self, jaxpr: Any, constants: Sequence[Any]) -> ClosedJaxpr:
        """The checked copy of a program, with its constants."""
        for variable in (*jaxpr.invars, *jaxpr.constvars):
            _check_type(variable, self.kind)
        shapes = [
            jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type)
            for v in jaxpr.invars
        ]
        return jax.make_jaxpr(functools.partial(self.run, jaxpr, constants))(*shapes)

    def run(self, jaxpr: Any, constants: Sequence[Any], *arguments: Any) -> list[Any]:
        """Bind the operations of `jaxpr` again, one after the other."""
        values = dict(zip(jaxpr.constvars, constants, strict=True))
        values |= dict(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            answers = self._equation(equation, [read(atom) for atom in equation.invars])
            values |= dict(zip(equation.outvars, answers, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: Any, inputs: list[Any]) -> list[Any]:
        name = known().get(equation.primitive)
        if name is None:
            raise RefusedFunction(
                f"{self.kind.name} contains '{equation.primitive.name}', which is not on "
                "the list of operations that are known to treat each row by itself and to carry "
                "none out. Write it with jax.numpy, jax.nn and jax.lax; leave out callbacks, "
                "prints, linear algebra and random keys that are not Threefry's."
            )
        if equation.effects:
            raise RefusedFunction(f"{self.kind.name} has side effects: '{name}'.")
        for variable in equation.outvars:
            _check_type(variable, self.kind)
        if name in MOVES:
            return inputs
        if name in CALLS:
            if is_exact_product(equation, inputs):
                return [run_exact_product(*inputs)]
            ((jaxpr, constants),) = inner_programs(equation)
            return self.run(jaxpr, [_constant(value, self.kind) for value in constants], *inputs)
        for variable in (*equation.invars, *equation.outvars):
            self.exact &= not jnp.issubdtype(variable.aval.dtype, jnp.inexact)
        if name in LOOPS:
            params = {key: self._inside(value) for key, value in equation.params.items()}
        else:
            params = equation.params
            for jaxpr, constants in inner_programs(equation):  # what a scatter does to two values
                self.closed(jaxpr, constants)
        _check_parameters(name, params, self.kind)
        answers = equation.primitive.bind(*inputs, **params)
        return list(answers) if equation.primitive.multiple_results else [answers]

    def _inside(self, value: Any) -> Any:
        """A parameter of a loop or branch, with the programs in it copied."""
        if isinstance(value, (tuple, list)):
            return type(value)(self._inside(item) for item in value)
        if isinstance(value, ClosedJaxpr):
            return self.closed(value.jaxpr, [_constant(item, self.kind) for item in value.consts])
        return value


def _check_type(variable: Any, kind: Kind) -> None:
    """Plain arrays and Threefry keys only: no references, tokens or other people's types."""
    found: Any = variable.aval
    if not _is_plain(found):
        raise RefusedFunction(
            f"{kind.name} uses a value of type {type(found).__name__}; it may use "
            "plain arrays only."
        )
    if jnp.issubdtype(found.dtype, jax.dtypes.extended):
        threefry = _threefry_type()
        if type(found.dtype) is not type(threefry) or found.dtype._impl is not threefry._impl:
            raise RefusedFunction(
                f"{kind.name} uses random keys of another generator than Threefry: "
                "mapped over rows they may be mixed up. Use the key that it is given, or "
                "jax.random.key(seed, impl='threefry2x32')."
            )


def _check_parameters(name: str, params: dict[str, Any], kind: Kind) -> None:
    pending = [value for key, value in params.items() if key != "impl"]  # keys: by their type
    while pending:
        value = pending.pop()
        if isinstance(value, (tuple, list)):
            pending.extend(value)
        elif callable(value) and not isinstance(value, (type, np.dtype)):
            raise RefusedFunction(f"{kind.name} carries Python code in '{name}'.")


def _held(value: Any, kind: Kind) -> Any:
    """`_constant` outside of a trace: by NumPy's copy, as for JAX's a program would be compiled."""
    if isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
        plain = not value.weak_type and not jnp.issubdtype(value.dtype, jax.dtypes.extended)
    else:
        plain = isinstance(value, np.ndarray)
    return jax.device_put(np.array(value)) if plain else _constant(value, kind)


def _constant(value: Any, kind: Kind) -> Any:
    """The vault's own copy of a public constant: nobody else can change it afterwards."""
    if isinstance(value, jax.core.Tracer):
        raise RefusedFunction(
            f"{kind.name} uses a value of a surrounding jit, grad or vmap. Call the "
            "vault outside of them."
        )
    if isinstance(value, jax.Array):
        return jnp.array(value, copy=True)
    if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        return jnp.array(np.array(value))
    raise RefusedFunction(
        f"{kind.name} uses a constant of type {type(value).__name__}; it may use plain arrays only."
    )


def _is_plain(kind: Any) -> bool:
    return type(kind) is _plain_type()


@functools.cache
def _plain_type() -> type:
    return type(jax.make_jaxpr(jnp.negative)(jnp.ones(())).jaxpr.invars[0].aval)


@functools.cache
def _threefry_type() -> Any:
    return jax.random.key(0, impl="threefry2x32").dtype
