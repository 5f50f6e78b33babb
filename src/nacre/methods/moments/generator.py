"""Draws images from the Gaussians of classes, and lets the teacher say what they show."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.embed.scattering import Scattering
from nacre.errors import NacreError
from nacre.methods.moments.clipping import before_clipping, set_right
from nacre.methods.moments.movements import KINDS, moved
from nacre.nets.generator import AbstractGenerator
from nacre.rows import ImageEncoder, Images

if TYPE_CHECKING:
    from nacre.methods.moments.gaussians import Gaussians

CHUNK = 1 << 12
AT_ONCE = 16  # images whose features are computed together
CALIBRATION = 600  # draws of a class by which the mean after clipping is set right
ROUNDS = 12  # in which it is
TRIES = 4  # at an image that the teacher takes for what it was drawn for
STORED = ("weights", "means", "factors", "directions", "offsets", "movements")
TAUGHT = ("center", "looks", "answers")


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Teacher:
    """A softmax regression on scattering features.

    Attributes:
        center: of the features.
        directions: of them that it looks at, scaled, (features, count).
        weights: its answers, (count, classes).
        scattering: that makes the features.
    """

    center: NDArray[np.float32]
    directions: NDArray[np.float32]
    weights: NDArray[np.float32]
    scattering: Scattering

    def features(self, images: Any, xp: Any) -> Any:
        """What it sees of images (n, height, width, channels) in [0, 1]: rows of norm one."""
        found = (self.scattering(images, xp) - self.center) @ self.directions
        return found / xp.maximum(xp.sqrt(xp.sum(found * found, axis=1, keepdims=True)), 1e-6)

    def labels(self, images: NDArray[np.float32]) -> NDArray[np.int64]:
        """The likeliest class of each image."""
        found = [
            (self.features(images[at : at + AT_ONCE], np) @ self.weights).argmax(1)
            for at in range(0, len(images), AT_ONCE)
        ]
        return np.concatenate([np.zeros(0, np.int64), *found])


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MomentsGenerator(AbstractGenerator):
    """Gaussians by class in pixels, clipped to what pixels can be.

    A class may have several, one after the other: Gaussian g is of class g modulo the classes.

    Attributes:
        shape: of an image.
        weights: chances of the Gaussians, (Gaussians,).
        means: along the directions, (Gaussians, directions).
        factors: of the covariances, already widened; images have these before they are clipped.
        directions: in pixels, (directions, pixels).
        offsets: mean images, set so that the means after clipping are right, (Gaussians, pixels).
        classes: how many classes there are; 1 without a label.
        movements: how far samples of a class are moved at most: factors, (classes, kinds, kinds).
        teacher: that labels what is drawn; None where there is no label.
    """

    shape: tuple[int, int, int]
    weights: NDArray[np.float64]
    means: NDArray[np.float32]
    factors: NDArray[np.float32]
    directions: NDArray[np.float32]
    offsets: NDArray[np.float32]
    classes: int
    movements: NDArray[np.float32]
    teacher: Teacher | None = None

    @classmethod
    def blurred(
        cls,
        gaussians: Gaussians,
        encoder: ImageEncoder,
        rng: np.random.Generator,
        *,
        width: float = 1.0,
    ) -> Self:
        """The measured Gaussians, `width` times as wide; clipping takes some of that away."""
        found = cls(
            shape=encoder.schema.shape,
            weights=gaussians.counts / gaussians.counts.sum(),
            means=gaussians.means.astype(np.float32),
            factors=(width * gaussians.factors).astype(np.float32),
            directions=gaussians.directions.astype(np.float32),
            offsets=np.tile(gaussians.base.astype(np.float32), (len(gaussians.counts), 1)),
            classes=len(gaussians.counts),
            movements=np.zeros((len(gaussians.counts), KINDS, KINDS), np.float32),
        )
        offsets = found.offsets.copy()
        for place, (mean, factor) in enumerate(zip(found.means, found.factors, strict=True)):
            drawn = mean + rng.standard_normal((CALIBRATION, len(mean)), np.float32) @ factor.T
            wanted = np.clip(offsets[place] + mean @ found.directions, 0, 1)
            offsets[place] = set_right(drawn @ found.directions, offsets[place], wanted, ROUNDS)
        return dataclasses.replace(found, offsets=offsets)

    @classmethod
    def sharp(
        cls,
        gaussians: Gaussians,
        encoder: ImageEncoder,
        rng: np.random.Generator,
    ) -> Self:
        """Gaussians whose clipped images have the measured moments."""
        found = [
            before_clipping(mean, factor, gaussians.directions, gaussians.base, rng)
            for mean, factor in zip(gaussians.means, gaussians.factors, strict=True)
        ]
        factors, offsets = (np.stack(part) for part in zip(*found, strict=True))
        return cls(
            shape=encoder.schema.shape,
            weights=gaussians.counts / gaussians.counts.sum(),
            means=gaussians.means.astype(np.float32),
            factors=factors.astype(np.float32),
            directions=gaussians.directions.astype(np.float32),
            offsets=offsets.astype(np.float32),
            classes=len(gaussians.counts),
            movements=np.zeros((len(gaussians.counts), KINDS, KINDS), np.float32),
        )

    def wider(self, width: float) -> Self:
        """The same, `width` times as wide before clipping."""
        return dataclasses.replace(self, factors=np.float32(width) * self.factors)

    def clipped_away(self, rng: np.random.Generator) -> float:
        """The part of the variance within Gaussians that clipping takes: from 0 to 1."""
        whole = left = 0.0
        for place, weight in enumerate(self.weights):
            latent = rng.standard_normal((CALIBRATION, self.means.shape[1]), np.float32)
            drawn = self.means[place] + latent @ self.factors[place].T
            images = self.offsets[place] + drawn @ self.directions
            whole += weight * float(images.var(0).sum())
            left += weight * float(np.clip(images, 0, 1).var(0).sum())
        return 1 - left / max(whole, 1e-12)

    def beside(self, other: Self, share: float) -> Self:
        """That share of the draws from the other one."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("means", "factors", "offsets")
        }
        weights = np.concatenate([(1 - share) * self.weights, share * other.weights])
        return dataclasses.replace(self, weights=weights, **joined)

    def draw(
        self, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Images (n, height, width, channels) in [0, 1], and the classes they were drawn for."""
        chosen = rng.choice(len(self.weights), n, p=self.weights)
        return self._drawn_from(chosen, rng), chosen % self.classes

    def _drawn_from(
        self, chosen: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """An image from each of these Gaussians."""
        latent = rng.standard_normal((len(chosen), self.means.shape[1]), np.float32)
        images = np.empty((len(chosen), math.prod(self.shape)), np.float32)
        for place in range(len(self.weights)):
            own = np.flatnonzero(chosen == place)
            drawn = self.means[place] + latent[own] @ self.factors[place].T
            images[own] = np.clip(self.offsets[place] + drawn @ self.directions, 0, 1)
        return images.reshape(-1, *self.shape)

    def _moved(
        self, images: NDArray[np.float32], classes: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Each by a random part of a random movement of its class: many little, some far."""
        if not self.movements.any():
            return images
        latent = rng.standard_normal((len(images), KINDS), np.float32)
        amounts = np.einsum("nij,nj->ni", self.movements[classes], latent)
        return moved(images, amounts * rng.random((len(images), 1), np.float32))

    def sample(self, n: int, rng: np.random.Generator) -> Images:
        """Draw images, and label them."""
        pixels = np.zeros((n, *self.shape), np.uint8)
        labels = np.zeros(n, np.int64)
        for at in range(0, n, CHUNK):
            part = slice(at, min(n, at + CHUNK))
            pixels[part], labels[part] = self._agreed(part.stop - at, rng)
        return Images(pixels, None if self.teacher is None else labels)

    def _agreed(
        self, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Images in bytes, and their labels.

        An image that the teacher takes for another class than it was drawn for is drawn again, a
        few times; what it is taken for then is its label.
        """
        chosen = rng.choice(len(self.weights), n, p=self.weights)
        classes = chosen % self.classes
        labels, pixels = np.zeros(n, np.int64), np.zeros((n, *self.shape), np.uint8)
        left = np.arange(n)
        for _ in range(1 if self.teacher is None else TRIES):
            drawn = self._moved(self._drawn_from(chosen[left], rng), classes[left], rng)
            pixels[left] = np.rint(drawn * 255)
            if self.teacher is not None:
                # By what is given away: whole bytes.
                labels[left] = self.teacher.labels(np.divide(pixels[left], 255, dtype=np.float32))
                left = left[labels[left] != classes[left]]
        return pixels, labels

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Arrays alone."""
        arrays = {name: np.asarray(getattr(self, name)) for name in STORED}
        if self.teacher is not None:
            own = (self.teacher.center, self.teacher.directions, self.teacher.weights)
            arrays |= dict(zip(TAUGHT, own, strict=True))
        return {"labeled": self.teacher is not None}, arrays

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: ImageEncoder
    ) -> Self:
        """The inverse of `state`."""
        shape, label = encoder.schema.shape, encoder.label
        if set(config) != {"labeled"} or config["labeled"] is not (label is not None):
            raise NacreError("The generator and the schema disagree on whether there is a label.")
        pixels, classes = math.prod(shape), 1 if label is None else label.classes
        count, gaussians = arrays["directions"].shape[0], len(arrays["weights"])
        if gaussians not in (classes, 2 * classes):
            raise NacreError("The generator must have one Gaussian of each class, or two.")
        sizes = {
            "weights": (gaussians,),
            "means": (gaussians, count),
            "factors": (gaussians, count, count),
            "directions": (count, pixels),
            "offsets": (gaussians, pixels),
            "movements": (classes, KINDS, KINDS),
        }
        scattering = Scattering(*shape)
        if label is not None:
            seen = arrays["looks"].shape[1]
            sizes |= {"center": (scattering.size,), "looks": (scattering.size, seen)}
            sizes |= {"answers": (seen, classes)}
        found: dict[str, Any] = {}
        for name, size in sizes.items():
            with np.errstate(over="ignore"):
                value = np.asarray(arrays[name], np.float64 if name == "weights" else np.float32)
            if value.shape != size or not np.isfinite(value).all():
                raise NacreError(f"'{name}' of the generator has another shape, or is not finite.")
            found[name] = value
        weights = found.pop("weights")
        if (weights < 0).any() or not 0 < weights.sum() < 1e9:
            raise NacreError("The classes of the generator have no chances that could be.")
        teacher = None
        if label is not None:
            center, looks, answers = (found.pop(name) for name in TAUGHT)
            teacher = Teacher(center, looks, answers, scattering)
        return cls(
            shape=shape,
            weights=weights / weights.sum(),
            **found,
            classes=classes,
            teacher=teacher,
        )
