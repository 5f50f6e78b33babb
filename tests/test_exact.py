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
    exact_dot,
    is_exact,
    pair_norm,
    sine_cosine,
)

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

    exact = jax.make_jaxpr(pairs)(*shapes((NUMBERS,), (len(SIZES),)))
    assert is_exact(exact.jaxpr)
    for inexact in (
        lambda x: (jnp.sin(x.astype(jnp.float32)) * 9).astype(jnp.int32),
        lambda x: jax.jit(lambda y: y / 3)(x).astype(jnp.int32),
        lambda x: jax.lax.cond(x[0] > 0, lambda y: (y * 0.5).astype(jnp.int32), lambda y: y, x),
        lambda x: jax.lax.fori_loop(0, 3, lambda _, y: (y * 0.5).astype(jnp.int32), x),
    ):
        assert not is_exact(jax.make_jaxpr(inexact)(*shapes((5,))).jaxpr)


def test_a_stranger_with_the_name_of_the_exact_product_is_found_out():
    def impostor(x, w):
        return jnp.sin(x.astype(jnp.float32) @ w.astype(jnp.float32)).astype(jnp.int32)

    impostor.__name__ = exact_dot.__name__
    for function, honest in ((impostor, False), (exact_dot, True)):
        program = jax.make_jaxpr(jax.jit(function))(*shapes((5,), (5, 3)))
        assert is_exact(program.jaxpr) is honest
