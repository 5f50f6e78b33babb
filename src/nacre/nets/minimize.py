"""The one loop for training that is post-processing: steps compiled in chunks, progress between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

Model = TypeVar("Model")


def ignore(done: float) -> None:
    """No progress report."""


def minimize(
    model: Model,
    loss: Callable[[Model], jax.Array],
    *,
    steps: int,
    rate: float,
    report_every: int = 100,
    on_progress: Callable[[float], None] = ignore,
) -> Model:
    """Run `steps` Adam updates on `loss(model)`, the rate warming up and falling to 1% (cosine).

    Steps are compiled in chunks of `report_every`; between chunks plain Python calls
    `on_progress(part done)`, which may print, draw, or raise to stop the run.
    """
    warm = min(50, max(1, steps // 10))
    schedule = optax.warmup_cosine_decay_schedule(rate * 0.05, rate, warm, steps, rate * 0.01)
    optimizer = optax.adam(schedule)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def chunk(model: Model, state: Any, number: int) -> tuple[Model, Any]:
        dynamic, static = eqx.partition(model, eqx.is_inexact_array)

        def step(carry: Any, _: None) -> tuple[Any, None]:
            dynamic, state = carry
            gradient = jax.grad(lambda d: loss(eqx.combine(d, static)))(dynamic)
            updates, state = optimizer.update(gradient, state, dynamic)
            return (optax.apply_updates(dynamic, updates), state), None

        (dynamic, state), _ = jax.lax.scan(step, (dynamic, state), None, length=number)
        return eqx.combine(dynamic, static), state

    done = 0
    while done < steps:
        number = min(report_every, steps - done)
        model, state = chunk(model, state, number)
        jax.block_until_ready(jnp.zeros(()))
        done += number
        on_progress(done / steps)
    return model
