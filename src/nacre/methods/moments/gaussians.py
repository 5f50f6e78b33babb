"""From noisy sums to a Gaussian for each class: directions, whitening, shrinkage."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.embed.cosines import cosine_basis, cosine_frequencies
from nacre.methods.moments.shrinkage import (
    Groups,
    believed,
    leading,
    pairs_of_cosines,
    pairs_of_directions,
    shrunk,
)

if TYPE_CHECKING:
    from nacre.methods.moments.moments import Moments
    from nacre.vault import Sum, Sums, Vault

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
    pairs = pairs_of_cosines(cosine_frequencies(shape, method.coefficients))
    frame, spectrum = _frame(sums, total, pairs, method)

    def places(row: Any) -> Any:
        norm, direction = residual(row)
        z = norm * (direction @ frame)
        z = z / jnp.maximum(1.0, jnp.sqrt(jnp.sum(z * z)))
        return Products(z, z[None], z[None])

    sums = vault.sum(moment_question, places, through=view)
    counts, means, factors = _by_class(sums, total, spectrum)
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

    So the noise there is 1/sqrt(2) of that on the diagonal, as `halved` has it.
    """
    found = values.reshape(*values.shape[:-1], size, size)
    return np.asarray((found + np.swapaxes(found, -1, -2)) / 2)


def halved(size: int) -> NDArray[np.float64]:
    """The noise of `square`, over that of one answer."""
    return np.where(np.eye(size, dtype=bool), 1.0, math.sqrt(0.5))


def _frame(
    sums: Sums, total: float, pairs: Groups, method: Moments
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """From a weighted residual to its places along the directions, and how these should vary.

    The products off the diagonal are shrunk first: noise alone would hide most directions.

    Returns:
        A matrix (cosines, directions), and the variance of all images' places along each.
    """
    values, size = sums.values[0] / total, len(pairs)
    norm = max(values[0], 0.02) * LONGEST
    noise = sums.noise[1] / total * halved(size)
    found = square(values[1:], size)
    part = np.where(np.eye(size, dtype=bool), 1.0, believed(found, noise, pairs))
    vectors, variances = leading(part * found, part * noise, min(method.components, size))
    spectrum = variances ** (1 - 2 * method.whitening)
    scale = np.sqrt(spectrum / variances / spectrum.sum()) / (method.radius * norm)
    return np.asarray(vectors * scale, np.float32), spectrum / spectrum.sum()


def _by_class(
    sums: Sums, total: float, spectrum: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Counts, means and factors of covariances.

    All images together have no correlations between directions: so these were chosen.  The
    covariance within classes is shrunk towards what the means leave of that, and the covariance of
    a class towards the one within classes.
    """
    size = len(spectrum)
    counts = np.maximum(np.asarray(sums.counts, np.float64), RAREST * total)
    chances = counts / counts.sum()
    first, second = (noise / counts for noise in sums.noise)
    pairs = pairs_of_directions(size)
    bands = np.broadcast_to(np.diag(pairs), (len(counts), size))
    means = shrunk(sums.values[:, :size] / counts[:, None], first[:, None], bands)
    moments = square(sums.values[:, size:], size) / counts[:, None, None]
    own = moments - np.einsum("ci,cj->cij", means, means)
    pooled = np.einsum("c,cij->ij", chances, own)
    between = np.einsum("c,ci,cj->ij", chances, means, means)
    whole = np.diag(spectrum) * np.trace(pooled + between) / spectrum.sum()
    spread = math.sqrt(float(np.sum((chances * second) ** 2)))
    pool = positive(
        whole - between + shrunk(pooled + between - whole, spread * halved(size), pairs), 1e-9
    )
    floor = FLOOR * np.trace(pool) / size
    factors = []
    for mine, noise in zip(own, second, strict=True):
        found = pool + shrunk(mine - pool, noise * halved(size), pairs)
        factors.append(np.linalg.cholesky(positive(found, max(floor, 1e-9))))
    return counts, means, np.stack(factors)


def positive(matrix: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """The nearest symmetric matrix without an eigenvalue below `floor`."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)
