"""What the second phase of DP-auto-GAN asks of a row, and what it learns from the noisy sums."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
import optax

from nacre.methods.adversary import (
    FAKES,
    Judge,
    adversarial_program,
    as_it_is,
    looks_made,
    looks_real,
)
from nacre.methods.autogan.autogan import AutoGAN
from nacre.nets.descent import first_weights
from nacre.nets.layers import run
from nacre.nets.vector import RowVector
from nacre.vault import Program

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
    entropy = method.loss == "entropy"
    return adversarial_program(
        Judge(
            layers=method.critic_layers(vector.width),
            see=vector.of,
            rule=optax.rmsprop(method.critic_rate, decay=0.99),
            clip=method.critic_clip,
            clamp=method.critic_clamp,
            real=looks_real if entropy else as_it_is,
            made=looks_made if entropy else as_it_is,
        ),
        Writer(method, vector, decoder),
        rule=optax.rmsprop(method.generator_rate, decay=0.99),
        every=method.generator_every,
        averaging=method.averaging,
        expected=min(method.critic_batch, rows),
        rng=rng,
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
