"""A softmax regression on scattering features, by noisy gradients over all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.scattering import Scattering
from nacre.methods.moments.generator import AT_ONCE, MomentsGenerator, Teacher

if TYPE_CHECKING:
    from nacre.methods.moments.gaussians import Gaussians
    from nacre.methods.moments.moments import Moments
    from nacre.vault import Sum, Vault

DRAWN = 2000  # samples whose features show what features vary in
WHITENING = 0.25  # features are divided by their variance to this power
STEADY = 0.04  # rate times the noise of a mean gradient, at most: chosen on training images
WARM = 4000  # samples from which it learns before it sees a row
WARM_STEPS, WARM_RATE = 60, 30.0
AVERAGED = 0.3  # last part of the steps whose weights are averaged


def train(
    method: Moments,
    vault: Vault,
    questions: Sequence[Sum],
    drawn: MomentsGenerator,
    near: MomentsGenerator,
    gaussians: Gaussians,
    rng: np.random.Generator,
) -> Teacher:
    """Teach on the private rows what samples have not taught already.

    What the teacher looks at are the components of the features of `drawn`, and its first weights
    are learnt from those of `near`, each labeled by the Gaussian that it is from: both are free.

    Each row is seen as it is and as the directions have it: samples are made of the directions,
    and a teacher of whole images alone errs on them (Fashion-MNIST, held-out training images: .79
    right; in a simulation of both .84).

    Releases:
        for each of the questions one sum of gradients over all rows, announced in the plan.

    Adjacency:
        the plan's: the vault derives both from the bound of norm one.

    Sensitivity:
        a row's gradient is the mean of two f (p - y)' with |f| = 1 and |p - y| clipped to one, each
        of norm one at most, and so is their mean.

    Guarantee:
        Gaussian DP of each sum, composed by the plan; weights follow from earlier answers.

    Public:
        directions, mean image and number of images, all of them noisy answers; the settings.
    """
    import jax
    import jax.numpy as jnp

    from nacre.vault.products import Products
    from nacre.vault.view import seen

    encoder: Any = vault.encoder
    scattering = Scattering(*encoder.schema.shape)
    count = questions[0].bound.size // encoder.label.classes
    teacher = _look(scattering, drawn, count, encoder.label.classes, rng)

    blur = _blur(gaussians, encoder.schema.shape)

    def look(row: Any) -> Any:
        image = encoder.units(row)
        return teacher.features(jnp.stack([image, blur(image)]), jnp).reshape(-1)

    view = vault.view(look)
    classes = np.arange(encoder.label.classes)

    def gradient(row: Any, weights: Any) -> Any:
        f = seen(row).reshape(2, count)
        off = jax.nn.softmax(f @ weights) - (row.label == classes)
        off = off / jnp.maximum(1.0, jnp.sqrt(jnp.sum(off * off, axis=1, keepdims=True)))
        return Products(f[0, :0], f / np.float32(math.sqrt(2)), off / np.float32(math.sqrt(2)))

    weights = _warm(method, teacher, near, rng)
    speed, mean = np.zeros_like(weights), np.zeros_like(weights)
    last, total = max(1, round(AVERAGED * len(questions))), gaussians.total
    for step, question in enumerate(questions):
        sums = vault.sum(question, gradient, public=weights, through=view)
        slope = sums.values[0].reshape(weights.shape) / total
        speed = (method.momentum * speed + slope).astype(np.float32)
        rate = min(method.teacher_rate, STEADY * total / max(sums.noise[0], 1e-9))
        weights = (weights - rate * speed).astype(np.float32)
        if step >= len(questions) - last:
            mean += weights / last
    return Teacher(teacher.center, teacher.directions, np.asarray(mean, np.float32), scattering)


def _warm(
    method: Moments, teacher: Teacher, near: MomentsGenerator, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Weights learnt from samples whose classes are those of their Gaussians."""
    images, classes = near.draw(WARM, rng)
    parts = [images[at : at + AT_ONCE] for at in range(0, WARM, AT_ONCE)]
    features = np.concatenate([teacher.features(part, np) for part in parts])
    weights = teacher.weights
    speed = np.zeros_like(weights)
    for _ in range(WARM_STEPS):
        answers = features @ weights
        off = np.exp(answers - answers.max(1, keepdims=True))
        off /= off.sum(1, keepdims=True)
        off[np.arange(WARM), classes] -= 1
        speed = method.momentum * speed + features.T @ off / np.float32(WARM)
        weights = (weights - WARM_RATE * speed).astype(np.float32)
    return weights


def _blur(gaussians: Gaussians, shape: tuple[int, ...]) -> Any:
    """From an image in [0, 1] to what the directions show of it; public but for the image."""
    import jax.numpy as jnp

    directions = gaussians.directions.astype(np.float32)
    back = np.linalg.pinv(gaussians.directions).astype(np.float32)
    base = gaussians.base.astype(np.float32)

    def blur(image: Any) -> Any:
        places = (image.reshape(-1) - base) @ back
        return jnp.clip(base + places @ directions, 0, 1).reshape(shape)

    return blur


def _look(
    scattering: Scattering,
    drawn: MomentsGenerator,
    count: int,
    classes: int,
    rng: np.random.Generator,
) -> Teacher:
    """What to look at: the leading components of samples' features, partly whitened."""
    images = drawn.draw(DRAWN, rng)[0]
    features = scattering_of(scattering, images)
    center = features.mean(0)
    features = features - center
    values, vectors = np.linalg.eigh(features @ features.T / len(features))
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    directions = features.T @ vectors
    directions /= np.maximum(np.linalg.norm(directions, axis=0), 1e-9)
    directions = directions / np.maximum(values, 1e-7) ** WHITENING
    missing = count - directions.shape[1]
    directions = np.pad(directions, ((0, 0), (0, missing))).astype(np.float32)
    return Teacher(center, directions, np.zeros((count, classes), np.float32), scattering)


def scattering_of(scattering: Scattering, images: NDArray[np.float32]) -> NDArray[np.float32]:
    """The features of many images, a few at a time."""
    parts = [scattering(images[at : at + AT_ONCE], np) for at in range(0, len(images), AT_ONCE)]
    return np.concatenate(parts)
