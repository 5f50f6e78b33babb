"""DPGAN (Xie et al., 2018) and DP-CGAN (Torkzadehmahani et al., 2019): a critic trained by DP-SGD.

A generator learns from what a critic says of its rows; only the critic's gradients at real rows
see any, and they are clipped row by row, summed and noised.  DPGAN is a Wasserstein GAN with
clamped weights, to which a label is a column like others.  In DP-CGAN both networks are given the
label, and the loss is the cross-entropy.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.methods.method import AbstractMethod
from nacre.methods.minibatch.steps import ask_counts, class_counts
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.methods.standardize import ask_scale, scale_questions
from nacre.nets.layers import LARGEST, AbstractLayer, LeakyReLU, Linear, freeze, mlp, size
from nacre.nets.network import NetworkGenerator, input_width, latent_inputs
from nacre.nets.vector import RowVector
from nacre.rows import AbstractEncoder, ImageEncoder, TableEncoder
from nacre.vault import Stage, Steps

if TYPE_CHECKING:
    from nacre.methods.adversary import Judge
    from nacre.nets.generator import AbstractGenerator
    from nacre.rows import Label
    from nacre.vault import AbstractQuestion, Adjacency, Plan, Program, Sum, Vault

SLOPE = 0.2  # of the critic's leaky ReLUs
COUNTS = 0.02  # share of the budget for the number of rows, by class if labels are given
FROZEN = 1 << 13  # generated rows whose statistics batch norms are frozen at


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractGAN(AbstractMethod):
    """What GANs share: their networks, one release of many steps, and the order of learning."""

    proof: ClassVar[str] = "subsampled Gaussian steps"
    cost: ClassVar[str] = "minutes"
    when: ClassVar[str] = "to compare with its paper"
    data: ClassVar[frozenset[str]] = frozenset({"table", "image"})

    latent: int = setting(64, "how many numbers go into the generator", low=1, high=4096)
    hidden: int = setting(
        128, "width of the generator's first hidden layer, then twice that", low=1, high=4096
    )
    critic: int = setting(128, "width of the critic's hidden layer", low=1, high=4096)
    critic_steps: int = setting(2000, "steps of the critic", low=1, high=10**6)
    critic_batch: int = setting(256, "rows of a step, about", low=1, high=10**6)
    generator_every: int = setting(
        1, "steps of the critic for each of the generator", low=1, high=10**6
    )
    averaging: float = setting(
        0.95, "memory of the average of the generator's weights; 0: the last", low=0, high=0.9999
    )
    scale: Literal["moments", "schema"] = setting(
        "moments",
        "how a table's numbers are standardized: by mean and deviation of noisy histograms, or by "
        "the schema's bounds alone",
    )
    scale_share: float = setting(
        0.1, "share of the budget that buys the histograms for it", low=0.001, high=0.45
    )
    critic_clip: float
    critic_rate: float
    generator_rate: float

    def __post_init__(self) -> None:
        settle(self)

    # -- what they differ in ----------------------------------------------------------------

    @abc.abstractmethod
    def label(self, encoder: AbstractEncoder) -> Label | None:
        """The label that both networks are given, if they are given one."""

    @abc.abstractmethod
    def judge(self, vector: RowVector, see: Any) -> Judge:
        """The critic with its loss and its optimizer; `see` makes a vector of one row."""

    @abc.abstractmethod
    def generator_layers(
        self, encoder: AbstractEncoder, vector: RowVector
    ) -> tuple[AbstractLayer, ...]:
        """From latent numbers and the label to what `RowVector` makes rows of."""

    # -- what they share -----------------------------------------------------------------------

    def vector(self, encoder: Any) -> RowVector:
        """A row as both networks have it, a label that is given left out, numbers as they are."""
        return RowVector(encoder.layout, encoder.place(self.label(encoder)), single=True)

    def critic_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """From a row's vector, and the label, to its score.

        Without a last bias: it would take most of a clipped gradient.
        """
        first = Linear(input_width(vector.width, vector.classes), self.critic)
        return (first, LeakyReLU(SLOPE), Linear(self.critic, 1, bias=False))

    def dense_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """Dense layers with batch norms: they see generated rows only."""
        inputs = input_width(self.latent, vector.classes)
        return mlp(inputs, self.hidden, 2 * self.hidden, vector.width, batch_norm=True)

    def questions(
        self, encoder: AbstractEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """The critic's steps; before them the number of rows, where it is needed, and the scale."""
        first = self._counting(encoder, rows)
        if self.scale == "moments" and isinstance(encoder, TableEncoder):
            first = (*first, *scale_questions(encoder.layout, self.scale_share))
        return (*first, self._training(encoder, rows, 1.0 - sum(q.share for q in first)))

    def _counting(self, encoder: AbstractEncoder, rows: int | None) -> tuple[Sum, ...]:
        label = self.label(encoder)
        return () if label is None and rows is not None else (class_counts(label, COUNTS),)

    def _training(self, encoder: AbstractEncoder, rows: int | None, share: float) -> Steps:
        return Steps(
            name="critic",
            meaning="gradients of a critic that tells rows from generated ones",
            share=share,
            steps=self.critic_steps,
            size=size(self.critic_layers(self.vector(encoder))),
            batch=self.critic_batch,
            stages=(Stage(clip=self.critic_clip),),
            rows=rows,
        )

    # -- learning ------------------------------------------------------------------------------

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Count, train the critic and the generator in turns, keep the generator."""
        encoder, rng = vault.encoder, public_rng(key)
        asked: dict[str, Any] = {
            q.name: q for q in self.questions(encoder, plan.adjacency, plan.rows)
        }
        counts = ask_counts(vault, asked["counts"]) if "counts" in asked else np.ones(1)
        shares = counts / counts.sum()
        rows = float(counts.sum()) if plan.rows is None else plan.rows
        vector = self.vector(encoder)
        if "histograms" in asked:
            vector = dataclasses.replace(vector, scale=ask_scale(vault, asked["histograms"]))
        state = vault.train(
            asked["critic"],
            self.program(encoder, vector, shares, rows, rng),
            rows=rows if plan.rows is None else None,
            key=key,
        )
        layers, average = self.generator_layers(encoder, vector), state["writer"]["average"]
        return finished(vector, layers, average, self.latent, shares, rng)

    def program(
        self,
        encoder: AbstractEncoder,
        vector: RowVector,
        shares: NDArray[np.float64],
        rows: float,
        rng: np.random.Generator,
    ) -> Program:
        """The training as the vault runs it, given noisy shares of classes and number of rows."""
        import optax

        from nacre.methods.adversary import FAKES, LabeledWriter, adversarial_program, with_label

        writer = LabeledWriter(
            vector=vector,
            layers=self.generator_layers(encoder, vector),
            latent=self.latent,
            shares=shares,
            count=min(max(self.critic_batch, 2), FAKES),
        )
        return adversarial_program(
            self.judge(vector, lambda row: with_label(vector, row)),
            writer,
            rule=optax.adam(self.generator_rate, b1=0.5),
            every=self.generator_every,
            averaging=self.averaging,
            expected=min(self.critic_batch, max(rows, 1)),
            rng=rng,
            aim=self.aim(),
        )

    def aim(self) -> Any:
        """What the generator lowers (`adversarial_program`)."""
        from nacre.methods.adversary import to_convince

        return to_convince

    def small(self) -> Self:
        """A few large steps of narrow networks."""
        return dataclasses.replace(
            self,
            latent=4,
            hidden=8,
            critic=8,
            critic_steps=60,
            critic_batch=64,
            critic_rate=0.01,
            generator_rate=0.02,
        )


def finished(
    vector: RowVector,
    layers: tuple[AbstractLayer, ...],
    average: Any,
    latent: int,
    shares: NDArray[np.float64],
    rng: np.random.Generator,
) -> NetworkGenerator:
    """A trained network as a generator, batch norms frozen at rows of the law it was trained on."""
    classes = rng.choice(len(shares), FROZEN, p=shares)
    inputs = latent_inputs(classes, len(shares), latent, rng)
    return NetworkGenerator(
        vector=vector,
        layers=layers,
        arrays=freeze(layers, average, inputs),
        latent=latent,
        weights=shares,
    )


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class DPGAN(AbstractGAN):
    """Settings of DPGAN; all of them public constants."""

    title: ClassVar[str] = "DPGAN"
    paper: ClassVar[str] = "Xie et al. (2018), Differentially Private GAN, arXiv:1802.06739"
    summary: ClassVar[str] = "a Wasserstein GAN whose critic is trained with noise"
    cost: ClassVar[str] = "40 s on Adult"

    critic_clip: float = setting(0.1, "of a row's gradient", low=1e-6, high=1e6)
    critic_rate: float = setting(0.001, "RMSProp's learning rate", low=1e-6, high=1)
    critic_clamp: float = setting(0.1, "largest weight of the critic", low=1e-4, high=LARGEST)
    generator_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)

    def label(self, encoder: AbstractEncoder) -> None:
        """None: a label is a column like others."""
        return

    def judge(self, vector: RowVector, see: Any) -> Judge:
        """The mean score of real rows less that of generated ones."""
        import optax

        from nacre.methods.adversary import Judge

        rule = optax.rmsprop(self.critic_rate, decay=0.99)
        return Judge(
            layers=self.critic_layers(vector),
            see=see,
            rule=rule,
            clip=self.critic_clip,
            clamp=self.critic_clamp,
        )

    def generator_layers(
        self, encoder: AbstractEncoder, vector: RowVector
    ) -> tuple[AbstractLayer, ...]:
        """Dense: an image's class is written beside its pixels."""
        return self.dense_layers(vector)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class DPCGAN(AbstractGAN):
    """Settings of DP-CGAN; all of them public constants."""

    title: ClassVar[str] = "DP-CGAN"
    paper: ClassVar[str] = "Torkzadehmahani et al. (2019), DP-CGAN, arXiv:2001.09700"
    summary: ClassVar[str] = "a GAN given the label, whose critic is trained with noise"
    cost: ClassVar[str] = "40 s on Adult"

    layers: Literal["dense", "convolutions"] = setting(
        "dense", "the generator's, of images; that of a table is dense"
    )
    critic_clip: float = setting(1.0, "of a row's gradient", low=1e-6, high=1e6)
    critic_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    critic_clamp: float = setting(0.1, "largest weight of the critic", low=1e-4, high=LARGEST)
    generator_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)

    def label(self, encoder: AbstractEncoder) -> Label | None:
        """The schema's, if it has a list of values."""
        return encoder.label

    def judge(self, vector: RowVector, see: Any) -> Judge:
        """The cross-entropy of 'real' and 'made'."""
        import optax

        from nacre.methods.adversary import Judge, looks_made, looks_real

        return Judge(
            layers=self.critic_layers(vector),
            see=see,
            rule=optax.adam(self.critic_rate, b1=0.5),
            clip=self.critic_clip,
            clamp=self.critic_clamp,
            real=looks_real,
            made=looks_made,
        )

    def generator_layers(
        self, encoder: AbstractEncoder, vector: RowVector
    ) -> tuple[AbstractLayer, ...]:
        """Dense; or, for images, dense and then convolutions, as PEARL's."""
        from nacre.nets.conv import image_layers

        if self.layers == "dense" or not isinstance(encoder, ImageEncoder):
            return self.dense_layers(vector)
        inputs = input_width(self.latent, vector.classes)
        return image_layers(inputs, encoder.schema.shape, hidden=self.hidden)
