"""What facts determine is left out for methods, and computed for what they draw."""

import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.methods import find
from nacre.rows import TableEncoder
from nacre.schema import Schema

TEXT = """
nacre: 1
label: y
columns:
  code: {type: categorical, values: [A1, A2, B1]}
  group: {type: categorical, values: [A, B]}
  rate: {type: real, low: 0, high: 10, decimals: 1}
  a: {type: integer, low: 0, high: 50}
  b: {type: integer, low: 0, high: 50, nullable: true}
  total: {type: integer, low: 0, high: 80, nullable: true}
  about: {type: real, low: 0, high: 4000, nullable: true}
  began: {type: datetime, low: 2020-01-01, high: 2021-12-31}
  ended: {type: datetime, low: 2020-01-01, high: 2021-12-31, nullable: true}
  d1: {type: categorical, values: [x, z], nullable: true}
  d2: {type: integer, low: 0, high: 2000, nullable: true}
  y: {type: boolean}
constraints:
  - began <= ended
facts:
  - group determined by code: {"A1,A2": A, B1: B}
  - rate determined by group: {A: 0.5, B: 7}
  - total = a + b
  - about = a * b within 10%
  - ended is missing exactly when total > 60
  - d1, d2 are missing together
"""
SCHEMA = Schema.parse(TEXT)
COMPUTED = {"group", "rate", "total", "about"}


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder.of(SCHEMA)


def drawn(encoder, n=4000, seed=0):
    """Rows as a generator without any idea of the table would draw them."""
    layout, rng = encoder.layout, np.random.default_rng(seed)
    ticks = rng.integers(0, layout.limits, (n, len(layout.numbers)), endpoint=True)
    return layout.encoded(ticks, rng.integers(0, layout.sizes, (n, len(layout.codes))))


def test_methods_see_nothing_of_what_is_determined(encoder):
    assert set(SCHEMA.names) - set(encoder.modeled.names) == COMPUTED
    assert encoder.modeled.facts == ()
    assert [str(each) for each in encoder.differences] == ["ended >= began"]


def test_every_row_that_is_drawn_keeps_every_fact(encoder):
    rows = encoder.settle(drawn(encoder), np.random.default_rng(1))
    assert 0.4 < rows.valid.mean() < 0.95  # some sums of a and b are beyond 80, others are not
    table = encoder.decode(rows[rows.valid])
    assert SCHEMA.check(table).facts == dict.fromkeys(map(str, SCHEMA.facts), 0)
    assert table["ended"].null_count > 0


def test_no_row_is_lost_for_a_gap(encoder):
    rows = drawn(encoder)
    a, b = rows.layout.number("a"), rows.layout.number("b")
    gone = rows.codes[:, rows.layout.code("b", "missing")] == 1
    fits = gone | (rows.ticks[:, a] + rows.ticks[:, b] <= 80)
    rows.ticks[:, rows.layout.number("began")] %= 300
    rows.ticks[:, rows.layout.number("ended")] %= 300  # a difference: both fit into two years
    settled = encoder.settle(rows, np.random.default_rng(1))
    np.testing.assert_array_equal(settled.valid, fits)


def test_other_columns_stay_as_they_were_drawn(encoder):
    rows = drawn(encoder)
    settled = encoder.settle(rows, np.random.default_rng(1))
    for name in ("a", "began"):
        one, two = rows.layout.number(name), settled.layout.number(name)
        np.testing.assert_array_equal(rows.ticks[:, one], settled.ticks[:, two])


def test_what_was_drawn_is_not_changed(encoder):
    rows, again = drawn(encoder), drawn(encoder)
    encoder.settle(rows, np.random.default_rng(1))
    np.testing.assert_array_equal(rows.ticks, again.ticks)
    np.testing.assert_array_equal(rows.codes, again.codes)


def test_a_gap_is_filled_from_rows_of_the_same_class():
    columns = {
        "c": {"type": "categorical", "values": ["no", "yes"]},
        "x": {"type": "integer", "low": 0, "high": 9, "nullable": True},
        "y": {"type": "boolean"},
    }
    said = {"columns": columns, "label": "y", "facts": ["x is missing exactly when c = yes"]}
    encoder = TableEncoder.of(Schema.from_dict(said))
    rng, n = np.random.default_rng(0), 500
    y, gone = rng.integers(0, 2, n), rng.integers(0, 2, n)
    codes = np.stack([np.zeros(n, int), gone, y], axis=1)
    rows = encoder.layout.encoded(np.where(gone, 0, 3 + 4 * y)[:, None], codes)
    found = encoder.decode(encoder.settle(rows, rng))
    assert found["x"].to_pylist() == (3 + 4 * y).tolist()


def test_without_a_donor_a_row_is_not_valid(encoder):
    one = drawn(encoder, n=1)
    missing = one.layout.code("ended", "missing")
    one.codes[:, missing], one.ticks[:, :2] = 1, 5
    one.codes[:, one.layout.code("b", "missing")] = 0
    assert not encoder.settle(one, np.random.default_rng(0)).valid.any()


def test_a_row_is_encoded_by_itself_whether_it_breaks_facts_or_not(encoder):
    rows = encoder.settle(drawn(encoder, n=60), np.random.default_rng(1))
    table = encoder.decode(rows[rows.valid])
    wrong = table.set_column(
        SCHEMA.names.index("total"), "total", pa.array([1] * table.num_rows, pa.int64())
    )
    one, two = (encoder.encode(each.combine_chunks().to_batches()[0]) for each in (table, wrong))
    np.testing.assert_array_equal(one.rows.numbers, two.rows.numbers)
    np.testing.assert_array_equal(one.rows.codes, two.rows.codes)
    assert two.valid.all()


def test_products_fill_their_tolerance(encoder):
    rows = encoder.settle(drawn(encoder), np.random.default_rng(1))
    table = encoder.decode(rows[rows.valid]).to_pandas()
    product = (table["a"] * table["b"]).astype(float)
    part = (table["about"] / product)[product > 100].dropna()
    assert part.between(0.9, 1.1).all()
    assert part.min() < 0.91
    assert part.max() > 1.09


def test_an_encoder_survives_being_saved(encoder):
    again = TableEncoder.from_dict(encoder.to_dict())
    assert again == encoder
    assert again.layout == encoder.layout


@pytest.mark.parametrize("method", ["mosaic", "merf"])
def test_a_model_of_such_a_table(encoder, method, tmp_path):
    rows = encoder.settle(drawn(encoder), np.random.default_rng(1))
    table = encoder.decode(rows[rows.valid])
    small = find(method)().small()
    model = nacre.fit(table, SCHEMA, method=small, epsilon=1, delta=1e-5)
    made = model.sample_arrow(500, seed=0, where={"group": "A", "code": "A2"})
    assert SCHEMA.check(made).facts == dict.fromkeys(map(str, SCHEMA.facts), 0)
    assert set(made["rate"].to_pylist()) == {0.5}
    model.save(tmp_path / "model.nacre")
    again = nacre.load(tmp_path / "model.nacre")
    assert again.sample_arrow(50, seed=3).equals(model.sample_arrow(50, seed=3))
