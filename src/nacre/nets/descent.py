"""Steps of an optimizer on noisy gradients, with an average of the weights beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from nacre.nets.layers import LARGEST, AbstractLayer, start


def first_weights(layers: Sequence[AbstractLayer], rng: np.random.Generator) -> Any:
    """Where training starts, as JAX's arrays."""
    return jax.tree.map(jnp.asarray, start(layers, rng))


def begin(weights: Any, rule: Any) -> dict[str, Any]:
    """What `move` moves: weights, their average and the optimizer's state."""
    return {
        "weights": weights,
        "average": weights,
        "rule": rule.init(ravel_pytree(weights)[0]),
        "step": jnp.zeros((), jnp.int32),
    }


def move(state: Any, gradient: Any, rule: Any, averaging: float) -> Any:
    """One step of an optimizer, and of the average of its weights, of memory `averaging`."""
    weights, inner = descend(rule, gradient, state["rule"], state["weights"])
    step = state["step"] + 1
    part = jnp.maximum(1 - averaging, 1 / step)  # at first the plain mean
    (new, unravel), (old, _) = ravel_pytree(weights), ravel_pytree(state["average"])
    average = unravel(old + part * (new - old))
    return {"weights": weights, "average": average, "rule": inner, "step": step}


def descend(
    rule: Any, gradient: Any, state: Any, weights: Any, most: float = LARGEST
) -> tuple[Any, Any]:
    """Weights and state after one step; no gradient may be endless, no weight above `most`."""
    # As one vector: an operation for each array takes long to compile.
    (slope, _), (flat, unravel) = ravel_pytree(gradient), ravel_pytree(weights)
    slope = jnp.where(jnp.isfinite(slope), jnp.clip(slope, -1e6, 1e6), 0.0)
    moves, state = rule.update(slope, state, flat)
    return unravel(jnp.clip(flat + moves, -most, most)), state


def clipped_mean(function: Any, weights: Any, rows: Any, clip: float) -> Any:
    """The mean over public rows of gradients that are clipped as those of private rows are.

    Else the two sides would be of different scales, and not cancel for rows of the same law.
    """

    def square(row: Any) -> Any:
        slopes = jax.tree.leaves(jax.grad(function)(weights, row))
        return sum(jnp.sum(slope**2) for slope in slopes)

    norms = jnp.sqrt(jax.vmap(square)(rows))
    factors = jnp.minimum(1.0, clip / jnp.maximum(norms, 1e-30))
    return jax.grad(lambda weights: jnp.mean(factors * function(weights, rows)))(weights)
