"""Persons out of rows: so many rows each, what is constant the same, nothing broken."""

import numpy as np
import pytest

from nacre.errors import NacreError
from nacre.rows import TableEncoder
from nacre.rows.gathering import Gathering
from nacre.schema import Categorical, Integer, Schema

COLUMNS = {
    "sex": Categorical(values=("f", "m")),
    "born": Integer(low=1900, high=2000),
    "decade": Integer(low=190, high=200),
    "age": Integer(low=0, high=120),
    "year": Integer(low=1900, high=2120),
}
SCHEMA = Schema(
    COLUMNS,
    unit={"column": "who", "rows": 3, "constant": ["sex", "born"]},
    constraints=["born <= year"],
    facts=["year = born + age"],
)


def drawn(schema, n, rng, many=None):
    """Settled rows as a model might draw them; `many` says of how many rows each person is."""
    layout = schema.counted.layout
    rows = layout.encoded(
        rng.integers(0, layout.limits + 1, (n, len(layout.numbers))),
        rng.integers(0, layout.sizes, (n, len(layout.codes))),
    )
    if many is not None:
        rows.codes[:, -1] = many - 1
    return rows


@pytest.fixture
def people():
    """Persons of one, two and three rows, in three calls."""
    schema = Schema(
        {name: COLUMNS[name] for name in ("sex", "born", "age")},
        unit={"column": "who", "rows": 3, "constant": ["sex", "born"]},
    )
    rng = np.random.default_rng(0)
    gathering, parts, ids = Gathering(schema, ()), [], []
    rows = drawn(schema, 5000, rng)
    for part in (rows[:2000], rows[2000:2001], rows[2001:]):
        gathered, own = gathering(part, rng)
        parts.append(gathered)
        ids.append(np.asarray(own))
    return rows, parts, np.concatenate(ids)


def test_persons_are_whole_and_numbered(people):
    rows, parts, ids = people
    many = np.concatenate([part.codes[:, -1] for part in parts]) + 1
    _, first, counts = np.unique(ids, return_index=True, return_counts=True)
    np.testing.assert_array_equal(counts, many[first])
    assert (np.diff(np.flatnonzero(np.diff(ids, prepend=0))) <= 3).all()  # side by side
    assert len(first) == ids.max()
    waiting = len(rows) - len(ids)
    assert 0 <= waiting <= 3


def test_what_is_constant_does_not_change_and_keeps_its_shares(people):
    rows, parts, ids = people
    sex, born, age = (
        np.concatenate([part.codes[:, 0] for part in parts]),
        np.concatenate([part.ticks[:, 0] for part in parts]),
        np.concatenate([part.ticks[:, 1] for part in parts]),
    )
    for values in (sex, born):
        assert all(len(set(values[ids == p])) == 1 for p in np.unique(ids))
    assert any(len(set(age[ids == p])) > 1 for p in np.unique(ids))
    assert abs(sex.mean() - rows.codes[:, 0].mean()) < 0.02
    assert abs(born.mean() - rows.ticks[:, 0].mean()) < 1
    # Rows that come together were near each other, so that other columns stay in place.
    assert abs(np.sort(age) - np.sort(rows.ticks[:, 1])[: len(age)]).mean() < 1


def test_a_row_stays_in_proportion_to_the_rows_of_its_person():
    schema = SCHEMA.select(["sex", "born"])
    rows = drawn(schema, 3, np.random.default_rng(0), many=np.array([1, 2, 3]))
    np.testing.assert_allclose(Gathering(schema, ()).chances(rows), [1 / 3, 2 / 3, 1])


def test_constraints_and_facts_hold_all_the_same():
    rng = np.random.default_rng(0)
    schema = SCHEMA.select(["sex", "born", "age", "year"])
    rows = drawn(schema, 900, rng, many=np.full(900, 3))
    rows.ticks[:, 2] = rows.ticks[:, 0] + rows.ticks[:, 1]  # year = born + age, both from their low
    rows = rows[rows.ticks[:, 2] <= 220]
    gathered, ids = Gathering(schema, schema.rules)(rows, rng)
    table = schema.counted.decode(gathered).to_pandas()
    assert (table.year == table.born + table.age).all()
    assert (table.groupby(np.asarray(ids)).born.nunique() == 1).all()


def test_one_row_a_person_needs_no_gathering_but_has_ids():
    schema = Schema({"age": COLUMNS["age"]}, unit={"column": "who", "rows": 1})
    gathering = Gathering(schema, ())
    rows = drawn(schema, 10, np.random.default_rng(0))
    gathered, ids = gathering(rows, np.random.default_rng(0))
    assert sorted(ids.to_pylist()) == list(range(1, 11))
    table = gathering.label(TableEncoder.of(schema).decode(gathered), ids)
    assert table.column_names == ["who", "age"]


def test_without_a_unit_there_are_no_persons():
    with pytest.raises(NacreError, match="with a unit"):
        Gathering(Schema({"age": COLUMNS["age"]}), ())
    assert TableEncoder.of(Schema({"age": COLUMNS["age"]})).gathering(()) is None
