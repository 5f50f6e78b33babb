"""What the two phases of DP-auto-GAN ask of a row, and what they learn from the noisy sums."""

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
from nacre.methods.autogan.descent import begin, clipped_mean, descend, move
from nacre.nets.layers import AbstractLayer, run, start
from nacre.nets.vector import RowVector
from nacre.vault import Program

FAKES = 4096  # generated rows a step, at most
Arrays = Sequence[Any]


def autoencoder_program(
    method: AutoGAN, vector: RowVector, rows: float, rng: np.random.Generator
) -> Program:
    """Phase 1: encoder and decoder (or the decoder of a random encoder) by DP-SGD.

    Sensitivity:
        add-remove `autoencoder_clip` a step, for encoder and decoder together: the gradient of one
        row's loss, clipped as one vector.

    Public:
        the expected number of rows of a batch, by which sums are divided.
    """
    encoder, decoder = method.encoder_layers(vector.width), method.decoder_layers(vector.width)
    weights = {"encoder": _start(encoder, rng), "decoder": _start(decoder, rng)}
    public = weights.pop("encoder") if method.encoder == "random" else None
    optimizer = optax.adam(method.autoencoder_rate)
    sampled = method.outputs == "sampled"

    def loss(weights: Any, x: Any) -> Any:
        own = weights["encoder"] if public is None else public
        codes = run(encoder, own, x, jnp)
        outputs = run(decoder, weights["decoder"], codes, jnp)
        return _reconstruction(vector, outputs, x, sampled=sampled)

    def gradient(weights: Any, earlier: Any, row: Any, key: Any) -> Any:
        return jax.grad(loss)(weights, vector.of(row))

    def update(state: Any, sums: Any, key: Any) -> Any:
        mean = jax.tree.map(lambda value: value / min(method.autoencoder_batch, rows), sums[0])
        return move(state, mean, optimizer, method.averaging)

    return Program(
        state=begin(weights, optimizer),
        prepare=lambda state, key: state["weights"],
        per_row=(gradient,),
        update=update,
    )


def _reconstruction(vector: RowVector, outputs: Any, x: Any, *, sampled: bool) -> Any:
    """Cross-entropy of one row's vector and what the decoder makes of its code, by place.

    Numbers and yes-or-no places by a sigmoid each; blocks of categories by a softmax, or, as in the
    paper, where they are not `sampled`, by a sigmoid for each place.
    """
    places = jax.nn.softplus(outputs) - x * outputs
    if not sampled:
        return places.mean()
    total = places[: vector.numbers].sum()
    for _, at, width in vector.blocks:
        if width == 1:
            total = total + places[at]
        else:
            part = slice(at, at + width)
            total = total - jnp.sum(x[part] * jax.nn.log_softmax(outputs[part]))
    return total / vector.width


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
    critic = jax.tree.map(lambda value: jnp.clip(value, -clamp, clamp), _start(layers, rng))
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
        weights = {"generator": _start(self.method.generator_layers(), rng)}
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


def _start(layers: Sequence[AbstractLayer], rng: np.random.Generator) -> Any:
    """First weights, as JAX's arrays."""
    return jax.tree.map(jnp.asarray, start(layers, rng))
