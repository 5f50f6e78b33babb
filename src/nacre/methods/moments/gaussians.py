"""From noisy sums to a Gaussian for each class: directions, whitening, shrinkage."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.embed.cosines import cosine_basis

if TYPE_CHECKING:
    from nacre.methods.moments.moments import Moments
    from nacre.vault import Sum, Sums, Vault

FEWEST = 8  # directions that are kept, however noisy they are
FLOOR = 0.02  # of the mean variance: no direction of a class is narrower
RAREST = 0.01  # share of a class below which it is not believed
LONGEST = 4.0  # weighted length of an image beyond which it does not count for the mean length


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Gaussians:
    """A Gaussian along a few directions for each class, and what these are in pixels.

    Attributes:
        counts: noisy numbers of images, (classes,).
        means: (classes, directions).
        factors: lower triangles of the covariances, (classes, directions, directions).
        directions: in pixels, (directions, pixels).
        base: the mean image, (pixels,).
    """

    counts: NDArray[np.float64]
    means: NDArray[np.float64]
    factors: NDArray[np.float64]
    directions: NDArray[np.float64]
    base: NDArray[np.float64]

    @property
    def total(self) -> float:
        """The noisy number of images."""
        return float(self.counts.sum())


def measure(method: Moments, vault: Vault, questions: Sequence[Sum]) -> Gaussians:
    """Ask for the mean, the directions and the class moments, and make Gaussians of them.

    Releases:
        the three sums of `Moments.questions`, which states their bounds; each later one sees rows
        through the noisy answers before it.

    Public:
        everything but the rows: basis, weights, and what earlier answers say.
    """
    import jax.numpy as jnp

    from nacre.vault.products import Products
    from nacre.vault.view import seen

    encoder: Any = vault.encoder
    shape = encoder.schema.shape
    basis, weights = cosine_basis(shape, method.coefficients, method.power)
    length = 0.5 * math.sqrt(math.prod(shape))  # the largest of pixels less a half

    def cosines(row: Any) -> Any:
        return ((encoder.units(row) - 0.5).reshape(-1) @ basis) / np.float32(length)

    view = vault.view(cosines)
    mean_question, direction_question, moment_question = questions
    sums = vault.sum(mean_question, seen, through=view)
    total = max(sums.total, 2.0)
    mean = (sums.values[0] / total).astype(np.float32)

    def residual(row: Any) -> tuple[Any, Any]:
        """Less the mean and weighted: its length, and its direction."""
        rest = (seen(row) - mean) * weights
        norm = jnp.sqrt(jnp.sum(rest * rest))
        return norm, rest / jnp.maximum(norm, 1e-9)

    def outer(row: Any) -> Any:
        norm, direction = residual(row)
        length = jnp.minimum(norm / LONGEST, 1.0)
        return Products(length[None], direction[None], direction[None])

    sums = vault.sum(direction_question, outer, through=view)
    frame = _frame(sums, total, len(weights), method)

    def places(row: Any) -> Any:
        norm, direction = residual(row)
        z = norm * (direction @ frame)
        z = z / jnp.maximum(1.0, jnp.sqrt(jnp.sum(z * z)))
        return Products(z, z[None], z[None])

    sums = vault.sum(moment_question, places, through=view)
    counts, means, factors = _by_class(sums, total, frame.shape[1])
    back = np.linalg.pinv(frame.astype(np.float64)) / weights  # (directions, cosines)
    return Gaussians(
        counts=counts,
        means=means,
        factors=factors,
        directions=length * back @ basis.T.astype(np.float64),
        base=0.5 + length * basis.astype(np.float64) @ mean.astype(np.float64),
    )


def square(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Symmetric matrices from noisy ones; off the diagonal there are two answers to each product.

    So the noise there is 1/sqrt(2) of that on the diagonal.
    """
    found = values.reshape(*values.shape[:-1], size, size)
    return np.asarray((found + np.swapaxes(found, -1, -2)) / 2)


def _frame(sums: Sums, total: float, size: int, method: Moments) -> NDArray[np.float32]:
    """From a weighted residual to its places along whitened directions, (size, components).

    Directions are kept if they stand out of what noise alone would show (its largest eigenvalue is
    2 s sqrt(size)); the others are zero.  Their eigenvalues lose what noise adds to them.
    """
    values = sums.values[0] / total
    norm = max(values[0], 0.02) * LONGEST
    noise = sums.noise[1] / total / math.sqrt(2)
    eigenvalues, vectors = np.linalg.eigh(square(values[1:], size))
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    most = min(method.components, size)
    edge = 2 * noise * math.sqrt(size)
    kept = min(most, max(FEWEST, int(np.count_nonzero(eigenvalues > edge))))
    seen = np.maximum(eigenvalues[:kept], 1e-4)
    variances = np.maximum(seen - noise**2 * size / seen, 0.3 * seen)
    scale = 1 / np.sqrt(variances * kept) / (method.radius * norm)
    frame = np.zeros((size, most), np.float32)
    frame[:, :kept] = vectors[:, :kept] * scale
    return frame


def _by_class(
    sums: Sums, total: float, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Counts, means and factors of covariances.

    A class's covariance is shrunk towards the correlations of all with its own variances, by as
    much of the difference as the noise explains (James and Stein).
    """
    counts = np.maximum(np.asarray(sums.counts, np.float64), RAREST * total)
    means = sums.values[:, :size] / counts[:, None]
    moments = square(sums.values[:, size:], size) / counts[:, None, None]
    first, second = (noise / counts for noise in sums.noise)
    own = moments - np.einsum("ci,cj->cij", means, means)
    own += np.eye(size) * first[:, None, None] ** 2  # the square of a noisy mean is too large
    pool = positive(np.einsum("c,cij->ij", counts / counts.sum(), own), 1e-9)
    floor = FLOOR * np.trace(pool) / size
    factors = []
    for mine, noise in zip(own, second, strict=True):
        ratio = np.clip(np.diag(mine) / np.maximum(np.diag(pool), 1e-9), 0.1, 10)
        prior = pool * np.sqrt(np.outer(ratio, ratio))
        apart = mine - prior
        explained = noise**2 * size * (size + 1) / 2 / max(float(np.sum(apart**2)), 1e-30)
        shrunk = prior + max(0.0, 1 - explained) * apart
        factors.append(np.linalg.cholesky(positive(shrunk, max(floor, 1e-9))))
    return counts, means, np.stack(factors)


def positive(matrix: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The nearest symmetric matrix without an eigenvalue below `floor`."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)
