"""Poisson batches at a cost that grows with the batch and not with the table.

Every row joins by itself with probability p = threshold / 2^32.  Where there are few rows each gets
32 random bits (`every_row`).  Where there are many, hits are thrown instead (`by_hits`): a Poisson
number of them, each at a place drawn uniformly from N = 2^m >= rows, and a row joins if it was hit.

Law:
    if K ~ Poisson(N r) hits fall independently and uniformly on N places, the places' numbers of
    hits are independent and Poisson(r) each (docs/privacy.md, section 5).  With r = -ln(1 - p) a
    place is hit with probability 1 - exp(-r) = p, independently of all others.  Places beyond the
    rows are nobody's.  So nothing has to be distinct, nothing is drawn again, and only K is not
    exact: see `hit_weights`.
"""

from __future__ import annotations

import decimal
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.vault.integers import WORD_BITS, draw_places, packed_table
from nacre.vault.noise import secret_bits

ODDS_BITS = 32
TAIL = decimal.Decimal("1e-24")  # on either side, of the weight of the likeliest number of hits
WORTHWHILE = 16  # times as many rows as there can be hits: below, `every_row` is as quick


def draw_batch(keys: Any, valid: Any, threshold: int) -> tuple[Any, Any]:
    """The places of the valid rows of one Poisson batch, and how many they are.

    Releases:
        nothing; the batch stays in the vault.

    Law:
        each valid row is in it with probability threshold / 2^32, independently, up to a total
        variation below `integers.DISTANCE`, which `leftover_delta` charges.

    Public:
        threshold.  How many rows there are decides shapes, and so the time it takes.

    Args:
        keys: two secret keys, used for nothing else.
        valid: which rows count.
        threshold: a row joins with probability threshold / 2^32.

    Returns:
        Distinct places in ascending order, then `len(valid)` wherever there is none.
    """
    draw = by_hits if has_many(len(valid), threshold) else every_row
    return draw(keys, valid, threshold)


def has_many(rows: int, threshold: int) -> bool:
    """Whether there are so many rows for the rate that throwing hits is the quicker way."""
    bits = place_bits(rows)
    # Without a table where already the mean is too large: it would be a large one.
    if bits > ODDS_BITS or (WORTHWHILE * threshold << bits) > (rows << ODDS_BITS):
        return False
    return WORTHWHILE * most_hits(bits, threshold) <= rows


def every_row(keys: Any, valid: Any, threshold: int) -> tuple[Any, Any]:
    """32 random bits for each row: exact."""
    import jax.numpy as jnp

    chosen = secret_bits(keys, valid.shape, jnp.uint32) < jnp.uint32(threshold)
    (places,) = jnp.nonzero(chosen & valid, size=len(valid), fill_value=len(valid))
    return places, jnp.sum(chosen & valid)


def by_hits(keys: Any, valid: Any, threshold: int) -> tuple[Any, Any]:
    """A Poisson number of hits at uniform places; of rows that were hit twice one is kept."""
    import jax.numpy as jnp

    rows, bits = len(valid), place_bits(len(valid))
    table, first = _hits_table(bits, threshold)
    most = most_hits(bits, threshold)
    words = secret_bits(keys, (5 + most,), jnp.uint32)
    head = words[1:5].astype(jnp.uint64)
    number = first + draw_places(table, words[0], lambda: (head[::2] << 32) | head[1::2])
    # A hit that was not thrown, or past the last row, is at a place that no row has.
    drawn = (words[5:] >> (ODDS_BITS - bits)).astype(jnp.int64)
    places = jnp.sort(jnp.where(jnp.arange(most) < number, jnp.minimum(drawn, rows), rows))
    again = jnp.concatenate([jnp.zeros(1, bool), places[1:] == places[:-1]])
    counts = (places < rows) & valid[jnp.minimum(places, rows - 1)]
    keep = counts & ~again
    return jnp.sort(jnp.where(keep, places, rows)), jnp.sum(keep)


def place_bits(rows: int) -> int:
    """m of the smallest 2^m places that hold `rows`."""
    return max(rows - 1, 0).bit_length()


def most_hits(bits: int, threshold: int) -> int:
    """More hits than this are never thrown: what shapes are made for."""
    first, weights = hit_weights(bits, threshold)
    return first + len(weights) - 1


@functools.cache
def hit_weights(bits: int, threshold: int) -> tuple[int, tuple[int, ...]]:
    """The law of the number of hits on 2^bits places, from `first` on, in units of 2^-128.

    Poisson(-2^bits ln(1 - threshold / 2^32)) to 80 digits, cut off on either side where a geometric
    series bounds the rest by `TAIL` of the largest weight, and normalized: a distance of at most
    2 TAIL.  Rounding moves each weight by at most half a unit, and what is left over goes to the
    likeliest: another 2^-128 for each of them, at most.
    """
    with decimal.localcontext() as context:
        context.prec = 80
        chance = decimal.Decimal(threshold) / 2**ODDS_BITS
        mean = -(1 - chance).ln() * 2**bits
        mode = int(mean)
        # P(k + 1) / P(k) = mean / (k + 1) falls with k, and so does P(k - 1) / P(k) as k falls.
        upper = _until_tail(lambda k: mean / (mode + k + 1))
        lower = _until_tail(lambda k: (mode - k) / mean) if mode else []
        masses, first = [*reversed(lower), decimal.Decimal(1), *upper], mode - len(lower)
        total = sum(masses)
        weights = [int((mass / total * 2**WORD_BITS).to_integral_value()) for mass in masses]
    weights[mode - first] += 2**WORD_BITS - sum(weights)
    return first, tuple(weights)


def _until_tail(ratio: Callable[[int], decimal.Decimal]) -> list[decimal.Decimal]:
    """Weights beside a weight of 1, by falling ratios, as long as more than `TAIL` is left."""
    found: list[decimal.Decimal] = []
    mass, step = decimal.Decimal(1), ratio(0)
    while step >= 1 or mass * step / (1 - step) > TAIL:
        mass *= step
        found.append(mass)
        step = ratio(len(found))
    return found


@functools.cache
def _hits_table(bits: int, threshold: int) -> tuple[NDArray[np.uint64], int]:
    first, weights = hit_weights(bits, threshold)
    size = max(2, 1 << (len(weights) - 1).bit_length())
    return packed_table((*weights, *[0] * (size - len(weights)))), first
