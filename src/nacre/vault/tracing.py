"""Trace a function of one row and refuse what could carry a row out of the vault.

The vault never calls such a function with a row: it traces it on the *shape* of one row and maps
the traced program itself.  So a function cannot see two rows at once, and the only ways out are
programs that talk to the outside while they run.  Those are refused here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from nacre.exact import subjaxprs

FORBIDDEN = ("callback", "infeed", "outfeed", "ffi_call", "custom_call", "print")


class RefusedFunction(ValueError):
    """A function of one row that the vault will not run."""


def trace(function: Callable[..., Any], *shapes: Any) -> Any:
    """The jaxpr of `function` on arguments of the given shapes, checked."""
    try:
        jaxpr = jax.make_jaxpr(function)(*shapes)
    except NameError as error:
        raise RefusedFunction(
            f"The function of one row uses {error}: it tries to combine rows (batch "
            "normalization, centering, pairing). The vault only runs functions of one row; use "
            "LayerNorm, or release the statistic by a sum of its own."
        ) from None
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise RefusedFunction(
            "The function of one row needs the row's actual values while it is traced "
            f"({type(error).__name__}). Write it with jax.numpy and jax.lax.cond or jnp.where."
        ) from None
    _refuse(jaxpr.jaxpr)
    if jaxpr.effects:
        raise RefusedFunction(f"The function of one row has side effects: {jaxpr.effects}.")
    return jaxpr


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
