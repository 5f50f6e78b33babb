"""Noise: the exact discrete Gaussian of one-shot sums, and secret keys from the operating system.

Nothing here takes a seed.  A user's `seed` decides public randomness only; noise that somebody
could draw again is no noise at all.  What `train` adds inside its compiled loop is drawn by
`nacre.vault.integers` from the bits of `secret_bits`.
"""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

GRID_BITS = 16
LARGEST = 1 << 62


def grid_bits(noise: float, size: int) -> int:
    """How many binary places below one unit the released grid lies.

    The noise must be at least 2^16 sqrt(size) grid steps: then the discrete Gaussian differs from
    the rounded Gaussian by less than the slack that the accountant charges (docs/privacy.md).
    Where there is no noise, any grid will do.
    """
    if not noise:
        return 0
    return max(0, math.ceil(math.log2(2**GRID_BITS * math.sqrt(size) / noise)))


def add_discrete_gaussian(sums: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    """Add discrete Gaussian noise of parameter `scale` to each integer, exactly (OpenDP).

    A scale of zero adds none: for answers that promise nothing.

    Releases:
        sums + N_Z(0, scale^2), independent in each place.

    Guarantee:
        Canonne, Kamath and Steinke (2020); the sampler is exact on the bits of OpenSSL's generator,
        which the system seeds: computational in that sense.

    Public:
        scale, the number of values.
    """
    # An error here would depend on the rows; a clamp moves no two tables further apart.
    flat = [int(value) for value in np.clip(sums, -LARGEST, LARGEST).reshape(-1)]
    parts = [flat[i : i + 4096] for i in range(0, len(flat), 4096)]
    measurement = _measurement(scale)
    with ThreadPoolExecutor(max_workers=2) as pool:
        noisy = [value for part in pool.map(measurement, parts) for value in part]
    return np.asarray(noisy, np.int64).reshape(sums.shape)


def system_key() -> Any:
    """Two fresh 64-bit JAX keys from the operating system; they never leave the vault."""
    import jax

    words = np.frombuffer(secrets.token_bytes(16), np.uint32).reshape(2, 2)
    with on_cpu():
        return jax.random.wrap_key_data(jax.numpy.asarray(words), impl="threefry2x32")


def secret_bits(keys: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Random bits from two keys: each stream hides the other, so both keys would have to be found.

    Args:
        keys: two keys, as `system_key` makes them or `jax.random.fold_in` derives them.
        shape: of the answer.
        dtype: an unsigned integer type.
    """
    import jax

    return jax.random.bits(keys[0], shape, dtype) ^ jax.random.bits(keys[1], shape, dtype)


@contextlib.contextmanager
def on_cpu() -> Iterator[None]:
    """Keep the vault's arithmetic on the CPU, for which its exactness is argued and tested."""
    import jax

    with jax.default_device(jax.devices("cpu")[0]):
        yield


def _measurement(scale: float) -> Any:
    # Not `opendp.prelude`, which would import scikit-learn.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale)
