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
    down, across, channel = cosine_frequencies(shape, most).T
    plane = np.einsum("ip,jp->ijp", _cosines(height)[:, down], _cosines(width)[:, across])
    basis = np.einsum("ijp,pc->ijcp", plane, np.eye(channels)[channel])
    weights = (1 + np.hypot(down, across)) ** power
    return (
        basis.reshape(height * width * channels, len(channel)).astype(np.float32),
        weights.astype(np.float32),
    )


def cosine_frequencies(shape: tuple[int, int, int], most: int) -> NDArray[np.int64]:
    """How often each cosine of `cosine_basis` turns down and across, and its channel, (count, 3).

    Examples:
        >>> cosine_frequencies((4, 4, 1), 3).tolist()
        [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    """
    height, width, channels = shape
    down, across = (part.ravel() for part in np.indices((height, width)))
    chosen = np.argsort(np.hypot(down, across), kind="stable")[:most]
    found = np.stack([down[chosen], across[chosen], np.zeros_like(chosen)], axis=1)
    found = np.repeat(found, channels, axis=0)
    found[:, 2] = np.tile(np.arange(channels), len(chosen))
    return np.asarray(found, np.int64)


def _cosines(size: int) -> NDArray[np.float64]:
    """The cosines of the discrete cosine transform (type II), a column each, of norm one."""
    found = np.cos(np.pi * np.outer(np.arange(size) + 0.5, np.arange(size)) / size)
    return found / np.linalg.norm(found, axis=0)
