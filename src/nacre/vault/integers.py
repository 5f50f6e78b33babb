"""Discrete Gaussian noise inside a compiled loop: integers only, from one table of 4,096 entries.

A narrow discrete Gaussian is drawn by the alias method (Walker, 1977) from 128 random bits, with
probabilities that are whole multiples of 2^-128; the first 32 decide unless they tie.  Two of them,
one stretched, add up to a wider one (Micciancio and Walter, 2017), and two of those to the one that
is used: four short words a number, no floating point.  The width is always `SCALE`; callers choose
the unit of their sums to match.

Law:
    for x, y ~ N_Z(0, s^2) and a whole number c, x + c y has the law N_Z(0, s^2 (1 + c^2)) up to a
    factor within 1 +- 7 exp(-2 pi^2 s^2 / (1 + c^2)) at every integer (docs/privacy.md, section
    5).  Here that is below 1e-24 both times.
"""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.vault.noise import secret_bits

TABLE_BITS = 12
WORD_BITS = 128  # of randomness for each draw from the table
NARROW = 200  # standard deviation of the table's law, which ends at 10.24 of them
STRETCH = (115, 13_200)  # s / sqrt(1 + c^2) is 1.739 for the first, 1.742 for the second
SCALE = NARROW * math.sqrt((1 + STRETCH[0] ** 2) * (1 + STRETCH[1] ** 2))  # about 2^28.2

# Total variation between what is drawn and N_Z(0, SCALE^2), a number: four times the table's
# (computed in the tests: 1.4e-24 each, all of it beyond its end), and less for the two sums.
# A batch is drawn no further from its law (`poisson.hit_weights`).
DISTANCE = 7e-24
TAIL = 900.0  # the proof leaves out events of chance exp(-TAIL)


def discrete_gaussian(keys: Any, size: int) -> Any:
    """`size` independent integers from N_Z(0, SCALE^2), as int64.  Needs 64-bit numbers enabled."""
    import jax
    import jax.numpy as jnp

    first_keys, more_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    # Two 64-bit numbers make four words: the generator's blocks are of 64 bits.
    pairs = secret_bits(first_keys, (2, size), jnp.uint64)
    words = jnp.concatenate([pairs >> 32, pairs]).astype(jnp.uint32)
    x = draw_places(
        packed_table(narrow_weights()),
        words,
        lambda: secret_bits(more_keys, (2, *words.shape), jnp.uint64),
    )
    x = x - 2 ** (TABLE_BITS - 1)
    first, second = STRETCH
    # Up to 2^12 (1 + 115) fits into 32 bits.
    low, high = ((x[place] + first * x[place + 1]).astype(jnp.int64) for place in (0, 2))
    return low + second * high


def draw_places(table: NDArray[np.uint64], words: Any, more: Callable[[], Any]) -> Any:
    """Places in a `packed_table`, one for each of `words`, with its weights' probabilities exactly.

    The first 32 bits of a draw, `words`, decide it unless they meet a threshold's own leading bits.
    Only then are the others made, by `more()`: two arrays of 64 for each word, of which 96 count.
    How often that happens has nothing to do with the rows.
    """
    import jax
    import jax.numpy as jnp

    bits = table.shape[1].bit_length() - 1
    coarse, fine, finest = jnp.asarray(table)
    coarse = coarse.astype(jnp.uint32)
    bucket = (words >> (32 - bits)).astype(jnp.int32)
    entry = coarse.at[bucket].get(mode="promise_in_bounds")
    alias = entry & (2**bits - 1)
    point, threshold = words << bits, entry - alias
    below, tie = point < threshold, point == threshold

    def resolved() -> Any:
        second, third = more()
        less = second < fine[bucket]
        less |= (second == fine[bucket]) & (third < finest[bucket])
        return below | (tie & less)

    own = jax.lax.cond(jnp.any(tie), resolved, lambda: below)
    return jnp.where(own, bucket, alias.astype(jnp.int32))


