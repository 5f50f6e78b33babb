"""The training loop, un-noised: Poisson batches, clipping, chunks; and its noise by itself."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.rows import Row, TableEncoder
from nacre.schema import Integer, Schema
from nacre.vault.integers import SCALE
from nacre.vault.loop import Loop, LoopStage, step_keys

QUIET = 0.0  # no noise
ALL = 2**32 - 1
ENCODER = TableEncoder(Schema({name: Integer(low=0, high=65536) for name in "ab"}))


def table(count, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 65537, (count, 2))
    return Row(jnp.asarray(numbers, jnp.int32), jnp.zeros((count, 0), jnp.int32))


def run(
    stages, rows, *, threshold=ALL, multiplier=QUIET, chunk=64, valid=None, size=2, exact=False
):
    """The noisy sums of one step, one for each stage."""
    state = [jnp.zeros(size, jnp.float32)] * len(stages)
    loop = Loop(
        prepare=lambda state, key: None,
        stages=tuple(stages),
        update=lambda state, sums, key: list(sums),
        threshold=threshold,
        multiplier=multiplier,
        chunk=chunk,
        exact=exact,
    )
    valid = jnp.ones(len(rows.numbers), bool) if valid is None else jnp.asarray(valid)
    return [np.asarray(s) for s in compiled(loop, state)(state, rows, valid)]


def compiled(loop, state, steps=1):
    loop = loop.checked(state, ENCODER.shape, jax.random.key(0))
    keys = jax.random.split(jax.random.key(1)), jax.random.key(2)

    def call(state, rows, valid):
        return loop.compiled()(state, rows, valid, *keys, jnp.arange(steps, dtype=jnp.int32))

    return call


def units(shared, earlier, row, key):
    return row.numbers / 65536.0


@pytest.mark.parametrize(
    ("count", "chunk", "exact"), [(63, 64, False), (200, 64, False), (50, 7, True), (5, 1, True)]
)
def test_batches_larger_than_a_chunk_lose_nothing(count, chunk, exact):
    rows = table(count)
    (found,) = run([LoopStage(per_row=units, clip=2.0)], rows, chunk=chunk, exact=exact)
    assert found == pytest.approx(np.asarray(rows.numbers).sum(0) / 65536, abs=count * 1e-6)


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
        chunk=64,
    )
    state = (jnp.zeros((), jnp.int32), jnp.zeros(steps))
    _, sizes = compiled(loop, state, steps)(state, table(count), jnp.ones(count, bool))
    sizes = np.asarray(sizes)
    assert np.abs(sizes - np.rint(sizes)).max() < 1e-3
    mean, variance = count * rate, count * rate * (1 - rate)
    assert sizes.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / steps))
    assert sizes.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / steps))


def test_stages_share_the_batch_and_see_what_came_before():
    def first(shared, earlier, row, key):
        return jnp.ones(2) * 0.5

    def second(shared, earlier, row, key):
        return jnp.ones(2) * earlier[0][0] / 1000

    one, two = run(
        [
            LoopStage(per_row=first, clip=1.0, share=0.25),
            LoopStage(per_row=second, clip=1.0, share=0.75),
        ],
        table(300),
        threshold=2**31,
    )
    size = one[0] / 0.5
    assert 100 < size < 200
    assert two[0] == pytest.approx(size * one[0] / 1000, rel=1e-3)


def test_noise_follows_clip_multiplier_and_share():
    def nothing(shared, earlier, row, key):
        # Not a constant, of which the compiler would work out all sums, at length.
        return jnp.full(20_000, row.numbers[0] * 0.0)

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


def test_what_is_released_are_whole_multiples_of_a_public_unit():
    # No bit of it comes from anything but integers: Mironov's attack (2012) has nothing to see.
    def small(shared, earlier, row, key):
        return row.numbers / 65536.0

    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=small, clip=2.0),),
        update=lambda state, sums, key: sums[0],
        threshold=ALL,
        multiplier=SCALE / 2.0**20,  # noise so large that float32 still shows single units
        chunk=64,
    )
    state = jnp.zeros(2)
    unit = 2.0 / 2.0**20
    found = np.asarray(compiled(loop, state)(state, table(3), jnp.ones(3, bool)), np.float64)
    assert np.abs(found / unit - np.rint(found / unit)).max() < 1e-6 * np.abs(found / unit).max()
    program = loop.checked(state, ENCODER.shape, jax.random.key(0))
    keys = keys_of([0])
    with jax.enable_x64(True):
        text = str(jax.make_jaxpr(program.run)(state, table(3), jnp.ones(3, bool), keys, 1))
    assert "erf_inv" not in text and "random_bits[bit_width=64" in text


def keys_of(numbers, stages=1):
    secret, public = jax.random.split(jax.random.key(1)), jax.random.key(2)
    return step_keys(secret, public, jnp.asarray(numbers, jnp.int32), stages=stages)


def test_the_keys_of_a_step_follow_from_its_number_and_no_two_are_the_same():
    def words(keys):
        return [np.asarray(jax.random.key_data(kind)) for kind in keys]

    together, apart = words(keys_of([3, 4, 70], 2)), words(keys_of([70, 3, 3], 2))
    for some, others in zip(together, apart, strict=True):
        np.testing.assert_array_equal(some[[2, 0, 0]], others)
    every = np.concatenate([kind.reshape(-1, 2) for kind in together])
    assert len(np.unique(every, axis=0)) == len(every) == 3 * (2 + 1 + 2 * 2 + 1 + 1)


def test_just_the_steps_that_are_asked_for_are_run():
    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=units, clip=2.0),),
        update=lambda state, sums, key: state + 1,
        threshold=ALL,
        multiplier=QUIET,
        chunk=64,
    )
    call = loop.checked(jnp.zeros(()), ENCODER.shape, jax.random.key(0)).compiled()
    keys = jax.random.split(jax.random.key(1)), jax.random.key(2)
    for steps in (1, 50, 51):
        found = call(jnp.zeros(()), table(3), jnp.ones(3, bool), *keys, range(steps))
        assert found == steps


def test_both_secret_keys_decide_the_noise_and_the_batch():
    loop = Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=units, clip=2.0),),
        update=lambda state, sums, key: sums[0],
        threshold=2**31,
        multiplier=1.0,
        chunk=64,
    )
    for multiplier in (1.0, QUIET):
        state = jnp.zeros(2)
        one = Loop(**(vars(loop) | {"multiplier": multiplier}))
        call = one.checked(state, ENCODER.shape, jax.random.key(0)).compiled()
        first, second, third = jax.random.split(jax.random.key(5), 3)
        found = [
            tuple(
                np.asarray(
                    call(
                        state,
                        table(40),
                        jnp.ones(40, bool),
                        jnp.stack(pair),
                        jax.random.key(2),
                        jnp.arange(1, dtype=jnp.int32),
                    )
                )
            )
            for pair in ((first, second), (first, third), (third, second), (first, second))
        ]
        assert len(set(found)) == 3 and found[0] == found[3]


@pytest.mark.parametrize("chunk", [0, 1, 32, 100, 65, -64])
def test_chunks_are_multiples_of_64(chunk):
    with pytest.raises(ValueError, match="multiple of 64"):
        run([LoopStage(per_row=units, clip=1.0)], table(3), chunk=chunk)


def test_hardly_any_noise_is_refused():
    with pytest.raises(ValueError, match="hardly any noise"):
        run([LoopStage(per_row=units, clip=1.0)], table(3), multiplier=1e-6)
    run([LoopStage(per_row=units, clip=1.0)], table(3), multiplier=1e-5)


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
