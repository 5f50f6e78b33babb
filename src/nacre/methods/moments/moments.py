"""Moments: class-wise Gaussians of images in a private subspace, labeled by a private teacher.

Four kinds of sums, all Gaussian and nothing subsampled: the mean image, the directions in which
images differ, each class's mean and covariance along these, and the gradients of a softmax
regression on features that nobody learnt (scattering).  Samples are drawn wider than they were
measured, and get the label that the regression gives them: what a Gaussian blurs between classes
the labels put right.  The regression sees each image twice: as it is, and as the directions have
it, since samples are made of these.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.rows import ImageEncoder
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import Adjacency, Plan, Vault

LARGEST = 96  # pixels along a side
SHARP = 2.0  # share of sharp samples, over the part of the variance that clipping takes


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Moments(AbstractMethod):
    """Settings of Moments; all of them public constants."""

    title: ClassVar[str] = "Moments"
    paper: ClassVar[str] = "none: nacre's own"
    summary: ClassVar[str] = "class-wise Gaussians of images, labeled by a private teacher"
    proof: ClassVar[str] = "Gaussian sums"
    cost: ClassVar[str] = "minutes"
    when: ClassVar[str] = "images: the default"
    data: ClassVar[frozenset[str]] = frozenset({"image"})

    coefficients: int = setting(
        216, "cosines of an image that are looked at, a channel; the lowest", low=4, high=1000
    )
    power: float = setting(
        0.5, "cosines are weighted by (1 + frequency) to this power", low=0, high=2
    )
    components: int = setting(
        80, "directions in which classes are measured, at most", low=2, high=400
    )
    whitening: float = setting(
        0.25, "places along directions are divided by their variance to this power", low=0, high=0.5
    )
    radius: float = setting(
        1.0, "largest length along these directions, over the mean length", low=0.1, high=10
    )
    width: float = setting(
        1.25, "how much wider than measured samples are drawn, with a label", low=0.1, high=10
    )
    sharp_width: float = setting(
        1.25, "likewise, of those that have the measured moments once clipped", low=0.1, high=10
    )
    movement: float = setting(
        2.5, "how many times as far as measured samples are moved, at most", low=0, high=10
    )
    mean_share: float = setting(0.03, "of the budget, for the mean image", low=0.001, high=0.5)
    direction_share: float = setting(0.15, "of the budget, for the directions", low=0.001, high=0.9)
    teacher_share: float = setting(0.22, "of the budget, for the teacher", low=0.001, high=0.9)
    teacher_components: int = setting(
        300, "of the scattering features that the teacher sees", low=2, high=2000
    )
    teacher_steps: int = setting(40, "of the teacher's training", low=1, high=1000)
    teacher_rate: float = setting(
        200.0, "of these steps, at most; less where they are noisy", low=0.001, high=1000
    )
    momentum: float = setting(0.8, "of these steps", low=0, high=0.999)

    def __post_init__(self) -> None:
        settle(self)
        if self.mean_share + self.direction_share + self.teacher_share > 0.95:
            raise NacreError(
                "mean_share, direction_share and teacher_share must leave some budget for the "
                "classes' moments."
            )

    def small(self) -> Self:
        """Few cosines, directions and steps."""
        return dataclasses.replace(
            self, coefficients=12, components=6, teacher_components=8, teacher_steps=3
        )

    def questions(
        self, encoder: ImageEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """Mean, directions, class moments; with a label also the teacher's steps.

        Sensitivity:
            every segment is a vector of norm at most one, or all products of two such vectors, a
            matrix whose norm is the product of theirs.
        """
        height, width, channels = encoder.schema.shape
        if max(height, width) > LARGEST:
            raise NacreError(
                f"Moments takes images of up to {LARGEST} pixels a side, got {height} x {width}. "
                "Say `resize: true` and a smaller size in the schema."
            )
        label = encoder.label
        cosines = min(self.coefficients, height * width) * channels
        count = min(self.components, cosines)
        teacher = self.teacher_share if label is not None else 0.0
        mean = Sum(
            name="mean image",
            meaning="low cosines of the image",
            share=self.mean_share,
            bound=Bound(segments=(Segment(size=cosines, norm=1.0, weight=0.95),), count=0.3),
        )
        directions = Sum(
            name="directions",
            meaning="products of low cosines of the image less the mean, of norm one",
            share=self.direction_share,
            bound=Bound(
                segments=(
                    Segment(size=1, norm=1.0, signed=False, weight=0.3),
                    Segment(size=cosines**2, norm=1.0, weight=0.95),
                )
            ),
        )
        moments = Sum(
            name="class moments",
            meaning="places along the directions, and their products"
            + (f", for each value of '{label.name}'" if label else ""),
            share=1.0 - self.mean_share - self.direction_share - teacher,
            bound=Bound(
                segments=(
                    Segment(size=count, norm=1.0, weight=0.35),
                    Segment(size=count**2, norm=1.0, weight=0.92),
                ),
                by=label,
                count=0.15,
            ),
        )
        if label is None:
            return mean, directions, moments
        return mean, directions, moments, *self._teacher_questions(encoder)

    def _teacher_questions(self, encoder: ImageEncoder) -> tuple[Sum, ...]:
        from nacre.embed.scattering import Scattering

        classes = 1 if encoder.label is None else encoder.label.classes
        seen = min(self.teacher_components, Scattering(*encoder.schema.shape).size)
        bound = Bound(segments=(Segment(size=seen * classes, norm=1.0),))
        return tuple(
            Sum(
                name=f"teacher, step {step + 1}",
                meaning="gradient of a softmax regression on scattering features",
                share=self.teacher_share / self.teacher_steps,
                bound=bound,
            )
            for step in range(self.teacher_steps)
        )

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Ask for the moments, then teach a regression that labels what is drawn from them."""
        from nacre.methods.moments.gaussians import measure
        from nacre.methods.moments.generator import MomentsGenerator
        from nacre.methods.moments.movements import measured
        from nacre.methods.moments.teacher import train
        from nacre.methods.randomness import public_rng

        encoder: ImageEncoder = vault.encoder  # type: ignore[assignment]
        rng = public_rng(key)
        asked = self.questions(encoder, plan.adjacency, plan.rows)
        gaussians = measure(self, vault, asked[:3])
        if encoder.label is None:
            return MomentsGenerator.sharp(gaussians, encoder, rng)
        blurred, wide = (
            MomentsGenerator.blurred(gaussians, encoder, rng, width=width)
            for width in (1.0, self.width)
        )
        sharp = MomentsGenerator.sharp(gaussians, encoder, rng)
        share = min(1.0, SHARP * blurred.clipped_away(rng))
        drawn = wide.beside(sharp.wider(self.sharp_width), share)
        near = blurred.beside(sharp, share)
        teacher = train(self, vault, asked[3:], drawn, near, gaussians, rng)
        movements = self.movement * measured(gaussians, encoder.schema.shape)
        return dataclasses.replace(drawn, teacher=teacher, movements=movements.astype("float32"))
