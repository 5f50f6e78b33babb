"""The integer noise of training: its table, its law, and the lemma that lets widths add up."""

import decimal
import math
from decimal import Decimal

import jax
import numpy as np
import pytest
from scipy.stats import chisquare, norm

from nacre.vault.integers import (
    DISTANCE,
    NARROW,
    SCALE,
    STRETCH,
    TABLE_BITS,
    WORD_BITS,
    alias_table,
    discrete_gaussian,
    draw_places,
    leftover_delta,
    leftover_epsilon,
    narrow_weights,
    packed_table,
)


def test_the_table_is_as_close_to_a_discrete_gaussian_as_is_charged():
    weights, half = narrow_weights(), 2 ** (TABLE_BITS - 1)
    assert len(weights) == 2 * half and sum(weights) == 2**WORD_BITS
    with decimal.localcontext() as context:
        context.prec = 80
        masses = [(-Decimal(x * x) / (2 * NARROW**2)).exp() for x in range(20 * NARROW)]
        total = masses[0] + 2 * sum(masses[1:])
        inside = sum(
            abs(Decimal(weights[x + half]) / 2**WORD_BITS - masses[abs(x)] / total)
            for x in range(-half, half)
        )
        outside = (masses[half] + 2 * sum(masses[half + 1 :])) / total
    distance = float(inside + outside) / 2
    assert 1.2e-24 < distance < 1.6e-24
    # Four draws, and what the three sums and events of chance exp(-900) can add.
    wide = NARROW * math.sqrt(1 + STRETCH[0] ** 2)
    first = 7 * math.exp(-2 * math.pi**2 * NARROW**2 / (1 + STRETCH[0] ** 2))
    second = 7 * math.exp(-2 * math.pi**2 * wide**2 / (1 + STRETCH[1] ** 2))
    assert 4 * distance + 2 * first + second < DISTANCE


def test_words_hold_the_whole_thresholds():
    own, alias = alias_table(narrow_weights())
    packed, full = packed_table(narrow_weights()), 2 ** (WORD_BITS - TABLE_BITS)
    for place, (word, fine, finest) in enumerate(packed.T.tolist()):
        assert word < 2**32 and word & (2**TABLE_BITS - 1) == alias[place]
        assert (word >> TABLE_BITS << 96 | fine << 32 | finest >> 32) == own[place] % full


def test_ties_are_decided_by_the_other_bits():
    # 4 weights that need all 128 bits; every word at a threshold, one step below and above it.
    third = 2**WORD_BITS // 3
    weights = (third, third, third + 1, 0)
    own, alias = alias_table(weights)
    table, edges, wanted = packed_table(weights), [], []
    for bucket, (threshold, other) in enumerate(zip(own, alias, strict=True)):
        for bits in (threshold - 2**32, threshold - 1, threshold, threshold + 1, threshold + 2**32):
            if 0 <= bits < 2**126:
                edges.append(bucket << 126 | bits)
                wanted.append(bucket if bits < threshold else other)
    assert len(edges) >= 12
    words = np.array([edge >> 96 for edge in edges], np.uint32)
    more = (
        [edge >> 32 & (2**64 - 1) for edge in edges],
        [(edge << 32) & (2**64 - 1) for edge in edges],
    )
    with jax.enable_x64(True):
        rest = np.array(more, np.uint64)
        found = draw_places(table, jax.numpy.asarray(words), lambda: jax.numpy.asarray(rest))
    assert found.tolist() == wanted


@pytest.mark.parametrize("weights", [(2**128,), (1, 2**128), (2**127, 2**126, 2**126)])
def test_tables_of_the_wrong_form_are_refused(weights):
    with pytest.raises(ValueError):
        packed_table(weights)


