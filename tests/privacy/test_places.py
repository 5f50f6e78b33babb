"""Step-wise training: a row's clipped contribution does not depend on other rows or on its place.

With `exact` that is proved: rows are worked off one at a time by the same instructions.  In chunks
it is an assumption about the compiler and the machine, and these tests are its evidence on the
machine that runs them.  The functions are as discontinuous as they can be: the gradient of a ReLU
or a comparison turns one wrong bit into a whole clip.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.vaults import plain_encoder

from nacre.rows import Row
from nacre.vault.loop import MOST_UNITS, Loop, LoopStage

MOST, WIDTH = 512, 13
RNG = np.random.default_rng(0)
WEIGHTS = [
    jnp.asarray(RNG.normal(size=s) * 0.4, jnp.float32) for s in ((13, 21), (21, 21), (21, 3))
]
KERNEL = jnp.asarray(RNG.normal(size=(3, 1, 3, 3)), jnp.float32)


def table(count, seed=1):
    numbers = np.random.default_rng(seed).integers(0, 65537, (count, WIDTH))
    return numbers.astype(np.int32)


def relu_gradient(weights, earlier, row, key):
    """Of a small classifier's loss, by all its weights."""
    x = row.numbers / 65536.0

    def loss(weights):
        y = x
        for w in weights[:-1]:
            y = jax.nn.relu(y @ w)
        return jax.nn.logsumexp(y @ weights[-1]) - (y @ weights[-1])[0]

    return jax.grad(loss)(weights)


def convolution_gradient(weights, earlier, row, key):
    x = jnp.resize(row.numbers / 65536.0, (1, 1, 6, 6))

    def loss(kernel):
        return jnp.sum(jax.nn.leaky_relu(jax.lax.conv(x, kernel, (1, 1), "SAME")) ** 2)

    return jax.grad(loss)(KERNEL)


def last_bits(weights, earlier, row, key):
    """Plus or minus a part of the clip, by the last bits of what is computed from the row."""
    x = row.numbers / 65536.0
    products = [jnp.dot(x, weights[0][:, j]) for j in range(12)]  # one at a time: matrix by vector
    smooth = jnp.exp(jnp.sin(x * 9) - jnp.log1p(x[0]))
    y = jnp.concatenate([jnp.stack(products), jnp.tanh(smooth @ weights[0][:, :7])])
    bits = jax.lax.bitcast_convert_type(y, jnp.int32)
    return jnp.where((bits & 1) == 1, 1.0, -1.0)


PROGRAMS = {"relu": relu_gradient, "convolution": convolution_gradient, "last bits": last_bits}
MODES = {"chunks of 64": (64, False), "chunks of 256": (256, False), "one at a time": (64, True)}


@functools.cache
def compiled(name, chunk, exact):
    loop = Loop(
        prepare=lambda state, key: state,
        stages=(LoopStage(per_row=PROGRAMS[name], clip=1.0),),
        update=lambda state, sums, key: state,
        threshold=2**32 - 1,
        multiplier=0.0,
        chunk=64 if chunk % 64 else chunk,
        exact=exact,
    ).checked(WEIGHTS, plain_encoder(WIDTH).shape, jax.random.key(0))
    object.__setattr__(loop, "chunk", chunk)  # past the refusal, for the last test

    @jax.jit
    def run(numbers, size):
        places = jnp.arange(MOST)
        batch = jnp.where(places < size, places, MOST)
        rows = Row(numbers, jnp.zeros((MOST, 0), jnp.int32))
        public, key = (WEIGHTS, ()), jax.random.key(3)
        return loop._stage_sum(loop.stages[0], public, rows, None, batch, size, key)

    return run


def exact_sum(name, mode, rows):
    """The integers that would get noise."""
    with jax.enable_x64(True):
        numbers = np.zeros((MOST, WIDTH), np.int32)
        numbers[: len(rows)] = rows
        return np.asarray(compiled(name, *MODES.get(mode, mode))(numbers, len(rows)))


