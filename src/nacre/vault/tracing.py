"""Trace a function of one row and refuse what could carry a row out of the vault.

The vault calls such a function once, on the *shape* of one row, checks the program that comes out
and from then on runs that program only.  So a function cannot see a row, let alone two at once, and
the only ways out are programs that talk to the outside while they run, or that say themselves how
they are to be mapped over rows.  Those are refused here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from nacre.errors import NacreError
from nacre.exact import subjaxprs

FORBIDDEN = (
    *("callback", "infeed", "outfeed", "ffi_call", "custom_call", "print"),
    *("custom_vmap", "call_exported", "xla_call_module", "pallas"),
)


VALUE_NEEDED = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.NonConcreteBooleanIndexError,
)


class RefusedFunction(NacreError):
    """A function of one row that the vault will not run."""


class Traced:
    """A checked program: calling it runs the jaxpr, never the Python function again."""

    def __init__(self, jaxpr: Any, shape: Any):
        self.jaxpr, self.shape, self.constants = jaxpr.jaxpr, shape, tuple(jaxpr.consts)
        self._tree = jax.tree.structure(shape)

    def __call__(self, *arguments: Any, constants: Any = None) -> Any:
        """The outputs, in the structure that the function returned.

        `constants` may be the program's own as arguments of a compiled function: the compiler
        then need not know their values, and is much faster.
        """
        constants = self.constants if constants is None else constants
        found = jax.core.eval_jaxpr(self.jaxpr, constants, *jax.tree.leaves(arguments))
        return jax.tree.unflatten(self._tree, found)


def trace(function: Callable[..., Any], *shapes: Any) -> Traced:
    """`function` on arguments of the given shapes, traced and checked."""
    try:
        jaxpr, shape = jax.make_jaxpr(function, return_shape=True)(*shapes)
    except NameError as error:
        raise RefusedFunction(
            f"The function of one row uses {error}: it tries to combine rows (batch "
            "normalization, centering, pairing). The vault only runs functions of one row; use "
            "LayerNorm, or release the statistic by a sum of its own."
        ) from None
    except VALUE_NEEDED as error:
        raise RefusedFunction(
            "The function of one row needs the row's actual values while it is traced "
            f"({type(error).__name__}). Write it with jax.numpy and jax.lax.cond or jnp.where."
        ) from None
    _refuse(jaxpr.jaxpr)
    if jaxpr.effects:
        raise RefusedFunction(f"The function of one row has side effects: {jaxpr.effects}.")
    return Traced(jaxpr, shape)


def _refuse(jaxpr: Any) -> None:
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if any(word in name for word in FORBIDDEN):
            raise RefusedFunction(
                f"The function of one row contains '{name}', which could carry the row out of "
                "the vault. Remove callbacks and debug prints from it."
            )
        for inner in subjaxprs(equation):
            _refuse(inner)