def leftover_delta(size: int, steps: int) -> float:
    """How far `steps` noisy sums of `size` numbers are from ideal ones, together.

    Ideal are discrete Gaussians on Poisson batches; a step's batch counts as one number more.

    Theorem (docs/privacy.md, section 5): if with real Gaussian noise the steps would be
    (epsilon, delta)-private, then as they are drawn they are (e, d)-private with
        e = epsilon + leftover_epsilon(size, steps)
        d = exp(leftover_epsilon) delta + (1 + exp(e)) leftover_delta(size, steps).
    Total variation adds up over independent numbers and over adaptive steps, and what is computed
    from the sums afterwards cannot increase it.
    """
    return (size + 1) * steps * DISTANCE


def leftover_epsilon(size: int, steps: int) -> float:
    """What `steps` discrete Gaussian sums of `size` numbers cost beyond real Gaussian ones.

    By the lemma of docs/privacy.md, section 4: a + c <= D / 24 s^2 + rho^2 / 8 s^4 a step, with
    rho <= s (sqrt(2 D + 3 t) + sqrt(D) / 2 s), at s = SCALE and t = TAIL.
    """
    reach = math.sqrt(2 * size + 3 * TAIL) + 0.5 * math.sqrt(size) / SCALE
    return steps * (size / 24 + reach**2 / 8) / SCALE**2 * (1 + 1e-9)


@functools.cache
def narrow_weights() -> tuple[int, ...]:
    """The table's law in units of 2^-128: N_Z(0, NARROW^2) rounded, and the rest at zero."""
    half = 2 ** (TABLE_BITS - 1)
    with decimal.localcontext() as context:
        context.prec = 80
        square = decimal.Decimal(2 * NARROW**2)
        masses = [(-decimal.Decimal(x * x) / square).exp() for x in range(half + 1)]
        total = masses[0] + 2 * sum(masses[1:])
        weights = [int((mass / total * 2**WORD_BITS).to_integral_value()) for mass in masses]
    # The last entry of the negative side has no partner in a table of even length.
    side = weights[1:half]
    outer = weights[half]
    return (outer, *reversed(side), 2**WORD_BITS - outer - 2 * sum(side), *side)


def alias_table(weights: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Walker's thresholds and aliases: exact, as the weights add up to a multiple of their number.

    Of the `capacity` equal chances of a bucket the first `threshold` are the bucket's own and the
    rest are its alias's.
    """
    number = len(weights)
    capacity, left = divmod(sum(weights), number)
    if left:
        raise ValueError("The weights must add up to a multiple of their number.")
    own, alias = list(weights), list(range(number))
    small = [place for place in range(number) if own[place] < capacity]
    large = [place for place in range(number) if own[place] > capacity]
    while small:
        place, donor = small.pop(), large[-1]
        alias[place] = donor
        own[donor] -= capacity - own[place]
        if own[donor] <= capacity:
            large.pop()
            if own[donor] < capacity:
                small.append(donor)
    return own, alias


@functools.cache
def packed_table(weights: tuple[int, ...]) -> NDArray[np.uint64]:
    """Of each bucket: 32 bits, its threshold's leading ones and its alias; then 64; then the rest.

    The weights add up to 2^128 and their number is 2^bits, so that a threshold has 128 - bits bits:
    32 - bits beside the alias, 64 in the second word, and 32 at the upper end of the third.
    """
    bits = len(weights).bit_length() - 1
    if len(weights) != 2**bits or not 1 <= bits < 32 or sum(weights) != 2**WORD_BITS:
        raise ValueError("A table has 2, 4, 8, ... weights that add up to 2^128.")
    thresholds, aliases = alias_table(weights)
    # A full bucket has itself as its alias, so that its threshold does not matter.
    cut = [threshold % 2 ** (WORD_BITS - bits) for threshold in thresholds]
    words = [
        [t >> 96 << bits | alias for t, alias in zip(cut, aliases, strict=True)],
        [t >> 32 & (2**64 - 1) for t in cut],
        [(t & (2**32 - 1)) << 32 for t in cut],
    ]
    return np.array(words, np.uint64)
