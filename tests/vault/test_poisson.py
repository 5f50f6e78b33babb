"""Poisson batches: the law of the number of hits, of the rows that are hit, and what it costs."""

import decimal
import functools
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from nacre.rows import Row
from nacre.vault import poisson
from nacre.vault.integers import DISTANCE, WORD_BITS
from nacre.vault.loop import Loop, LoopStage, step_keys
from nacre.vault.poisson import by_hits, draw_batch, every_row, has_many, hit_weights, most_hits
from nacre.vault.primitives import inner_programs

ODDS = 2**32
SIZES = {  # bits of a place, threshold
    "64 of 32,561": (15, -(-64 * ODDS // 32_561)),
    "64 of a million": (20, -(-64 * ODDS // 10**6)),
    "10,000 of ten millions": (24, -(-(10**4) * ODDS // 10**7)),
    "one in a thousand rows": (10, ODDS // 1000),
    "hardly any": (12, 1),
}


@pytest.mark.parametrize("case", SIZES)
def test_the_number_of_hits_is_as_close_to_poisson_as_is_charged(case):
    bits, threshold = SIZES[case]
    first, weights = hit_weights(bits, threshold)
    assert sum(weights) == 2**WORD_BITS and min(weights) >= 0
    with decimal.localcontext() as context:
        context.prec = 120  # by another way: from zero on, and further than the table
        none = 1 - Decimal(threshold) / ODDS
        mean, mass = -none.ln() * 2**bits, none ** (2**bits)
        distance, total = Decimal(0), Decimal(0)
        for k in range(first + 2 * len(weights)):
            weight = weights[k - first] if 0 <= k - first < len(weights) else 0
            distance += abs(mass - Decimal(weight) / 2**WORD_BITS)
            total += mass
            mass *= mean / (k + 1)
        assert abs(1 - total) < Decimal("1e-30")  # what is not looked at
    assert 0 < distance / 2 < Decimal(DISTANCE) / 2
    # Cut off neither too early nor so late that shapes are larger than they need be.
    mean = float(mean)
    room = 12 * math.sqrt(mean) + 40
    assert mean - room < first <= mean and most_hits(bits, threshold) < mean + room


@pytest.mark.parametrize("rate", [Fraction(1, 16), Fraction(3, 8)])
def test_the_number_of_places_that_are_hit_is_binomial_by_exact_fractions(rate):
    bits = 4
    places, threshold = 2**bits, rate * ODDS
    first, weights = hit_weights(bits, int(threshold))
    found = [Fraction(0)] * (places + 1)
    # Of the sequences of k hits, how many touch just d places.
    sequences = [1] + [0] * places
    for k in range(first + len(weights)):
        if k >= first:
            weight = Fraction(weights[k - first], 2**WORD_BITS * places**k)
            found = [f + weight * s for f, s in zip(found, sequences, strict=True)]
        sequences = [
            d * sequences[d] + (places - d + 1) * (sequences[d - 1] if d else 0)
            for d in range(places + 1)
        ]
    wanted = [
        math.comb(places, d) * rate**d * (1 - rate) ** (places - d) for d in range(places + 1)
    ]
    distance = sum(abs(f - w) for f, w in zip(found, wanted, strict=True)) / 2
    assert 0 < distance < DISTANCE


def drawn(draw, valid, threshold, times, seed=0):
    """Many batches: their places, and how many each has."""
    with jax.enable_x64(True):
        keys = jax.vmap(jax.random.split)(jax.random.split(jax.random.key(seed), times))
        one = functools.partial(draw, valid=jnp.asarray(valid), threshold=threshold)
        places, sizes = jax.jit(lambda keys: jax.lax.map(one, keys))(keys)
        return np.asarray(places), np.asarray(sizes)


both = pytest.mark.parametrize("draw", [by_hits, every_row])


@both
def test_every_set_of_rows_has_its_chance(draw):
    # Few places and a high rate: most are hit more than once, three of eight are no rows.
    rate, valid, times = 0.3, np.array([True, True, False, True, True]), 40_000
    places, sizes = drawn(draw, valid, round(rate * ODDS), times)
    inside = (places[:, :, None] == np.arange(5)).sum(1)
    assert inside.max() == 1 and (inside.sum(1) == sizes).all() and not inside[:, 2].any()
    inside = inside[:, valid]
    found = np.bincount(inside @ 2 ** np.arange(4), minlength=16)
    chances = [
        math.prod(rate if bit else 1 - rate for bit in bits)
        for bits in itertools.product((0, 1), repeat=4)
    ]
    chances = np.array(chances).reshape(2, 2, 2, 2).T.ravel()  # the first row is the lowest bit
    assert chisquare(found, chances * times).pvalue > 1e-6


@pytest.fixture(scope="module", params=[by_hits, every_row])
def batches(request):
    """4,000 batches of 20 in 3,000 rows, of which every fifth does not count."""
    valid = np.arange(3000) % 5 > 0
    threshold = round(ODDS * 20 / 3000)
    assert has_many(len(valid), threshold)
    return valid, threshold / ODDS, *drawn(request.param, valid, threshold, 4000)


def test_places_are_distinct_in_order_and_of_rows_that_count(batches):
    valid, _, places, sizes = batches
    for one, size in zip(places, sizes, strict=True):
        assert (np.diff(one[:size]) > 0).all() and (one[size:] == len(valid)).all()
    assert valid[places[places < len(valid)]].all()


def test_every_row_is_in_as_many_batches_as_any_other(batches):
    valid, rate, places, _ = batches
    found = np.bincount(places.ravel(), minlength=len(valid) + 1)[: len(valid)]
    expected = len(places) * rate
    statistic = ((found[valid] - expected) ** 2).sum() / (expected * (1 - rate))
    assert 1e-6 < chi2.sf(statistic, valid.sum()) < 1 - 1e-6


def test_sizes_are_those_of_independent_rows(batches):
    valid, rate, places, sizes = batches
    mean, times = valid.sum() * rate, len(sizes)
    assert sizes.mean() == pytest.approx(mean, abs=5 * math.sqrt(mean / times))
    # Rows that attract or repel each other would make it larger or smaller.
    assert sizes.var() == pytest.approx(mean * (1 - rate), rel=5 * math.sqrt(2 / times))
    # Neighbours, too, are together as often as chance has it.
    together = (np.diff(places, axis=1) == 1) & (places[:, 1:] < len(valid))
    expected = (valid[1:] & valid[:-1]).sum() * rate**2 * times
    assert together.sum() == pytest.approx(expected, abs=5 * math.sqrt(expected))


def test_steps_have_nothing_to_do_with_each_other(batches):
    sizes = batches[3]
    assert abs(np.corrcoef(sizes[1:], sizes[:-1])[0, 1]) < 5 / math.sqrt(len(sizes))


@pytest.mark.parametrize(
    ("rows", "batch", "many"),
    [
        (0, 1, False),
        (1, 1, False),
        (2000, 64, False),
        (32_561, 64, True),
        (10**6, 64, True),
        (10**6, 10**5, False),
        (10**7, 10**4, True),
        (2**33, 64, False),
    ],
)
def test_hits_are_thrown_where_there_are_many_rows(rows, batch, many):
    assert has_many(rows, min(ODDS - 1, -(-batch * ODDS // max(rows, batch)))) is many


def test_a_table_of_a_million_rows_at_a_rate_of_one_makes_no_large_table(monkeypatch):
    monkeypatch.setattr(poisson, "hit_weights", lambda *_: pytest.fail("a table was made"))
    assert not has_many(2**20, ODDS - 1)


def test_both_secret_keys_decide_the_batch():
    with jax.enable_x64(True):
        first, second, third = jax.random.split(jax.random.key(0), 3)
        valid = jnp.ones(50_000, bool)
        pairs = [(first, second), (first, third), (third, second), (first, second)]
        found = [tuple(draw_batch(jnp.stack(p), valid, ODDS // 500)[0].tolist()) for p in pairs]
    assert len(set(found)) == 3 and found[0] == found[3]


def loop_of(per_row, update, threshold):
    return Loop(
        prepare=lambda state, key: None,
        stages=(LoopStage(per_row=per_row, clip=1.0),),
        update=update,
        threshold=threshold,
        multiplier=0.0,
        chunk=64,
    )


SHAPE = Row(jax.ShapeDtypeStruct((1,), np.int32), jax.ShapeDtypeStruct((0,), np.int32))


@pytest.mark.parametrize("exact", [False, True])
def test_a_step_sums_just_the_rows_of_its_batch(exact):
    count, steps, threshold = 4000, 20, ODDS // 50
    assert has_many(count, threshold)
    valid = np.arange(count) % 3 > 0

    def mark(shared, earlier, row, key):
        return jax.nn.one_hot(row.numbers[0], count)

    def update(state, sums, key):
        return state[0] + 1, state[1].at[state[0]].set(sums[0])

    state = (jnp.zeros((), jnp.int32), jnp.zeros((steps, count)))
    loop = Loop(**(vars(loop_of(mark, update, threshold)) | {"exact": exact}))
    rows = Row(np.arange(count, dtype=np.int32)[:, None], np.zeros((count, 0), np.int32))
    keys = jax.random.split(jax.random.key(1)), jax.random.key(2)
    numbers = jnp.arange(steps, dtype=jnp.int32)
    run = loop.checked(state, SHAPE, keys[1]).compiled()
    found = np.asarray(run(state, rows, valid, *keys, numbers)[1])
    # Whole, once or not at all; batches of more than one chunk lose nothing.
    assert np.abs(found - np.rint(found)).max() < 1e-6 and set(np.rint(found).ravel()) == {0, 1}
    assert not found[:, ~valid].any()
    sizes, mean = np.rint(found).sum(1), valid.sum() / 50
    assert len(np.unique(sizes)) > 5 and np.abs(sizes - mean).max() < 6 * math.sqrt(mean)


def largest(jaxpr):
    """Of the arrays that a program makes, the size of the largest."""
    sizes = [0]
    for equation in jaxpr.eqns:
        sizes += [math.prod(v.aval.shape) for v in equation.outvars]
        sizes += [largest(inner) for inner, _ in inner_programs(equation)]
    return max(sizes)


@pytest.mark.parametrize("rows", [10**6, 3000])
def test_a_step_makes_no_array_as_long_as_the_table(rows):
    threshold = -(-64 * ODDS // rows)
    loop = loop_of(lambda s, e, row, k: row.numbers * 1.0, lambda s, sums, k: sums[0], threshold)
    state, key = jnp.zeros(1), jax.random.key(0)
    loop = loop.checked(state, SHAPE, key)
    table = Row(*(jax.ShapeDtypeStruct((rows, *part.shape), part.dtype) for part in SHAPE))
    with jax.enable_x64(True):
        valid, numbers = jax.ShapeDtypeStruct((rows,), bool), jnp.arange(3, dtype=jnp.int32)
        keys = step_keys(jax.random.split(key), key, numbers, stages=1)
        program = jax.make_jaxpr(loop.run)(state, table, valid, keys, np.int32(3))
    # The small table shows that what is looked for would be found.
    assert (largest(program.jaxpr) < 1000) is (rows == 10**6)
