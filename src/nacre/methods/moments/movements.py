"""Images moved, turned, slanted and stretched by as much as their measured moments say they are.

A Gaussian bends pictures by adding the slope of the mean picture, which is right for small bends
and leaves ghosts of large ones.  How far the pictures of a class move is read off its covariance
along these slopes (tangents: Simard, LeCun, Denker and Victorri, 1998), and samples are moved
indeed.  All of it works on noisy answers: post-processing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nacre.methods.moments.gaussians import Gaussians

KINDS = 6  # shifts down and across, a turn, a slant, stretches down and across
FARTHEST = 0.2  # of a side: shifts that are likely beforehand
STRONGEST = 1.0  # likewise, of turns, slants and stretches
AT_ONCE = 256  # images that are moved together


def fields(height: int, width: int) -> NDArray[np.float32]:
    """Where each kind of movement takes a pixel from: down and across, (kinds, 2, pixels)."""
    y, x = np.indices((height, width)).reshape(2, -1) - [[(height - 1) / 2], [(width - 1) / 2]]
    none, one = np.zeros_like(y), np.ones_like(y)
    found = [(one, none), (none, one), (x, -y), (none, y), (y, none), (none, x)]
    return np.asarray(found, np.float32)


def measured(gaussians: Gaussians, shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """How far the images of each class move: factors of covariances, (classes, kinds, kinds).

    What moving the mean image of a class changes are its tangents T along the directions.  Of a
    sample z off the mean, movements are (T' P^-1 T + L)^-1 T' P^-1 z: generalized least squares
    with the covariance P within classes, and a public prior L that holds back what cannot be seen.
    """
    covariances = np.einsum("cij,ckj->cik", gaussians.factors, gaussians.factors)
    pool = np.tensordot(gaussians.counts / gaussians.counts.sum(), covariances, 1)
    height, width, _ = shape
    likely = [FARTHEST * height, FARTHEST * width] + [STRONGEST] * (KINDS - 2)
    prior = np.diag(np.asarray(likely) ** -2.0)
    back = np.linalg.pinv(gaussians.directions)
    places = fields(height, width).reshape(KINDS, 2, height, width)
    factors = []
    for mean, covariance in zip(gaussians.means, covariances, strict=True):
        image = (gaussians.base + mean @ gaussians.directions).reshape(shape)
        slopes = np.stack([np.gradient(image, axis=axis) for axis in (0, 1)])
        tangents = np.einsum("kdij,dijc->kijc", places, slopes).reshape(KINDS, -1) @ back
        weighted = np.linalg.solve(pool, tangents.T)  # (directions, kinds)
        found = np.linalg.solve(tangents @ weighted + prior, weighted.T)
        values, vectors = np.linalg.eigh(found @ covariance @ found.T)
        factors.append(vectors * np.sqrt(np.maximum(values, 0)))
    return np.stack(factors)


def moved(images: NDArray[np.float32], amounts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Images (n, height, width, channels), each moved by its amounts (n, kinds).

    Between pixels is what the four around say; beyond the edge is what is at the edge.
    """
    n, height, width, channels = images.shape
    field = fields(height, width).reshape(KINDS, -1)
    home = np.indices((height, width), np.float32).reshape(2, -1)
    flat = images.reshape(n, height * width, channels)
    found = np.empty_like(flat)
    for at in range(0, n, AT_ONCE):
        part = flat[at : at + AT_ONCE]
        off = (amounts[at : at + AT_ONCE] @ field).reshape(len(part), 2, -1)
        y = np.clip(home[0] + off[:, 0], 0, height - 1)
        x = np.clip(home[1] + off[:, 1], 0, width - 1)
        top, left = y.astype(np.int32), x.astype(np.int32)
        down, across = (y - top)[..., None], (x - left)[..., None]
        bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
        rows = np.arange(len(part))[:, None]
        upper = _between(part, rows, top * width + left, top * width + right, across)
        lower = _between(part, rows, bottom * width + left, bottom * width + right, across)
        found[at : at + AT_ONCE] = upper + down * (lower - upper)
    return found.reshape(images.shape)


def _between(
    part: NDArray[np.float32],
    rows: NDArray[np.int64],
    one: NDArray[np.int32],
    other: NDArray[np.int32],
    share: NDArray[np.float32],
) -> NDArray[np.float32]:
    first = part[rows, one]
    return np.asarray(first + share * (part[rows, other] - first), np.float32)
