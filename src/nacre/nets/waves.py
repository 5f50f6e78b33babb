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

TILE = 36_000  # numbers of an array that caches hold beside some dozens of its size
LEAST = 1e-10  # of a factor, far below what rounding leaves of it
# pi / 2 in three parts: products of the first two with whole numbers below 2^12 are exact.
QUARTERS = (1.5703125, 4.837512969970703e-4, 7.549789954891882e-8)
# Minimax on [-pi/4, pi/4] in z = x^2 (Cephes): (sin x - x) / x^3 and (cos x - 1 + z/2) / z^2.
SINE = (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4)
COSINE = (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5)


Parts = tuple[Any, list[Any]]  # numbers, and the chances of each block
Factors = tuple[Any, list[tuple[Any, Any]]]  # frequencies of numbers; cosines and sines of values


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
def expected_wave(parts: Parts, factors: Factors) -> tuple[Any, Any]:
    """exp(i t'numbers) times, for each block of values, sum_a p_a exp(i t_a): both its parts.

    The slope by a block's sum is what all others multiply to, which is had by division: a chain of
    products would be computed anew for each block, as the compiler keeps none of its links.

    Args:
        parts: numbers (..., places), and the chances p of each block (..., values).
        factors: frequencies of the numbers (places, count), and cosines and sines of the phases t
            of each block's values, (values, count) each.
    """
    return _wave(parts, factors)[0]


def _wave(parts: Parts, factors: Factors) -> tuple[Any, Any]:
    (numbers, chances), (frequencies, waves) = parts, factors
    (real, imaginary), means = cosine_sine(numbers @ frequencies), []
    for p, (cosine, sine) in zip(chances, waves, strict=True):
        a, b = p @ cosine, p @ sine
        # A factor that is lost in rounding anyway must not be zero, to be divided by.
        means.append((jnp.where(a * a + b * b < LEAST**2, np.float32(LEAST), a), b))
    for a, b in means:
        real, imaginary = real * a - imaginary * b, real * b + imaginary * a
    return (real, imaginary), means


def _wave_kept(parts: Parts, factors: Factors) -> tuple[Any, Any]:
    found, means = _wave(parts, factors)
    return found, (found, means, parts, factors)


def _wave_slope(kept: Any, slopes: Any) -> tuple[Any, Any]:
    (real, imaginary), means, (numbers, chances), (frequencies, waves) = kept
    x, y = slopes
    # The slope times the conjugate of the wave; over a factor's conjugate it is the factor's slope.
    along, across = x * real + y * imaginary, y * real - x * imaginary
    by_chances, by_waves = [], []
    for p, (a, b), (cosine, sine) in zip(chances, means, waves, strict=True):
        over = 1 / (a * a + b * b)
        by_a, by_b = (along * a - across * b) * over, (along * b + across * a) * over
        by_chances.append(by_a @ cosine.T + by_b @ sine.T)
        by_waves.append((_outer(by_a, p), _outer(by_b, p)))
    return (across @ frequencies.T, by_chances), (_outer(across, numbers), by_waves)


def _outer(slope: Any, values: Any) -> Any:
    return jnp.einsum("...f,...a->af", slope, values)


expected_wave.defvjp(_wave_kept, _wave_slope)


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
        (32, 32, 3)
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
