"""A row's contribution is a function of the row alone, to the bit.

In floating point it need not be: the last test shows a plain float32 product whose rows change
with their place in the block.  Then one row more would move the features of all others, and the
sensitivity would grow with the number of rows.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.vaults import compiled_sum, stream_of

from nacre.embed.numbers import on_grid
from nacre.exact import ExactPhases, pair_norm, sine_cosine
from nacre.rows import Label, TableEncoder
from nacre.schema import Categorical, Integer, Real, Schema
from nacre.vault import Bound, Segment
from nacre.vault.exact_sum import BLOCK, ExactSum
from nacre.vault.products import Products

SCHEMA = Schema(
    columns={
        **{f"x{i}": Real(low=0, high=1) for i in range(6)},
        "age": Integer(low=0, high=99),
        "label": Categorical(values=("a", "b", "c", "d", "e")),
        "kind": Categorical(values=tuple("pqrst")),
    }
)
ENCODER, LABEL = TableEncoder(SCHEMA), Label("label", 5)
LAYOUT = ENCODER.layout
FREQUENCIES = np.random.default_rng(5).normal(size=(40, 7 + 5 + 5)) * 3


def table(count, seed=0):
    rng = np.random.default_rng(seed)
    ticks = np.stack([rng.integers(0, number.ticks + 1, count) for number in LAYOUT.numbers], 1)
    codes = np.stack([rng.integers(0, code.size, count) for code in LAYOUT.codes], 1)
    return LAYOUT.encoded(ticks, codes, rng.random(count) > 0.02)


def integers(row):
    return jnp.concatenate([row.numbers - 30000, row.codes * 7])


def floats(row):
    x = jnp.concatenate([ENCODER.units(row), row.codes.astype(jnp.float64)])
    weights = jnp.asarray(FREQUENCIES[:, :9], jnp.float32)
    return jnp.cos(weights @ x.astype(jnp.float32)) / 6.5


PHASES, GRID = ExactPhases(FREQUENCIES, 7, (5, 5)), on_grid(LAYOUT, 16)


def fourier(row):
    return jnp.concatenate(sine_cosine(PHASES(GRID(row), row.codes)))


def sparse(row):
    return jnp.stack([row.codes[1], 5 + row.codes[0]]), jnp.ones(2, jnp.int32)


def products(row):
    waves = floats(row)
    return Products(waves[:7], waves[7:22].reshape(3, 5), waves[22:].reshape(3, 6))


CASES = {
    "integers": (integers, Bound(segments=(Segment(size=9, norm=60000.0),))),
    "floats": (floats, Bound(segments=(Segment(size=40, norm=1.0),))),
    "floats by label": (floats, Bound(segments=(Segment(size=40, norm=1.0),), by=LABEL, count=1)),
    "fourier": (fourier, Bound(segments=(Segment(size=80, norm=pair_norm() * 40**0.5),))),
    "fourier by label": (
        fourier,
        Bound(segments=(Segment(size=80, norm=pair_norm() * 40**0.5),), by=LABEL, count=1),
    ),
    "sparse by label": (
        sparse,
        Bound(segments=(Segment(size=10, norm=1.5, signed=False),), by=LABEL, count=1),
    ),
    "products by label": (
        products,
        Bound(segments=(Segment(size=7, norm=1), Segment(size=30, norm=1)), by=LABEL, count=1),
    ),
}


def summed(case):
    """The sum of a case over parts of a table, in blocks of a size."""
    run = compiled_sum(*CASES[case], ENCODER)
    return lambda parts, size=BLOCK: run(stream_of(ENCODER, parts).blocks(size))


def assert_same(one, other):
    for here, there in zip(one, other, strict=True):
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("case", CASES)
def test_order_and_neighbors_change_nothing(case):
    run, rows, one = summed(case), table(1500), table(1, seed=9)
    plain = run([rows])
    assert np.abs(plain[0]).sum() > 0
    assert_same(plain, run([rows[np.random.default_rng(3).permutation(len(rows))]]))
    assert_same(plain, run([rows[700:], rows[:700]]))
    # A row at the front moves every other one, and adds its own contribution and nothing else.
    alone = run([one])
    assert_same([p + a for p, a in zip(plain, alone, strict=True)], run([one, rows]))


def test_the_door_does_the_same():
    features, bound = CASES["floats by label"]
    exact = ExactSum(features, bound, ENCODER)
    rows = table(700)
    assert_same(summed("floats by label")([rows]), exact(stream_of(ENCODER, [rows]).blocks(BLOCK)))


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_chunks_of_the_stream_change_no_block(size):
    rows = table(1500)
    chunks = [rows[start : start + size] for start in range(0, len(rows), size)]
    streams = (stream_of(ENCODER, parts) for parts in ([rows], chunks))
    for one, other in zip(*(stream.blocks(BLOCK) for stream in streams), strict=True):
        assert_same([*one.rows, one.valid], [*other.rows, other.valid])


@pytest.mark.parametrize("case", ["integers", "fourier"])
def test_integer_features_do_not_depend_on_the_size_of_blocks_either(case):
    run, rows = summed(case), table(900)
    plain = run([rows])
    for size in (1, 7, 4096):
        assert_same(plain, run([rows], size))


def test_why_this_is_needed():
    # The same rows through one float32 product in blocks of 7 and of 4,096.
    rng = np.random.default_rng(0)
    rows = jnp.asarray(rng.random((4096, 107)), jnp.float32)
    weights = jnp.asarray(rng.normal(size=(107, 200)), jnp.float32)
    product = jax.jit(lambda x: x @ weights)
    whole = np.asarray(product(rows))
    small = np.concatenate([np.asarray(product(rows[i : i + 7])) for i in range(0, 700, 7)])
    assert (small != whole[:700]).mean() > 0.01
