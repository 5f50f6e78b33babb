"""What both phases of PPEM share: random draws, optimizers, and the energies' step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import optax

from nacre.methods.adversary import FAKES
from nacre.nets.descent import descend

if TYPE_CHECKING:
    from nacre.methods.ppem.ppem import PPEM


class Draws(NamedTuple):
    """What rows are made from, at random.

    Attributes:
        latent: normal numbers that go into a network, (n, latent).
        noise: normal numbers for zeros and ones, (n, width).
        codes: a key for categories.
    """

    latent: Any
    noise: Any
    codes: Any


class Rules(NamedTuple):
    """The optimizers of energies and generators."""

    energy: Any
    generator: Any


def draws(key: Any, count: int, latent: int, width: int) -> Draws:
    """Normal numbers in one draw, as each call of a random generator takes long to compile."""
    first, codes = jax.random.split(key)
    drawn = jax.random.normal(first, (count, latent + width))
    return Draws(drawn[:, :latent], drawn[:, latent:], codes)


def rules_of(method: PPEM) -> Rules:
    """Adam, as the paper has it."""
    return Rules(
        optax.adam(method.energy_rate, b1=0.5, b2=0.9),
        optax.adam(method.generator_rate, b1=0.5, b2=0.9),
    )


def descended(rule: Any, sums: Any, expected: float, state: Any) -> tuple[Any, Any]:
    """The energies after a step on the noisy mean gradient."""
    mean = jax.tree.map(lambda value: value / expected, sums)
    return descend(rule, mean, state["rule"], state["energy"])


def at_turn(step: Any, every: int, write: Any, writer: Any) -> Any:
    """The generator's state after `write`, if it is its turn."""
    return jax.lax.cond(step % every == 0, write, lambda own: own, writer)


def made_count(batch: int) -> int:
    """How many rows are generated a step: as many as a batch has, within reason."""
    return min(max(batch, 16), FAKES)
