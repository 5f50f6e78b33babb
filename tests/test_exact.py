"""Integer phases, sines and cosines: right, bounded, and the same wherever a row stands."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.exact import (
    AMPLITUDE,
    EXACT,
    TURN_BITS,
    UNIT_BITS,
    ExactPhases,
    largest_sum,
    pair_norm,
    sine_cosine,
)
from nacre.vault.tracing import trace

NUMBERS, SIZES = 3, (4, 200, 2)
WIDTH = NUMBERS + sum(SIZES)


def frequencies(scale=2.0, count=20, seed=0):
    return np.random.default_rng(seed).normal(size=(count, WIDTH)) * scale


def rows(count, seed=1):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, (1 << 16) + 1, (count, NUMBERS)).astype(np.int32)
    codes = np.stack([rng.integers(0, size, count) for size in SIZES], 1).astype(np.int32)
    return numbers, codes


def encoded(numbers, codes):
    """The row as the phases see it: numbers on the 2^-11 grid, and one-hot blocks."""
    coarse = np.floor(numbers / (1 << (16 - UNIT_BITS)) + 0.5) / (1 << UNIT_BITS)
    blocks = [np.eye(size)[codes[:, place]] for place, size in enumerate(SIZES)]
    return np.concatenate([coarse, *blocks], axis=1)


def test_phases_are_the_inner_products_of_the_rounded_frequencies():
    phases = ExactPhases(frequencies(), NUMBERS, SIZES)
    numbers, codes = rows(200)
    found = np.asarray(jax.vmap(phases)(numbers, codes), np.int64)
    angles = encoded(numbers, codes) @ phases.frequencies.T
    wanted = np.floor(angles / (2 * math.pi) * 2**TURN_BITS + 1e-6)
    difference = (found - wanted) % 2**TURN_BITS
    assert np.isin(difference, (0, 1, 2**TURN_BITS - 1)).all()
    assert (difference == 0).mean() > 0.99


@settings(deadline=None, max_examples=20)
@given(scale=st.floats(0.01, 40), count=st.integers(1, 5), seed=st.integers(0, 99))
def test_no_row_can_reach_the_end_of_float32_integers(scale, count, seed):
    given_ones = frequencies(scale, count, seed)
    phases = ExactPhases(given_ones, NUMBERS, SIZES)
    steps = np.abs(np.rint(phases.frequencies / (2 * math.pi) * 2.0**phases.bits)).astype(np.int64)
    reach = steps[:, :NUMBERS].sum(1)
    start = NUMBERS
    for size in SIZES:
        reach += steps[:, start : start + size].max(1)
        start += size
    assert (int(reach.max()) << UNIT_BITS) < EXACT
    # Rounded by no more than half a step of the grid.
    limit = math.pi * 2.0**-phases.bits * (1 + 1e-9)
    assert np.abs(phases.frequencies - given_ones).max() <= limit


def test_frequencies_beyond_reach_are_refused():
    with pytest.raises(ValueError, match="larger bandwidth"):
        ExactPhases(frequencies(scale=1e6), NUMBERS, SIZES)


def test_sine_and_cosine_of_every_phase():
    phase = np.arange(1 << TURN_BITS)
    sine, cosine = (np.asarray(v) / AMPLITUDE for v in sine_cosine(jnp.asarray(phase, jnp.int32)))
    angle = 2 * math.pi * phase / 2**TURN_BITS
    assert np.abs(sine - np.sin(angle)).max() < 1.5e-4
    assert np.abs(cosine - np.cos(angle)).max() < 1.5e-4


@pytest.mark.parametrize("turns", [-3, 7])
def test_whole_turns_change_nothing(turns):
    phase = jnp.arange(0, 1 << TURN_BITS, 97, dtype=jnp.int32)
    for part in (0, 1):
        there = sine_cosine(phase + turns * 2**TURN_BITS)[part]
        assert (sine_cosine(phase)[part] == there).all()


def test_pair_norm_bounds_every_pair_and_is_reached():
    sine, cosine = (np.asarray(v, np.int64) for v in sine_cosine(jnp.arange(1 << TURN_BITS)))
    squares = sine**2 + cosine**2
    assert squares.max() == pytest.approx(pair_norm() ** 2, rel=1e-15)
    assert pair_norm() == pytest.approx(AMPLITUDE, rel=2e-4)


def shapes(*sizes):
    return [jax.ShapeDtypeStruct(size, jnp.int32) for size in sizes]


def test_integer_programs_are_exact_and_floating_ones_are_not():
    phases = ExactPhases(frequencies(), NUMBERS, SIZES)

    def pairs(numbers, codes):
        return jnp.concatenate(sine_cosine(phases(numbers, codes)))

    assert trace(pairs, *shapes((NUMBERS,), (len(SIZES),))).exact
    for inexact in (
        lambda x: (jnp.sin(x.astype(jnp.float32)) * 9).astype(jnp.int32),
        lambda x: jax.jit(lambda y: y / 3)(x).astype(jnp.int32),
        lambda x: jax.lax.cond(x[0] > 0, lambda y: (y * 0.5).astype(jnp.int32), lambda y: y, x),
        lambda x: jax.lax.fori_loop(0, 3, lambda _, y: (y * 0.5).astype(jnp.int32), x),
    ):
        assert not trace(inexact, *shapes((5,))).exact


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 999))
def test_the_largest_sum_is_that_of_the_worst_row(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-9, 10, (2 + 6, 3)).astype(np.int32)
    owners, values = rng.integers(0, 3, 6).astype(np.int32), rng.integers(0, 2, 6).astype(np.int32)
    worst = 0
    for codes in np.ndindex(2, 2, 2):
        hot = np.array(codes)[owners] == values
        size = np.abs(weights).astype(int)
        worst = max(worst, ((size[:2].sum(0) << UNIT_BITS) + size[2:][hot].sum(0)).max())
    assert largest_sum(weights, owners, values) == worst


def test_frequencies_on_all_pixels_of_an_image_survive_their_rounding():
    """As many terms as an image has: rounding adds half a step a term, and no more is lost."""
    drawn = np.random.default_rng(0).normal(size=(40, 784)) / math.sqrt(127)
    phases = ExactPhases(drawn, 784, [])
    kept = [np.corrcoef(a, b)[0, 1] for a, b in zip(drawn, phases.frequencies, strict=True)]
    assert min(kept) > 0.99
    with pytest.raises(ValueError, match="cannot be summed exactly"):
        ExactPhases(np.ones((1, 20_000)), 20_000, [])
