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

    def value(players: tuple[Any, Any], step: jax.Array) -> jax.Array:
        return loss(eqx.combine(players[0], static), players[1], step)

    def one(carry: Any, step: jax.Array) -> tuple[Any, None]:
        dynamic, state, critic, critic_state = carry
        down, up = jax.grad(value)((dynamic, critic), step)
        updates, state = descent.update(down, state, dynamic)
        if adversary is not None:
            # Both players share one gradient; on most steps the critic's is thrown away.
            change, moved = ascent.update(jax.tree.map(jnp.negative, up), critic_state)
            now = step % play.every == 0
            critic, critic_state = jax.tree.map(
                lambda new, old: jnp.where(now, new, old),
                (jnp.clip(critic + change, -play.box, play.box), moved),
                (critic, critic_state),
            )
        return (optax.apply_updates(dynamic, updates), state, critic, critic_state), None

    critic = play.start
    first = jax.jit(
        lambda: (descent.init(dynamic), None if critic is None else ascent.init(critic))
    )()
    carry = (dynamic, first[0], critic, first[1])
    # The data that the loss refers to become arguments: as constants they would be compiled in.
    program, tree = jax.make_jaxpr(one)(carry, jnp.int32(0)), jax.tree.structure(carry)

    @jax.jit
    def chunk(constants: Any, carry: Any, numbers: jax.Array) -> Any:
        def step(carry: Any, number: jax.Array) -> tuple[Any, None]:
            leaves = jax.tree.leaves((carry, number))
            found = jax.core.eval_jaxpr(program.jaxpr, constants, *leaves)
            return jax.tree.unflatten(tree, found), None

        return jax.lax.scan(step, carry, numbers)[0]

    for start in range(0, steps, report_every):
        numbers = jnp.arange(start, min(steps, start + report_every), dtype=jnp.int32)
        carry = chunk(program.consts, carry, numbers)
        jax.block_until_ready(carry[0])
        on_progress(min(1.0, (start + report_every) / steps))
    found: Model = eqx.combine(carry[0], static)
    return found
