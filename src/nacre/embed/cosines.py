"""The lowest cosines of an image: a public basis in which natural images are nearly sparse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cosine_basis(
    shape: tuple[int, int, int], most: int, power: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Orthonormal cosines by ascending frequency, `most` a channel, and a weight for each.

    Args:
        shape: height, width and channels.
        most: how many a channel has, at most.
        power: a weight is (1 + frequency)^power, which flattens the spectrum of images.

    Returns:
        The basis (height x width x channels, count), of orthonormal columns, and the weights.

    Examples:
        >>> basis, weights = cosine_basis((4, 4, 1), 6, 0.5)
        >>> basis.shape, bool(np.allclose(basis.T @ basis, np.eye(6), atol=1e-6))
        ((16, 6), True)
    """
    height, width, channels = shape
    plane = np.einsum("ia,jb->ijab", _cosines(height), _cosines(width))
    plane = plane.reshape(height * width, height * width)
    down, across = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    frequency = np.hypot(down, across).ravel()
    chosen = np.argsort(frequency, kind="stable")[:most]
    basis = np.einsum("pq,cd->pcqd", plane[:, chosen], np.eye(channels))
    weights = np.repeat((1 + frequency[chosen]) ** power, channels)
    count = len(chosen) * channels
    return (
        basis.reshape(height * width * channels, count).astype(np.float32),
        weights.astype(np.float32),
    )


def _cosines(size: int) -> NDArray[np.float64]:
    """The cosines of the discrete cosine transform (type II), a column each, of norm one."""
    found = np.cos(np.pi * np.outer(np.arange(size) + 0.5, np.arange(size)) / size)
    return found / np.linalg.norm(found, axis=0)
