"""What the second phase of DP-auto-GAN asks of a row, and what it learns from the noisy sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from nacre.methods.autogan.autogan import AutoGAN
from nacre.nets.descent import begin, clipped_mean, descend, first_weights, move
from nacre.nets.layers import run
from nacre.nets.vector import RowVector
from nacre.vault import Program

FAKES = 4096  # generated rows a step, at most
Arrays = Sequence[Any]


def critic_program(
    method: AutoGAN, vector: RowVector, decoder: Arrays, rows: float, rng: np.random.Generator
) -> Program:
    """Phase 2: the critic by DP-SGD; generated rows, and the generator's steps, are public.

    Sensitivity:
        add-remove `critic_clip` a step: the gradient of what the critic says of one row.  That of
        generated rows is added in `update`, without noise.

    Public:
        the decoder, whose training was private; the expected number of rows.
    """
    layers, writer = method.critic_layers(vector.width), Writer(method, vector, decoder)
    critic_rule = optax.rmsprop(method.critic_rate, decay=0.99)
    writer_rule = optax.rmsprop(method.generator_rate, decay=0.99)
    expected, clamp = min(method.critic_batch, rows), method.critic_clamp

    def judged(critic: Any, x: Any) -> Any:
        return run(layers, critic, x, jnp)[..., 0]

    def gradient(critic: Any, earlier: Any, row: Any, key: Any) -> Any:
        return jax.grad(judged)(critic, vector.of(row))

    def write(state: Any, critic: Any, drawn: Any) -> Any:
        def loss(weights: Any) -> Any:
            return -judged(critic, writer.rows(weights, *drawn)).mean()

        return move(state, jax.grad(loss)(state["weights"]), writer_rule, method.averaging)

    def update(state: Any, sums: Any, key: Any) -> Any:
        drawn = writer.draw(key)
        made = writer.rows(state["writer"]["weights"], *drawn)
        fake = clipped_mean(judged, state["critic"], made, method.critic_clip)
        slope = jax.tree.map(lambda f, real: f - real / expected, fake, sums[0])
        critic, rule = descend(critic_rule, slope, state["rule"], state["critic"], clamp)
        step = state["step"] + 1
        written = jax.lax.cond(
            step % method.generator_every == 0,
            lambda state: write(state, critic, drawn),
            lambda state: state,
            state["writer"],
        )
        return {"critic": critic, "rule": rule, "writer": written, "step": step}

    first = begin(writer.start(rng), writer_rule)
    critic = jax.tree.map(lambda value: jnp.clip(value, -clamp, clamp), first_weights(layers, rng))
    return Program(
        state={
            "critic": critic,
            "rule": critic_rule.init(ravel_pytree(critic)[0]),
            "writer": first,
            "step": jnp.zeros((), jnp.int32),
        },
        prepare=lambda state, key: state["critic"],
        per_row=(gradient,),
        update=update,
    )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Writer:
    """The generator of codes and the decoder that makes rows of them; none of it sees a row.

    Attributes:
        method: the settings.
        vector: how a row is laid out.
        decoder: as phase 1 left it.
    """

    method: AutoGAN
    vector: RowVector
    decoder: Arrays

    def start(self, rng: np.random.Generator) -> dict[str, Any]:
        """First weights: of the generator, and of the decoder where it is tuned."""
        weights = {"generator": first_weights(self.method.generator_layers(), rng)}
        if self.method.decoder == "tuned":
            weights["decoder"] = list(self.decoder)
        return weights

    def draw(self, key: Any) -> tuple[Any, Any]:
        """Latent numbers, and a key for the categories."""
        first, second = jax.random.split(key)
        shape = (min(max(self.method.critic_batch, 2), FAKES), self.method.latent)
        return jax.random.normal(first, shape), second

    def rows(self, weights: Any, latents: Any, key: Any) -> Any:
        """Generated rows, with a gradient."""
        codes = run(self.method.generator_layers(), weights["generator"], latents, jnp)
        reading = self.method.decoder_layers(self.vector.width)
        outputs = run(reading, weights.get("decoder", self.decoder), codes, jnp)
        if self.method.outputs == "sampled":
            return self.vector.rows(outputs, key)
        return jax.nn.sigmoid(outputs)
