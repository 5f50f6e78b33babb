"""Cosines and sines of many rows at many frequencies, as training needs them: quick on a CPU.

XLA's own cosine and sine cost more than the matrix product beside them, and a chain of complex
products over arrays larger than the caches is bound by memory.  So both come from one polynomial
pair, a derivative reuses them, and sums over frequencies are worked off in tiles that fit.
All of it is post-processing; nothing here sees a row, and no bound hangs on its rounding.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TILE = 140_000  # numbers of an array that caches hold beside a few others of its size
# pi / 2 in three parts: products of the first two with whole numbers below 2^12 are exact.
QUARTERS = (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8)
# Minimax on [-pi/4, pi/4] in z = x^2 (Cephes): (sin x - x) / x^3 and (cos x - 1 + z/2) / z^2.
SINE = (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
COSINE = (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)


@jax.custom_vjp
def cosine_sine(phases: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Both of float32 phases in radians, right to 1e-6 for phases up to some thousands.

    Examples:
        >>> cosine, sine = cosine_sine(jnp.array([0.0, jnp.pi / 3, -2.0]))
        >>> [round(float(each), 3) for each in cosine]
        [1.0, 0.5, -0.416]
    """
    x = jnp.asarray(phases, jnp.float32)
    quarter = jnp.round(x * np.float32(2 / math.pi))
    for part in QUARTERS:
        x = x - quarter * np.float32(part)
    z = x * x
    sine = x + x * z * _horner(z, SINE)
    cosine = 1 - np.float32(0.5) * z + z * z * _horner(z, COSINE)
    turn = quarter.astype(jnp.int32)
    odd = (turn & 1) == 1
    first, second = jnp.where(odd, sine, cosine), jnp.where(odd, cosine, sine)
    return (
        jnp.where(((turn + 1) & 2) == 0, first, -first),
        jnp.where((turn & 2) == 0, second, -second),
    )


def _horner(z: Any, coefficients: tuple[float, ...]) -> Any:
    found = jnp.full_like(z, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = np.float32(coefficient) + z * found
    return found


def _pair(phases: Any) -> tuple[Any, Any]:
    # Kept: a compiler that fuses the polynomials into all their uses computes them at each.
    both = jax.lax.optimization_barrier(cosine_sine(phases))
    return both, both


def _pair_slope(both: Any, slopes: Any) -> tuple[Any]:
    (cosine, sine), (by_cosine, by_sine) = both, slopes
    return (by_sine * cosine - by_cosine * sine,)


cosine_sine.defvjp(_pair, _pair_slope)


@jax.custom_vjp
def times_mean(real: Any, imaginary: Any, chances: Any, waves: Any) -> tuple[Any, Any]:
    """(real + i imaginary) times sum_a p_a exp(i t_a), over rows and frequencies.

    Args:
        real: (..., count).
        imaginary: likewise.
        chances: p of each value, (..., values).
        waves: cosines, then sines, of each value's phases t, (values, 2 count): one product with
            both is half the work of two.
    """
    a, b = jnp.split(chances @ waves, 2, axis=-1)
    return real * a - imaginary * b, real * b + imaginary * a


def _product(real: Any, imaginary: Any, chances: Any, waves: Any) -> tuple[Any, Any]:
    mean = chances @ waves
    a, b = jnp.split(mean, 2, axis=-1)
    found = (real * a - imaginary * b, real * b + imaginary * a)
    # Kept, as the pair above is.
    return jax.lax.optimization_barrier(found), (real, imaginary, chances, waves, mean)


def _product_slope(kept: Any, slopes: Any) -> Any:
    (real, imaginary, chances, waves, mean), (x, y) = kept, slopes
    a, b = jnp.split(mean, 2, axis=-1)
    by_mean = jnp.concatenate([x * real + y * imaginary, y * real - x * imaginary], axis=-1)
    before = jax.lax.optimization_barrier((x * a + y * b, y * a - x * b))
    by_waves = jnp.einsum("...a,...f->af", chances, by_mean)
    return (*before, by_mean @ waves.T, by_waves)


times_mean.defvjp(_product, _product_slope)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def sum_of_tiles(part: Callable[[Any, Any, Any], Any], shared: Any, own: Any, fixed: Any) -> Any:
    """sum_k part(shared, own[k], fixed[k]), with slopes by `shared` and `own`, none by `fixed`.

    A tile's slope is taken together with its value, so that nothing of it outlives the tile.
    """
    if len(jax.tree.leaves(fixed)[0]) == 1:
        return part(shared, *_single((own, fixed)))

    def one(total: Any, tile: Any) -> tuple[Any, None]:
        return total + part(shared, *tile), None

    return jax.lax.scan(one, jnp.zeros(()), (own, fixed))[0]


def _tiles(part: Callable[[Any, Any, Any], Any], shared: Any, own: Any, fixed: Any) -> Any:
    slopes = jax.value_and_grad(part, argnums=(0, 1))
    if len(jax.tree.leaves(fixed)[0]) == 1:
        value, (by_shared, by_own) = slopes(shared, *_single((own, fixed)))
        return value, (by_shared, jax.tree.map(lambda v: v[None], by_own), fixed)

    def one(total: Any, tile: Any) -> tuple[Any, Any]:
        value, (by_shared, by_own) = slopes(shared, *tile)
        return jax.tree.map(jnp.add, total, (value, by_shared)), by_own

    none = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, shared))
    (value, by_shared), by_own = jax.lax.scan(one, none, (own, fixed))
    return value, (by_shared, by_own, fixed)


def _tiles_slope(part: Any, found: Any, slope: Any) -> tuple[Any, Any, Any]:
    by_shared, by_own, fixed = found
    scaled = jax.tree.map(lambda v: slope * v, (by_shared, by_own))
    return (*scaled, jax.tree.map(jnp.zeros_like, fixed))


sum_of_tiles.defvjp(_tiles, _tiles_slope)


def tiles(values: Any, rows: int) -> Any:
    """Arrays (width, ...) as tiles (number, part of the width, ...), filled up with zeros.

    A tile has so many frequencies that arrays of as many columns and `rows` rows fit into caches.

    Examples:
        >>> tiles(jnp.ones((1000, 3)), 1100).shape
        (8, 125, 3)
    """
    width = len(jax.tree.leaves(values)[0])
    number = max(-(-width // max(TILE // rows, 8)), 1)
    each = -(-width // number)

    def cut(value: Any) -> Any:
        padding = ((0, number * each - width), *((0, 0),) * (value.ndim - 1))
        return jnp.pad(value, padding).reshape(number, each, *value.shape[1:])

    return jax.tree.map(cut, values)


def _single(tiled: Any) -> Any:
    return jax.tree.map(lambda v: v[0], tiled)
