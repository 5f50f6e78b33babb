"""The one loop for training that is post-processing: steps compiled in chunks, progress between."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

Model = TypeVar("Model")


@dataclasses.dataclass(frozen=True)
class Adversary:
    """A critic: where it starts, its learning rate, every how many steps it moves, its range."""

    start: Any
    rate: float
    every: int
    box: float


def ignore(done: float) -> None:
    """No progress report."""


def minimize(
    model: Model,
    loss: Callable[[Model, Any, jax.Array], jax.Array],
    *,
    steps: int,
    rate: float,
    adversary: Adversary | None = None,
    report_every: int = 100,
    on_progress: Callable[[float], None] = ignore,
) -> Model:
    """Run `steps` Adam updates on `loss(model, critic, step)`; the rate warms up and then falls.

    With an `adversary` the critic ascends on the same loss now and then; without, it is None.
    Steps are compiled in chunks of `report_every`; between chunks plain Python calls
    `on_progress(part done)`, which may print, draw, or raise to stop the run.
    """
    warm = min(50, max(1, steps // 10))
    schedule = optax.warmup_cosine_decay_schedule(rate * 0.05, rate, warm, steps, rate * 0.01)
    descent = optax.adam(schedule)
    dynamic, static = eqx.partition(model, eqx.is_inexact_array)
    play = adversary or Adversary(start=None, rate=0.0, every=1, box=0.0)
    ascent = optax.adam(play.rate)

    def ascend(dynamic: Any, critic: Any, state: Any, step: jax.Array) -> tuple[Any, Any]:
        gradient = jax.grad(lambda c: -loss(eqx.combine(dynamic, static), c, step))(critic)
        updates, state = ascent.update(gradient, state)
        return jnp.clip(critic + updates, -play.box, play.box), state

    def one(carry: Any, step: jax.Array) -> tuple[Any, None]:
        dynamic, state, critic, critic_state = carry
        gradient = jax.grad(lambda d: loss(eqx.combine(d, static), critic, step))(dynamic)
        updates, state = descent.update(gradient, state, dynamic)
        dynamic = optax.apply_updates(dynamic, updates)
        if adversary is not None:
            critic, critic_state = jax.lax.cond(
                step % play.every == 0,
                lambda: ascend(dynamic, critic, critic_state, step),
                lambda: (critic, critic_state),
            )
        return (dynamic, state, critic, critic_state), None

    @jax.jit
    def chunk(carry: Any, numbers: jax.Array) -> Any:
        return jax.lax.scan(one, carry, numbers)[0]

    critic = play.start
    carry = (dynamic, descent.init(dynamic), critic, None if critic is None else ascent.init(critic))
    for start in range(0, steps, report_every):
        carry = chunk(carry, jnp.arange(start, min(steps, start + report_every)))
        jax.block_until_ready(carry[0])
        on_progress(min(1.0, (start + report_every) / steps))
    found: Model = eqx.combine(carry[0], static)
    return found
