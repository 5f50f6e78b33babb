"""The one loop for training that is post-processing: steps compiled in chunks, progress between."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from nacre.nets.progress import ignore

Model = TypeVar("Model")

# loss(model, critic, step, key): a function, or an Equinox module that holds the data it needs.
# The data of a module are arguments of the compiled program, so that one program serves all
# modules of the same shapes.
Loss = Callable[[Any, Any, jax.Array, jax.Array], jax.Array]


class Adversary(eqx.Module):
    """A critic.

    Attributes:
        start: where it starts, an array.
        rate: its learning rate.
        every: the steps between two of its own.
        box: how far from zero it may go.
    """

    start: Any
    rate: float = eqx.field(static=True)
    every: int = eqx.field(static=True)
    box: float = eqx.field(static=True)


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How many steps of Adam there are, and its highest rate; it warms up and then falls."""

    steps: int
    rate: float

    def descent(self) -> optax.GradientTransformation:
        """Adam on that schedule."""
        steps, rate = self.steps, self.rate
        warm = min(50, max(1, steps // 10))
        return optax.adam(
            optax.warmup_cosine_decay_schedule(rate * 0.05, rate, warm, steps, rate * 0.01)
        )


def minimize(
    model: Model,
    loss: Loss,
    *,
    steps: int,
    rate: float,
    adversary: Adversary | None = None,
    key: Any = None,
    report_every: int = 100,
    on_progress: Callable[[float], None] = ignore,
) -> Model:
    """Run `steps` Adam updates on `loss(model, critic, step, key)`.

    With an `adversary` the critic ascends on the same loss now and then; without, it is None.
    `key` is for losses that draw at random, public as all of this is.  Steps are compiled in
    chunks of `report_every`; between chunks plain Python calls `on_progress(part done)`, which
    may print, draw, or raise to stop the run.
    """
    schedule = Schedule(steps, rate)
    key = jax.random.key(0) if key is None else key
    carry = _begin(model, schedule, adversary)
    for start in range(0, steps, report_every):
        numbers = jnp.arange(start, min(steps, start + report_every), dtype=jnp.int32)
        carry = _chunk(loss, carry, numbers, key, schedule, adversary)
        jax.block_until_ready(carry[2])
        on_progress(min(1.0, (start + report_every) / steps))
    found: Model = carry[0]
    return found


@eqx.filter_jit
def _begin(model: Any, schedule: Schedule, adversary: Adversary | None) -> Any:
    """Model, critic and the optimizers' states."""
    state = schedule.descent().init(eqx.filter(model, eqx.is_inexact_array))
    if adversary is None:
        return model, None, state, None
    return model, adversary.start, state, optax.adam(adversary.rate).init(adversary.start)


@eqx.filter_jit
def _chunk(
    loss: Loss,
    carry: Any,
    numbers: jax.Array,
    key: jax.Array,
    schedule: Schedule,
    adversary: Adversary | None,
) -> Any:
    """The steps with these numbers."""
    descent = schedule.descent()
    dynamic, static = eqx.partition(carry[0], eqx.is_inexact_array)

    def value(players: tuple[Any, Any], step: jax.Array) -> jax.Array:
        own = jax.random.fold_in(key, step)
        return loss(eqx.combine(players[0], static), players[1], step, own)

    def one(carry: Any, step: jax.Array) -> tuple[Any, None]:
        dynamic, critic, state, critic_state = carry
        down, up = jax.grad(value)((dynamic, critic), step)
        updates, state = descent.update(down, state, dynamic)
        if adversary is not None:
            # Both players share one gradient; on most steps the critic's is thrown away.
            critic, critic_state = _ascend(adversary, critic, critic_state, up, step)
        return (optax.apply_updates(dynamic, updates), critic, state, critic_state), None

    (dynamic, *rest), _ = jax.lax.scan(one, (dynamic, *carry[1:]), numbers)
    return (eqx.combine(dynamic, static), *rest)


def _ascend(play: Adversary, critic: Any, state: Any, gradient: Any, step: jax.Array) -> Any:
    """The critic and its optimizer's state after a step, if it is one of its own."""
    change, moved = optax.adam(play.rate).update(-gradient, state)
    now = step % play.every == 0
    return jax.tree.map(
        lambda new, old: jnp.where(now, new, old),
        (jnp.clip(critic + change, -play.box, play.box), moved),
        (critic, state),
    )
