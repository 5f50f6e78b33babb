"""The exact sum enforces its bound whatever the features say, and is right for honest ones."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.vaults import block_of

from nacre.rows import Label, TableEncoder
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Bound, Segment, exact_sum
from nacre.vault.exact_sum import ExactSum
from nacre.vault.products import Products
from nacre.vault.tracing import RefusedFunction

SCHEMA = Schema(
    columns={
        "a": Integer(low=0, high=65536),
        "b": Integer(low=0, high=65536),
        "label": Categorical(values=tuple("uvwxyz")),
    }
)
ENCODER, LABEL = TableEncoder(SCHEMA), Label("label", 6)


def total(features, bound, rows, codes=None, valid=None):
    codes = [[0]] * len(rows) if codes is None else codes
    encoded = SCHEMA.layout.encoded(rows, codes, valid)
    exact = ExactSum(features, bound, ENCODER)
    sums, counts = exact([block_of(encoded)])
    scale = np.concatenate(
        [np.full(s.size, u) for s, u in zip(bound.segments, exact.units, strict=True)]
    )
    return sums * scale, counts


def one(size=2, norm=1e5, **more):
    return Bound(segments=(Segment(size=size, norm=norm, **more),))


def test_honest_integers_are_summed_exactly():
    rows = np.random.default_rng(0).integers(0, 65537, (1300, 2))
    sums, counts = total(lambda row: row.numbers, one(), rows)
    np.testing.assert_array_equal(sums[0], rows.sum(0))
    assert counts == [1300]


@pytest.mark.parametrize("classes", [3, 6])
def test_labels_have_blocks_of_their_own(classes):
    rng = np.random.default_rng(0)
    rows, codes = rng.integers(0, 65537, (1300, 2)), rng.integers(0, classes, (1300, 1))
    bound = Bound(segments=one().segments, by=LABEL)
    sums, counts = total(lambda row: row.numbers, bound, rows, codes)
    for label in range(6):
        np.testing.assert_array_equal(sums[label], rows[codes[:, 0] == label].sum(0))
        assert counts[label] == (codes == label).sum()


def test_rows_that_do_not_count():
    sums, counts = total(lambda row: row.numbers, one(), [[5, 6], [7, 8]], valid=[True, False])
    np.testing.assert_array_equal(sums, [[5, 6]])
    assert counts == [1]


def test_a_lie_about_the_norm_is_clipped_and_keeps_its_direction():
    sums, _ = total(lambda row: row.numbers, one(norm=100.0), [[3000, 4000]])
    np.testing.assert_array_equal(sums, [[59, 79]])  # 60, 80 less a hair, towards zero
    sums, _ = total(lambda row: row.numbers / 1000.0, one(norm=1.0), [[3000, 4000]])
    assert sums[0] == pytest.approx([0.6, 0.8], abs=4e-6)
    assert np.linalg.norm(sums) <= 1


def test_what_is_exactly_at_the_bound_is_left_alone():
    sums, _ = total(lambda row: row.numbers, one(norm=5.0), [[3, 4]])
    np.testing.assert_array_equal(sums, [[3, 4]])
    sums, _ = total(lambda row: row.numbers, one(norm=2**0.5), [[1, 1]])
    np.testing.assert_array_equal(sums, [[1, 1]])


def test_segments_are_clipped_one_by_one():
    bound = Bound(segments=(Segment(size=1, norm=10.0), Segment(size=1, norm=1e5)))
    sums, _ = total(lambda row: row.numbers, bound, [[3000, 4000]])
    np.testing.assert_array_equal(sums, [[9, 4000]])  # 10 less a hair, towards zero


def test_a_segment_declared_non_negative_is():
    sums, _ = total(lambda row: -row.numbers, one(signed=False), [[3, 4]])
    assert not sums.any()
    sums, _ = total(lambda row: (row.numbers - 4) * 0.25, one(norm=1, signed=False), [[3, 5]])
    assert sums[0] == pytest.approx([0, 0.25], abs=1e-6)


@pytest.mark.parametrize("value", [jnp.nan, jnp.inf, -jnp.inf])
def test_one_feature_that_is_not_finite_makes_the_row_zero(value):
    def features(row):
        return jnp.where(row.numbers == 7, value, row.numbers / 1000.0)

    sums, counts = total(features, one(norm=10.0), [[7, 1000], [1000, 2000]])
    assert sums[0] == pytest.approx([1, 2], abs=1e-4)
    assert counts == [1]


def test_huge_features_are_clipped_not_wrapped():
    for factor in (-1e300, 3e9):
        sums, _ = total(lambda row, f=factor: row.numbers * f, one(norm=1.0), [[1, 0]])
        assert sums[0] == pytest.approx([np.sign(factor), 0], abs=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_every_integer_type_is_read_as_itself(dtype):
    sums, _ = total(lambda row: row.numbers.astype(dtype), one(norm=500.0), [[100, 27], [3, 4]])
    np.testing.assert_array_equal(sums, [[103, 31]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_floating_type_is_read_as_itself(dtype):
    sums, _ = total(lambda row: row.numbers.astype(dtype) / 4, one(norm=50.0), [[100, 24], [4, 8]])
    assert sums[0] == pytest.approx([26, 8], abs=1e-3)


def sparse(indices, values):
    return lambda row: (jnp.asarray(indices), jnp.asarray(values) * row.numbers[0])


def test_sparse_features_land_in_their_places():
    bound = Bound(segments=(Segment(size=3, norm=9.0), Segment(size=4, norm=2.0)))
    sums, _ = total(sparse([0, 2, 6], [1, 5, 2]), bound, [[1, 0]])
    np.testing.assert_array_equal(sums, [[1, 0, 5, 0, 0, 0, 2]])


@pytest.mark.parametrize("indices", [[0, 0], [2, 1], [-1, 2], [3, 7], [0, 2**31 - 1]])
def test_sparse_features_with_bad_places_are_zero(indices):
    bound = Bound(segments=(Segment(size=7, norm=10.0),))
    sums, counts = total(sparse(indices, [1, 1]), bound, [[1, 0]])
    assert not sums.any() and counts == [0]


def test_sparse_and_dense_agree_on_clipping():
    rows = np.random.default_rng(1).integers(0, 65537, (50, 2))
    bound = Bound(segments=(Segment(size=2, norm=30000.0), Segment(size=1, norm=20000.0)))

    def dense(row):
        return jnp.concatenate([row.numbers - 30000, row.numbers[:1]])

    def listed(row):
        return jnp.arange(3), dense(row)

    for one_of, other in zip(total(dense, bound, rows), total(listed, bound, rows), strict=True):
        np.testing.assert_array_equal(one_of, other)


def products(row):
    x = row.numbers / 65536 / 2
    return Products(x, jnp.stack([x, x[::-1]]), jnp.stack([x[:1], -x[1:]]))


@pytest.mark.parametrize("classes", [None, LABEL])
def test_products_are_summed_behind_plain_features(classes):
    rng = np.random.default_rng(2)
    rows, codes = rng.integers(0, 65537, (1300, 2)), rng.integers(0, 6, (1300, 1))
    bound = Bound(segments=(Segment(size=2, norm=1.0), Segment(size=2, norm=1.0)), by=classes)
    sums, _ = total(products, bound, rows, codes)
    x = rows / 65536 / 2
    exact = np.concatenate([x, x * x[:, :1] - x[:, ::-1] * x[:, 1:]], axis=1)
    groups = [np.ones(1300, bool)] if classes is None else [codes[:, 0] == c for c in range(6)]
    for found, mine in zip(sums, groups, strict=True):
        np.testing.assert_allclose(found, exact[mine].sum(0), rtol=0, atol=1300 * 2**-12)


def test_either_factor_of_a_product_is_clipped_by_itself():
    def lie(row):
        return Products(jnp.zeros(0), row.numbers[None] * 100.0, jnp.array([[0.5, 0.0]]))

    sums, _ = total(lie, Bound(segments=(Segment(size=4, norm=1.0),)), [[3, 4]])
    assert sums[0] == pytest.approx([0.3, 0, 0.4, 0], abs=2**-12)


def test_a_factor_that_is_not_finite_makes_the_row_zero():
    def bad(row):
        return Products(jnp.ones(1), jnp.ones((1, 1)) / (row.numbers[:1] - 7), jnp.ones((1, 1)))

    bound = Bound(segments=(Segment(size=1, norm=1.0), Segment(size=1, norm=1.0)))
    sums, counts = total(bad, bound, [[7, 0], [8, 0]])
    np.testing.assert_array_equal(sums, [[1, 1]])
    assert counts == [1]


@pytest.mark.parametrize(
    ("returned", "last"),
    [
        (Products(jnp.zeros(0), jnp.ones((1, 2)), jnp.ones((1, 2))), {"size": 3}),
        (Products(jnp.zeros(1), jnp.ones((1, 2)), jnp.ones((1, 2))), {"size": 4}),
        (Products(jnp.zeros(0), jnp.ones((2, 2)), jnp.ones((1, 2))), {"size": 4}),
        (Products(jnp.zeros(0), jnp.ones(2), jnp.ones(2)), {"size": 4}),
        (Products(jnp.zeros(0), jnp.ones((1, 2), int), jnp.ones((1, 2))), {"size": 4}),
        (Products(jnp.zeros(0), jnp.ones((1, 2)), jnp.ones((1, 2))), {"size": 4, "norm": 2}),
        (Products(jnp.zeros(0), jnp.ones((1, 2)), jnp.ones((1, 2))), {"size": 4, "signed": False}),
        (Products(jnp.zeros(0), (jnp.ones((1, 2)),), jnp.ones((1, 2))), {"size": 4}),
    ],
)
def test_products_that_do_not_fill_the_bound_are_refused(returned, last):
    bound = Bound(segments=(Segment(**{"norm": 1.0} | last),))
    with pytest.raises(RefusedFunction):
        ExactSum(lambda row: returned, bound, ENCODER)


@pytest.mark.parametrize(
    "features",
    [
        lambda row: row.numbers[:1],
        lambda row: row.numbers[None],
        lambda row: (row.numbers,),
        lambda row: {"a": row.numbers, "b": row.numbers},
        lambda row: (row.numbers, row.numbers, row.numbers),
        lambda row: (row.numbers / 2, row.numbers),
        lambda row: (row.numbers[:1], row.numbers),
        lambda row: row.numbers > 3,
        lambda row: row.numbers * 1j,
    ],
)
def test_outputs_that_are_no_feature_vector_are_refused(features):
    with pytest.raises(RefusedFunction):
        ExactSum(features, one(), ENCODER)


def test_a_bound_too_large_for_integers_is_refused():
    with pytest.raises(ValueError, match="scale the features down"):
        ExactSum(lambda row: row.numbers, one(norm=2.0**26), ENCODER)


def test_an_empty_table_has_the_sum_zero():
    sums, counts = total(lambda row: row.numbers, one(), np.zeros((0, 2)), np.zeros((0, 1)))
    assert not sums.any() and counts == [0]


SEGMENTS = (
    Segment(size=5, norm=3.0, signed=False),
    Segment(size=4, norm=4.0),
    Segment(size=6, norm=2.0),
)


def anywhere(row):
    """Indices that may fall back or share a segment, and values that may be too large."""
    a, b = row.numbers[0], row.numbers[1]
    return jnp.stack([a % 7, 4 + b % 5, 12 + a % 4]), jnp.stack([a % 6, b % 13 - 3, a % 3])


def by_hand(a, b, segments):
    """What one row contributes, by plain arithmetic."""
    found, ends = np.zeros(15, np.int64), np.cumsum([s.size for s in segments])
    indices, values = [a % 7, 4 + b % 5, 12 + a % 4], [a % 6, b % 13 - 3, a % 3]
    if not indices[0] < indices[1] < indices[2] < 15:
        return found, 0
    for place, segment in enumerate(segments):
        own = [k for k in range(3) if np.searchsorted(ends, indices[k], side="right") == place]
        part = {k: values[k] if segment.signed else max(values[k], 0) for k in own}
        square, limit = sum(v**2 for v in part.values()), int(segment.norm**2)
        scale = np.sqrt(limit / square) * (1 - 2.0**-40) if square > limit else 1.0
        for k, value in part.items():
            found[indices[k]] = np.trunc(value * scale)
    return found, 1


@pytest.mark.parametrize("segments", [SEGMENTS, (Segment(size=15, norm=5.0),)])
@pytest.mark.parametrize("rows", [40, 3000])  # fewer and more values than the sums have places
@pytest.mark.parametrize("wide", [exact_sum.WIDE, 1])  # put down row by row, or value by value
def test_sparse_features_are_clipped_row_by_row(segments, rows, wide, monkeypatch):
    monkeypatch.setattr(exact_sum, "WIDE", wide)
    rng = np.random.default_rng(0)
    numbers, codes = rng.integers(0, 65537, (rows, 2)), rng.integers(0, 6, (rows, 1))
    sums, counts = total(anywhere, Bound(segments=segments, by=LABEL), numbers, codes)
    wanted, good = np.zeros((6, 15)), np.zeros(6)
    for (a, b), (label,) in zip(numbers.tolist(), codes.tolist(), strict=True):
        row, counts_as = by_hand(a, b, segments)
        wanted[label] += row
        good[label] += counts_as
    np.testing.assert_array_equal(sums, wanted)
    np.testing.assert_array_equal(counts, good)
    assert 0 < good.sum() < rows  # both kinds of rows were there


def test_blocks_of_sparse_features_may_be_of_any_size():
    numbers = np.random.default_rng(0).integers(0, 65537, (2048, 2))
    encoded = SCHEMA.layout.encoded(numbers, [[0]] * 2048, None)
    exact = ExactSum(anywhere, Bound(segments=SEGMENTS), ENCODER)
    whole = exact([block_of(encoded)])
    # Of blocks of a single row many are calm, of large ones none.
    for size in (1, 512):
        parts = [block_of(encoded[start : start + size]) for start in range(0, 2048, size)]
        for one_way, other in zip(whole, exact(parts), strict=True):
            np.testing.assert_array_equal(one_way, other)


def test_a_block_in_which_no_row_counts_adds_nothing():
    sums, counts = total(anywhere, Bound(segments=SEGMENTS), [[1, 2]], valid=[False])
    assert not sums.any()
    assert counts == [0]


def test_a_program_that_is_compiled_quickly_gives_the_same_integers():
    rng = np.random.default_rng(0)
    rows, codes = rng.integers(0, 65537, (700, 2)), rng.integers(0, 6, (700, 1))
    bound = Bound(segments=one(size=9, norm=3e4).segments, by=LABEL)

    def features(row):  # most rows are clipped
        return jnp.array([1, 7], jnp.int32), row.numbers

    exact, blocks = (
        ExactSum(features, bound, ENCODER),
        [block_of(SCHEMA.layout.encoded(rows, codes))],
    )
    quick = exact(blocks, quickly=True)
    assert exact._step._cache_size() == 0  # it was another program
    for one_way, other in zip(quick, exact(blocks), strict=True):
        np.testing.assert_array_equal(one_way, other)


def test_few_rows_are_not_worth_compiling_well_for():
    def features(row):
        return jnp.arange(2, dtype=jnp.int32), row.numbers

    exact = ExactSum(features, one(), ENCODER)
    assert exact.features.operations >= 2
    assert exact._few(1000)
    assert not exact._few(exact_sum.FEW)
    assert not exact._few(None)
    assert not ExactSum(lambda row: row.numbers, one(), ENCODER)._few(1000)