def test_walkers_table_draws_just_the_weights():
    weights = narrow_weights()
    own, alias = alias_table(weights)
    capacity = 2 ** (WORD_BITS - TABLE_BITS)
    drawn = [0] * len(weights)
    for place, threshold in enumerate(own):
        assert 0 <= threshold <= capacity
        assert threshold < capacity or alias[place] == place
        drawn[place] += threshold
        drawn[alias[place]] += capacity - threshold
    assert tuple(drawn) == weights
    with pytest.raises(ValueError):
        alias_table((1, 2, 4))


@pytest.mark.parametrize(("narrow", "stretch"), [(7, 4), (10, 10), (6, 5)])
def test_two_widths_add_up_within_the_lemma(narrow, stretch):
    """By summing: coarser than the real ones, so that the error can be seen at all."""
    reach = 12 * narrow
    base = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * narrow**2))
    base /= base.sum()
    spread = np.zeros(2 * reach * stretch + 1)
    spread[::stretch] = base
    law = np.convolve(base, spread)
    k = np.arange(len(law)) - (len(law) - 1) // 2
    square = narrow**2 * (1 + stretch**2)
    wanted = np.exp(-(k**2) / (2 * square))
    wanted /= wanted.sum()
    near = np.abs(k) < 5 * math.sqrt(square)
    error = np.abs(law[near] / wanted[near] - 1).max()
    limit = 7 * math.exp(-2 * math.pi**2 * narrow**2 / (1 + stretch**2))
    assert error < limit + 1e-9
    if limit > 1e-8:
        assert error > limit / 10  # the lemma says something


def test_the_lemma_holds_with_room_for_the_widths_in_use():
    width = float(NARROW)
    for stretch in STRETCH:
        assert 7 * math.exp(-2 * math.pi**2 * width**2 / (1 + stretch**2)) < 1e-24
        width *= math.sqrt(1 + stretch**2)
    assert width == pytest.approx(SCALE, rel=1e-12)


@pytest.fixture(scope="module")
def drawn():
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(11))
        return np.asarray(jax.jit(discrete_gaussian, static_argnums=1)(keys, 200_000))


def test_what_is_drawn_is_gaussian_with_the_declared_scale(drawn):
    assert drawn.dtype == np.int64
    assert drawn.std() / SCALE == pytest.approx(1, abs=5 / math.sqrt(2 * len(drawn)))
    assert abs(drawn.mean()) < 5 * SCALE / math.sqrt(len(drawn))
    found, _ = np.histogram(norm.cdf(drawn / SCALE), bins=100, range=(0, 1))
    assert chisquare(found).pvalue > 1e-6
    tails = (np.abs(drawn) > 3 * SCALE).sum()
    assert tails == pytest.approx(2 * norm.sf(3) * len(drawn), rel=0.25)


def test_every_residue_can_come_out(drawn):
    # A grid that were coarser than it says would leave some out: that is told apart for sure.
    for modulus in (2, 7, 16, STRETCH[0], 2 * STRETCH[0]):
        found = np.bincount(drawn % modulus, minlength=modulus)
        assert chisquare(found).pvalue > 1e-6


def test_both_keys_and_every_number_count():
    with jax.enable_x64(True):
        first, second, third = jax.random.split(jax.random.key(0), 3)
        draw = jax.jit(discrete_gaussian, static_argnums=1)
        pairs = [(first, second), (first, third), (third, second)]
        found = [np.asarray(draw(jax.numpy.stack(pair), 500)) for pair in pairs]
    for one in range(3):
        assert len(np.unique(found[one])) == 500
        assert abs(np.corrcoef(found[one], found[one - 1])[0, 1]) < 0.25


def test_what_is_left_over_is_small_and_grows_with_size_and_steps():
    assert leftover_delta(100_000, 1000) == pytest.approx(7e-16, rel=2e-5)
    assert leftover_delta(2, 3) == pytest.approx(9 * DISTANCE)  # two numbers and a batch
    assert leftover_epsilon(10**6, 10**4) < 1e-7
    assert leftover_epsilon(10, 20) == pytest.approx(20 * leftover_epsilon(10, 1))
