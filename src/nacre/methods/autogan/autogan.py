"""DP-auto-GAN (Tantipongpipat et al., 2021): a private autoencoder, then a private WGAN.

A generator of codes is trained against a critic that sees rows, through the autoencoder's decoder.
The paper adds noise to the decoder's gradients alone and says that the encoder, which is thrown
away, needs none.  That is false: the decoder's gradients depend on all rows through the encoder.
Here either both are trained by DP-SGD together, or the encoder is random and public.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np

from nacre.methods.autoencoder import Autoencoder, by_place
from nacre.methods.method import AbstractMethod
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.nets.layers import (
    LARGEST,
    AbstractLayer,
    BatchNorm,
    LayerNorm,
    LeakyReLU,
    Linear,
    Residual,
    Tanh,
    freeze,
    mlp,
    size,
)
from nacre.nets.network import NetworkGenerator
from nacre.nets.vector import RowVector
from nacre.rows import TableEncoder
from nacre.vault import Program, Stage, Steps, count_question

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import AbstractQuestion, Adjacency, Plan, Vault

SLOPE = 0.2  # of leaky ReLUs
COUNT = 0.02  # share of the budget that buys the number of rows, where that is private
FROZEN = 1 << 13  # generated rows whose statistics batch norms are frozen at


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoGAN(AbstractMethod):
    """Settings of DP-auto-GAN; all of them public constants."""

    title: ClassVar[str] = "DP-auto-GAN"
    paper: ClassVar[str] = "Tantipongpipat et al. (2021), DP-auto-GAN, arXiv:1912.03250"
    summary: ClassVar[str] = "a private autoencoder, and a GAN that writes codes for its decoder"
    proof: ClassVar[str] = "subsampled Gaussian steps"
    cost: ClassVar[str] = "40 s on Adult"
    when: ClassVar[str] = "to compare with its paper; wide yes-or-no tables"

    encoder: Literal["private", "random"] = setting(
        "private", "trained with noise together with the decoder, or random and public"
    )
    decoder: Literal["tuned", "fixed"] = setting(
        "tuned", "whether the generator's steps move the decoder, too, or, as in the paper, do not"
    )
    outputs: Literal["sampled", "likeliest"] = setting(
        "sampled", "categories drawn from their chances, or, as in the paper, the likeliest taken"
    )
    loss: Literal["wasserstein", "entropy"] = setting(
        "wasserstein", "the critic's, of scores or of log-odds"
    )
    codes: Literal["free", "tanh"] = setting("free", "whether codes are kept in (-1, 1)")
    norm: Literal["batch", "layer", "none"] = setting(
        "batch", "the generator's; it never sees a private row"
    )
    hidden: int = setting(
        60, "width of the autoencoder's hidden layers; 0: none", low=1, high=4096, or_zero=True
    )
    code: int = setting(15, "how many numbers a row is encoded as", low=1, high=4096)
    latent: int = setting(64, "how many numbers go into the generator", low=1, high=4096)
    blocks: int = setting(2, "residual blocks of the generator", low=1, high=8)
    critic: int = setting(70, "width of the critic, then half of it", low=1, high=4096)

    autoencoder_share: float = setting(
        0.3, "share of the budget that trains the autoencoder", low=0.01, high=0.95
    )
    autoencoder_steps: int = setting(600, "noisy steps of the autoencoder", low=1, high=10**6)
    autoencoder_batch: int = setting(256, "rows of a step, about", low=1, high=10**6)
    autoencoder_clip: float = setting(0.05, "of a row's gradient", low=1e-6, high=1e6)
    autoencoder_rate: float = setting(0.005, "Adam's learning rate", low=1e-6, high=1)

    critic_steps: int = setting(1500, "noisy steps of the critic", low=1, high=10**6)
    critic_batch: int = setting(256, "rows of a step, about", low=1, high=10**6)
    critic_clip: float = setting(0.1, "of a row's gradient", low=1e-6, high=1e6)
    critic_rate: float = setting(0.001, "RMSProp's learning rate", low=1e-6, high=1)
    critic_clamp: float = setting(0.1, "largest weight of the critic", low=1e-4, high=LARGEST)

    generator_every: int = setting(
        5, "steps of the critic for each of the generator", low=1, high=10**6
    )
    generator_rate: float = setting(0.005, "RMSProp's learning rate", low=1e-6, high=1)
    averaging: float = setting(
        0.95, "memory of the averages of weights; 0: the last weights", low=0, high=0.9999
    )

    def __post_init__(self) -> None:
        settle(self)

    # -- presets -------------------------------------------------------------------------------

    @classmethod
    def as_published(cls) -> Self:
        """The paper's settings for Adult, the encoder trained with noise, too."""
        return cls(
            decoder="fixed",
            outputs="likeliest",
            autoencoder_share=0.5,
            autoencoder_steps=20_000,
            autoencoder_batch=64,
            autoencoder_clip=0.012,
            critic_steps=15_000,
            critic_batch=128,
            critic_clip=0.022,
            critic_rate=0.005,
            critic_clamp=0.01,
            generator_every=15,
            averaging=0.0,
        )

    @classmethod
    def wide(cls) -> Self:
        """The paper's settings for some thousand yes-or-no columns (MIMIC-III)."""
        return dataclasses.replace(
            cls.as_published(),
            codes="tanh",
            norm="layer",
            hidden=0,
            code=128,
            critic=714,
            autoencoder_steps=30_000,
            autoencoder_batch=100,
            autoencoder_clip=0.8157,
            autoencoder_rate=0.001,
            critic_steps=10_000,
            critic_rate=0.001,
            generator_every=10,
            generator_rate=0.001,
        )

    def small(self) -> Self:
        """A few steps of narrow networks."""
        return dataclasses.replace(
            self,
            hidden=self.hidden and 8,
            code=4,
            latent=6,
            blocks=1,
            critic=8,
            autoencoder_steps=4,
            autoencoder_batch=64,
            critic_steps=4,
            critic_batch=64,
            generator_every=2,
        )

    # -- networks ------------------------------------------------------------------------------

    def encoder_layers(self, width: int) -> tuple[AbstractLayer, ...]:
        """From a row's vector to its code."""
        return (*mlp(width, *self._between(), self.code, slope=SLOPE), self._last())

    def decoder_layers(self, width: int) -> tuple[AbstractLayer, ...]:
        """From a code to what `RowVector` makes rows of."""
        return mlp(self.code, *self._between(), width, slope=SLOPE)

    def critic_layers(self, width: int) -> tuple[AbstractLayer, ...]:
        """From a row's vector to one number, large for rows that look real.

        Without a last bias: it would tell nothing, and take most of a clipped gradient.
        """
        second = max(self.critic // 2, 1)
        first = mlp(width, self.critic, second, slope=SLOPE)
        return (*first, LeakyReLU(SLOPE), Linear(second, 1, bias=False))

    def generator_layers(self) -> tuple[AbstractLayer, ...]:
        """From latent numbers to a code."""
        inside = (Linear(self.latent, self.latent, bias=False), *self._norm(self.latent))
        block = Residual((*inside, Tanh() if self.codes == "tanh" else LeakyReLU(SLOPE)))
        last = (Linear(self.latent, self.code, bias=False), *self._norm(self.code), self._last())
        return (*[block] * self.blocks, *last)

    def _between(self) -> tuple[int, ...]:
        return (self.hidden,) if self.hidden else ()

    def _last(self) -> AbstractLayer:
        return Tanh() if self.codes == "tanh" else LeakyReLU(SLOPE)

    def _norm(self, size: int) -> tuple[AbstractLayer, ...]:
        return {"batch": (BatchNorm(size),), "layer": (LayerNorm(size),), "none": ()}[self.norm]

    # -- questions -----------------------------------------------------------------------------

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """The autoencoder's steps and the critic's; first the number of rows, if it is private."""
        vector = row_vector(encoder)
        first = () if rows is not None else (count_question(COUNT),)
        left = 1.0 - sum(question.share for question in first)
        autoencoder = self.autoencoder(vector).question(left * self.autoencoder_share, rows)
        critic = Steps(
            name="critic",
            meaning="noisy gradients of a critic that tells rows from generated ones",
            share=left * (1.0 - self.autoencoder_share),
            steps=self.critic_steps,
            size=size(self.critic_layers(vector.width)),
            batch=self.critic_batch,
            stages=(Stage(clip=self.critic_clip),),
            rows=rows,
        )
        return (*first, autoencoder, critic)

    # -- learning ------------------------------------------------------------------------------

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Train the autoencoder, then critic and generator through its decoder."""
        import jax

        from nacre.methods.autogan.programs import critic_program

        rng, (first_key, second_key) = public_rng(key), jax.random.split(key)
        vector = row_vector(vault.encoder)
        *counts, first, second = self.questions(
            vault.encoder,  # type: ignore[arg-type]
            plan.adjacency,
            plan.rows,
        )
        rows = vault.count(counts[0]) if counts else None  # type: ignore[arg-type]
        known = rows or plan.rows or 1
        program = self.autoencoder_program(vector, known, rng)
        state = vault.train(first, program, rows=rows, key=first_key)  # type: ignore[arg-type]
        decoder = state["average"]["decoder"]
        program = critic_program(self, vector, decoder, known, rng)
        state = vault.train(second, program, rows=rows, key=second_key)  # type: ignore[arg-type]
        layers = (*self.generator_layers(), *self.decoder_layers(vector.width))
        average = state["writer"]["average"]
        arrays = (*average["generator"], *average.get("decoder", decoder))
        inputs = rng.standard_normal((FROZEN, self.latent), np.float32)
        return NetworkGenerator(
            vector=vector,
            layers=layers,
            arrays=freeze(layers, arrays, inputs),
            latent=self.latent,
            weights=np.ones(1),
            sampled=self.outputs == "sampled",
        )

    def autoencoder(self, vector: RowVector) -> Autoencoder:
        """Phase 1: encoder and decoder, or the decoder of a random encoder."""
        reconstruction = vector.cross_entropy if self.outputs == "sampled" else by_place
        return Autoencoder(
            encoder=self.encoder_layers(vector.width),
            decoder=self.decoder_layers(vector.width),
            loss=lambda outputs, x, code, own: reconstruction(outputs, x),
            steps=self.autoencoder_steps,
            batch=self.autoencoder_batch,
            clip=self.autoencoder_clip,
            rate=self.autoencoder_rate,
            averaging=self.averaging,
            random=self.encoder == "random",
        )

    def autoencoder_program(
        self, vector: RowVector, rows: float, rng: np.random.Generator
    ) -> Program:
        """Phase 1 as the vault runs it."""
        return self.autoencoder(vector).program(lambda row: (vector.of(row), 0), rows, rng)


def row_vector(encoder: Any) -> RowVector:
    """Every column is just a column, the label too."""
    return RowVector(encoder.layout, None, single=True)
