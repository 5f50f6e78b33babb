"""A Gaussian whose images have the measured moments *after* their pixels were clipped.

Clipping at black and white takes away about half of the variance of digits or clothes, and moves
their means.  What is drawn before clipping is widened, direction by direction, until what is left
is what was measured.  All of it works on noisy answers and random numbers: post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DRAWS = 1500  # of a class, by which moments after clipping are seen
ROUNDS = 12
OFFSET_ROUNDS = 4  # for the mean, in each round
DAMPING = 0.7  # of what a round would change, as a power
WIDEST = 4.0  # times as wide as measured, along any direction
SMALLEST, LARGEST = 0.05, 20.0  # variance over the measured one that one round believes


def set_right(images: Array, offset: Array, wanted: Array, rounds: int = OFFSET_ROUNDS) -> Array:
    """The offset with which the mean of clipped images is the wanted one, nearly."""
    for _ in range(rounds):
        offset = offset - (np.clip(images + offset, 0, 1).mean(0) - wanted)
    return offset


def before_clipping(
    mean: Array, factor: Array, directions: Array, base: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """A wider factor and an offset of pixels with which clipped images have these moments.

    Args:
        mean: along the directions, (directions,).
        factor: lower triangle of the measured covariance along them.
        directions: in pixels, (directions, pixels), linearly independent.
        base: the mean image of all classes, (pixels,).
        rng: for the draws.

    Returns:
        The factor of what is to be drawn, and the offset of its pixels.
    """
    back = np.linalg.pinv(directions) @ np.linalg.inv(factor).T  # to units of what was measured
    wanted = np.clip(base + mean @ directions, 0, 1)
    latent = rng.standard_normal((DRAWS, len(mean)))
    wider, offset = np.eye(len(mean)), base
    for _ in range(ROUNDS):
        images = (mean + latent @ (factor @ wider).T) @ directions
        offset = set_right(images, offset, wanted)
        values, vectors = np.linalg.eigh(np.cov((np.clip(images + offset, 0, 1) @ back).T))
        change = np.clip(values, SMALLEST, LARGEST) ** (-DAMPING / 2)
        left, sizes, right = np.linalg.svd((vectors * change) @ vectors.T @ wider)
        wider = (left * np.minimum(sizes, WIDEST)) @ right
    images = (mean + latent @ (factor @ wider).T) @ directions
    return factor @ wider, set_right(images, offset, wanted, ROUNDS)
