"""The training loop, un-noised: Poisson batches, clipping, chunks; and its noise by itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.rows import Row, TableEncoder
from nacre.schema import Integer, Schema
from nacre.vault.loop import Loop, LoopStage

QUIET = 1e-12  # a multiplier with which the noise is far below the grid of 2^-20
ALL = 2**32 - 1
ENCODER = TableEncoder(Schema({name: Integer(low=0, high=65536) for name in "ab"}))


def table(count, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 65537, (count, 2))
    return Row(jnp.asarray(numbers, jnp.int32), jnp.zeros((count, 0), jnp.int32))


def run(stages, rows, *, threshold=ALL, multiplier=QUIET, chunk=4, valid=None, size=2):
    """The noisy sums of one step, one for each stage."""
    state = [jnp.zeros(size, jnp.float32)] * len(stages)
    loop = Loop(
        prepare=lambda state, key: None,
        stages=tuple(stages),
        update=lambda state, sums, key: list(sums),
        threshold=threshold,
        multiplier=multiplier,
        chunk=chunk,
    )
    valid = jnp.ones(len(rows.numbers), bool) if valid is None else jnp.asarray(valid)
    return [np.asarray(s) for s in compiled(loop, state)(state, rows, valid)]


def compiled(loop, state, steps=1):
    loop = loop.checked(state, ENCODER.shape, jax.random.key(0))
    keys = jax.random.key(1), jax.random.key(2)

    def call(state, rows, valid):
        with jax.enable_x64(True):
            numbers = jnp.arange(steps, dtype=jnp.int32)
            return jax.jit(loop.run)(state, rows, valid, *keys, numbers)

    return call


def units(shared, earlier, row, key):
    return row.numbers / 65536.0


@pytest.mark.parametrize(("count", "chunk"), [(63, 64), (200, 7), (64, 1)])
def test_batches_larger_than_a_chunk_lose_nothing(count, chunk):
    rows = table(count)
    (found,) = run([LoopStage(per_row=units, clip=2.0)], rows, chunk=chunk)
    assert found == pytest.approx(np.asarray(rows.numbers).sum(0) / 65536, abs=count * 4e-6)


def test_rows_that_do_not_count():
    rows, valid = table(50), np.arange(50) % 3 > 0
    (found,) = run([LoopStage(per_row=units, clip=2.0)], rows, valid=valid)
    assert found == pytest.approx(np.asarray(rows.numbers)[valid].sum(0) / 65536, abs=1e-3)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e30])
def test_clipping_is_reached_and_never_exceeded(factor):
    def pointing(shared, earlier, row, key):
        return (row.numbers - 32768.0) * factor

    (found,) = run([LoopStage(per_row=pointing, clip=0.3)], table(1))
    assert np.linalg.norm(found) <= 0.3 * (1 + 1e-6)  # float32 at the very end
    assert np.linalg.norm(found) >= 0.3 * (1 - 1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_contributions_that_are_not_finite_count_zero(bad):
    def sometimes(shared, earlier, row, key):
        return jnp.where(row.numbers[0] < 30000, jnp.array([bad, 1.0]), row.numbers / 65536.0)

    rows = table(60)
    good = np.asarray(rows.numbers)[np.asarray(rows.numbers[:, 0]) >= 30000]
    (found,) = run([LoopStage(per_row=sometimes, clip=2.0)], rows)
    assert found == pytest.approx(good.sum(0) / 65536, abs=1e-3)


def test_a_row_does_not_move_when_another_changes():
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(2, 30)), jnp.float32)

    def watched(shared, earlier, row, key):
        # Everybody computes; only the row that is watched reports.
        inner = jnp.tanh((row.numbers / 65536.0) @ weights) @ weights.T
        return jnp.where(row.numbers[1] == 12345, inner, 0.0)

    rows = table(40)
    fixed = rows.numbers.at[17, 1].set(12345)
    (plain,) = run([LoopStage(per_row=watched, clip=1.0)], Row(fixed, rows.codes), chunk=64)
    other = jnp.where(jnp.arange(40)[:, None] == 17, fixed, table(40, seed=8).numbers)
    (changed,) = run([LoopStage(per_row=watched, clip=1.0)], Row(other, rows.codes), chunk=64)
    np.testing.assert_array_equal(plain, changed)
    assert np.linalg.norm(plain) > 0.1


def test_poisson_batches_have_the_exact_rate():
    def one(shared, earlier, row, key):
        return jnp.ones(1)

    # Batch sizes of 400 steps, kept in the state; each is binomial(500, rate).
    rate, count, steps = 0.0371, 500, 400
    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=one, clip=1.0),),
        update=lambda state, sums, key: (state[0] + 1, state[1].at[state[0]].set(sums[0][0])),
        threshold=round(rate * 2**32),
        multiplier=QUIET,
        chunk=8,
    )
    state = (jnp.zeros((), jnp.int32), jnp.zeros(steps))
    _, sizes = compiled(loop, state, steps)(state, table(count), jnp.ones(count, bool))
    sizes = np.asarray(sizes)
    assert np.abs(sizes - np.rint(sizes)).max() < 1e-3
    mean, variance = count * rate, count * rate * (1 - rate)
    assert sizes.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / steps))
    assert sizes.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / steps))
    assert sizes.max() > 2 * 8  # several chunks were needed


def test_stages_share_the_batch_and_see_what_came_before():
    def first(shared, earlier, row, key):
        return jnp.ones(2) * 0.5

    def second(shared, earlier, row, key):
        return jnp.ones(2) * earlier[0][0] / 1000

    one, two = run(
        [LoopStage(per_row=first, clip=1.0, share=0.25), LoopStage(per_row=second, clip=1.0, share=0.75)],
        table(300),
        threshold=2**31,
    )
    size = one[0] / 0.5
    assert 100 < size < 200
    assert two[0] == pytest.approx(size * one[0] / 1000, rel=1e-3)


def test_noise_follows_clip_multiplier_and_share():
    def nothing(shared, earlier, row, key):
        return jnp.zeros(20_000)

    stages = [
        LoopStage(per_row=nothing, clip=0.5, share=0.2),
        LoopStage(per_row=nothing, clip=3.0, share=0.8),
    ]
    noises = run(stages, table(2), multiplier=2.0, size=20_000)
    for stage, noise in zip(stages, noises, strict=True):
        assert noise.std() == pytest.approx(stage.clip * 2 / stage.share**0.5, rel=0.03)
    # One event: the multipliers of the stages compose to the step's own.
    pairs = zip(stages, noises, strict=True)
    together = sum((stage.clip / noise.std()) ** 2 for stage, noise in pairs)
    assert together**-0.5 == pytest.approx(2.0, rel=0.03)
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.05


def test_noise_is_drawn_in_float64():
    # float32 normals end at 5.42 standard deviations: what comes out there is told apart for sure.
    def one(shared, earlier, row, key):
        return jnp.ones(2)

    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=one, clip=1.0),),
        update=lambda state, sums, key: sums[0],
        threshold=ALL,
        multiplier=1.0,
        chunk=2,
    )
    state = jnp.zeros(2)
    text = str(jax.make_jaxpr(compiled(loop, state))(state, table(2), jnp.ones(2, bool)))
    drawn = [line for line in text.splitlines() if "erf_inv" in line]
    assert drawn and all("f64" in line for line in drawn)


def test_stages_that_make_no_sense():
    for change in (
        {"clip": 0.0},
        {"clip": np.inf},
        {"clip": np.nan},
        {"share": 0.0},
        {"share": 1.5},
    ):
        with pytest.raises(ValueError):
            LoopStage(**({"per_row": units, "clip": 1.0} | change))


def test_programs_of_the_wrong_form_are_refused():
    def integers(shared, earlier, row, key):
        return row.numbers

    for per_row in (integers, lambda s, e, row, k: ()):
        with pytest.raises(ValueError, match="floating"):
            run([LoopStage(per_row=per_row, clip=1.0)], table(3))


def test_sixty_four_bit_mode_outside_changes_nothing():
    rows = table(30)
    (plain,) = run([LoopStage(per_row=units, clip=2.0)], rows)
    with jax.enable_x64(True):
        (wide,) = run([LoopStage(per_row=units, clip=2.0)], rows)
    np.testing.assert_array_equal(plain, wide)
