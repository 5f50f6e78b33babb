"""Gaussian kernels as functions: what a function in their space is at points, and how steep.

For the kernel k the functionals h = k(w, .) and h = d_a k(w, .) read the value and the slope of a
function at w: <f, k(w, .)> = f(w) and <f, d_a k(w, .)> = d_a f(w).  Their inner products with each
other are the covariances of a Gaussian process with the kernel k and of its slopes.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, final

JITTER = 1e-4  # on the diagonal of a Gram matrix whose diagonal is one; float32 needs as much


@final
@dataclasses.dataclass(frozen=True)
class GaussianKernels:
    """The mean of exp(-|x - w|^2 / 2 h^2) over public bandwidths h; k(x, x) = 1.

    Slopes are in units of `unit`, so that every functional has norm one.
    """

    bandwidths: tuple[float, ...]

    @property
    def unit(self) -> float:
        """One over the norm of d_a k(w, .): the root of the mean of 1 / h^2, upside down."""
        return 1 / math.sqrt(math.fsum(h**-2 for h in self.bandwidths) / len(self.bandwidths))

    def __call__(self, x: Any, w: Any) -> Any:
        """K of two rows (d,)."""
        import jax.numpy as jnp

        square = jnp.sum((x - w) ** 2)
        return sum(jnp.exp(-0.5 * square / h**2) for h in self.bandwidths) / len(self.bandwidths)

    def statistics(self, points: Any, x: Any) -> Any:
        """The functionals of k(x, .) at the points (m, d): m values, then m d slopes.

        Sensitivity:
            with the Gram matrix V of the functionals, |V^(-1/2) statistics(x)| <= 1 for every x and
            all points: its square is that of the projection of k(x, .) on the functionals' span,
            and k(x, .) has norm k(x, x)^(1/2) = 1.  It is 1 at x = w.
        """
        import jax.numpy as jnp

        away = x - points
        square = jnp.sum(away**2, axis=1)
        parts = [(jnp.exp(-0.5 * square / h**2), h**-2) for h in self.bandwidths]
        values = jnp.stack([k for k, _ in parts]).mean(0)
        steep = self.unit * jnp.stack([k * inverse for k, inverse in parts]).mean(0)
        return jnp.concatenate([values, (steep[:, None] * away).reshape(-1)])

    def gram(self, points: Any) -> Any:
        """V, in the order of `statistics`.

        With r = w_i - w_j the mean over bandwidths of k; k r_b / h^2; and
        (k / h^2) (delta_ab - r_a r_b / h^2).
        """
        import jax.numpy as jnp

        m, d = points.shape
        r = points[:, None] - points[None]
        square = jnp.sum(r**2, axis=2)
        value, mixed = jnp.zeros((m, m)), jnp.zeros((m, m, d))
        slopes = jnp.zeros((m, m, d, d))
        for h in self.bandwidths:
            k = jnp.exp(-0.5 * square / h**2) / len(self.bandwidths)
            value += k
            mixed += k[:, :, None] * r / h**2
            bend = jnp.eye(d) - r[:, :, :, None] * r[:, :, None, :] / h**2
            slopes += (k / h**2)[:, :, None, None] * bend
        mixed = (self.unit * mixed).reshape(m, m * d)
        slopes = (self.unit**2 * slopes).transpose(0, 2, 1, 3).reshape(m * d, m * d)
        return jnp.block([[value, mixed], [mixed.T, slopes]])

    def roots(self, points: Any) -> tuple[Any, Any]:
        """L and its inverse, where L L' = V + jitter.

        Noise of covariance L L' is no less than noise of covariance V, so that a jitter is safe: it
        shortens L^(-1) statistics(x).  To drop small eigenvalues of V instead would not be: what a
        row has there would come out without noise.
        """
        import jax.numpy as jnp
        import jax.scipy.linalg as linalg

        gram = self.gram(points)
        eye = jnp.eye(len(gram), dtype=gram.dtype)
        lower = jnp.linalg.cholesky(gram + JITTER * eye)
        return lower, linalg.solve_triangular(lower, eye, lower=True)
