"""Cosines and sines of random projections of a row's code, in integers, with their exact bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

WIDTHS = 8.0  # the highest scale of a frequency over the lowest


@final
class CodeFeatures:
    """Fixed-point cosine and sine of <t_j, e> for the code e of one row: integers, 2k of them.

    Sensitivity:
        `embed.fourier.feature_norm(k)`: whatever the code is, a phase ends as one of 2^16, and a
        pair of any of these has norm at most `pair_norm()`.

    Attributes:
        matrix: public frequencies (blocks, width, code), radians.
        encode: a function of one row, its code.
    """

    def __init__(self, matrix: NDArray[np.float64], encode: Callable[[Any], Any]):
        self.matrix, self.encode = matrix, encode

    @property
    def count(self) -> int:
        """How many frequencies there are."""
        return self.matrix.shape[0] * self.matrix.shape[1]

    def __call__(self, row: Any) -> Any:
        """The features of one row, sines first."""
        import jax.numpy as jnp

        from nacre.exact import TURN_BITS, sine_cosine

        flat = self.matrix.reshape(self.count, -1) / (2 * math.pi)
        turns = flat.astype(np.float32) @ self.encode(row)
        part = turns - jnp.floor(turns)  # a code may be anything; a turn is in [0, 1]
        return jnp.concatenate(sine_cosine((part * (1 << TURN_BITS)).astype(jnp.int32)))


def code_frequencies(
    *,
    blocks: int,
    width: int,
    code: int,
    scale: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """t ~ N(0, s^2) in each place of the code, with s log-uniform from `scale` to 8 times it.

    How far codes are apart is only guessed, and several Gaussian kernels at once see both whole
    classes and what differs within them.
    """
    scales = scale * WIDTHS ** rng.random((blocks, width, 1))
    return np.asarray(rng.normal(size=(blocks, width, code)) * scales, np.float64)