cases = pytest.mark.parametrize(
    ("name", "mode"), [(name, mode) for name in PROGRAMS for mode in MODES]
)


@cases
def test_order_and_a_row_at_the_front_change_nothing(name, mode):
    rows, one = table(300), table(1, seed=9)
    plain = exact_sum(name, mode, rows)
    assert np.abs(plain).sum() > 0
    shuffled = rows[np.random.default_rng(2).permutation(len(rows))]
    np.testing.assert_array_equal(plain, exact_sum(name, mode, shuffled))
    # One row at the front moves every other to another place, and adds itself and nothing else.
    alone = exact_sum(name, mode, one)
    assert np.abs(alone).sum() > 0
    np.testing.assert_array_equal(plain + alone, exact_sum(name, mode, np.vstack([one, rows])))


@cases
def test_every_place_gives_the_same_bits(name, mode):
    for one in table(12, seed=4):
        alone = exact_sum(name, mode, [one])
        everywhere = exact_sum(name, mode, np.repeat([one], 300, axis=0))
        np.testing.assert_array_equal(everywhere, 300 * alone)


@cases
def test_a_row_does_not_move_when_another_changes(name, mode):
    # Climbs a hill: each try changes one other row, and keeps the change that moves most.
    rng, rows = np.random.default_rng(6), table(70, seed=5)
    before = exact_sum(name, mode, rows)
    for _ in range(12):
        place = rng.integers(1, len(rows))
        changed = rows.copy()
        changed[place] = rng.choice([0, 1, 32768, 65535, 65536], WIDTH)
        after = exact_sum(name, mode, changed)
        mine = [exact_sum(name, mode, [row]) for row in (rows[place], changed[place])]
        np.testing.assert_array_equal(after - before, mine[1] - mine[0])
        if np.abs(after).sum() >= np.abs(before).sum():
            rows, before = changed, after


def test_both_modes_agree_where_nothing_hangs_on_the_last_bit():
    rows = table(100, seed=8)
    clips = [MOST_UNITS / 2.0 ** chunk.bit_length() for chunk, _ in MODES.values()]
    found = [exact_sum("convolution", mode, rows) / c for mode, c in zip(MODES, clips, strict=True)]
    for other in found[1:]:
        np.testing.assert_allclose(found[0], other, rtol=1e-3, atol=1e-3)


def test_why_chunks_are_multiples_of_64():
    moved = 0
    for one in table(12, seed=4):
        alone = exact_sum("last bits", (100, False), [one])
        everywhere = exact_sum("last bits", (100, False), np.repeat([one], 300, axis=0))
        moved += (everywhere != 300 * alone).any()
    assert moved > 3


@pytest.mark.parametrize(
    "function",
    [
        lambda w, earlier, row, key: w[0][:, :2].T @ jnp.resize(row.numbers / 9.0, (13, 4)),
        lambda w, earlier, row, key: jnp.abs(jnp.fft.fft(row.numbers / 9.0)),
        lambda w, earlier, row, key: jax.lax.scan(
            lambda c, x: (c, w[0][:, :2].T @ x), 0.0, jnp.resize(row.numbers / 9.0, (2, 13, 3))
        )[1],
    ],
)
def test_what_rounds_by_place_is_worked_off_one_row_at_a_time(function):
    """A product of matrices in chunks of 256 moved a sum by seven clips when a row came first."""

    def checked(**options):
        loop = Loop(
            prepare=lambda state, key: state,
            stages=(LoopStage(per_row=function, clip=1.0),),
            update=lambda state, sums, key: state,
            threshold=2**32 - 1,
            multiplier=0.0,
            chunk=64,
            **options,
        )
        return loop.checked(WEIGHTS, plain_encoder(WIDTH).shape, jax.random.key(0))

    with pytest.raises(ValueError, match="exact=True"):
        checked()
    assert checked(exact=True).size
