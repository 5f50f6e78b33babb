"""Whose each row is: the same however ids are stored and rows are cut, and never too much."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.errors import NacreError
from nacre.rows import Source, Stream, TableEncoder, unit
from nacre.rows.unit import WHOLE, Persons, Roster
from nacre.schema import Boolean, Integer, Schema, SchemaError, Unit

UNIT = Unit(column="who", rows=3)
SCHEMA = Schema({"age": Integer(low=0, high=99), "member": Boolean()}, unit=UNIT)
IDS = ["a", "b", "a", None, "c", "a", "a", "b", None, "a"]


def roster(ids, size=100, most=UNIT):
    table = pa.table({"who": ids})
    return Roster.of(most, table.to_batches(size))


def groups(found):
    """The rows of each person, as sets."""
    return {frozenset(np.flatnonzero(found.persons.person == p)) for p in range(found.count)}


def test_rows_of_the_same_id_are_one_person_and_gaps_their_own():
    expected = {frozenset(g) for g in ([0, 2, 5, 6, 9], [1, 7], [4], [3], [8])}
    for size in (1, 3, 100):
        found = roster(pa.array(IDS), size)
        assert groups(found) == expected
        assert (found.count, found.beyond) == (5, 1)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 7, 8, None]),
        pa.array([7.0, 7.0, 8.0, None]),
        pa.array(["7", " 7", "8", ""]),
        pa.array(["7", "7", "8", None]).dictionary_encode(),
        pa.array([decimal.Decimal("7.00"), decimal.Decimal("7.00"), decimal.Decimal(8), None]),
        pa.array([7, 7, 8, None], pa.timestamp("us")),
        pa.chunked_array([["7", "7", "8"], [None]]),
    ],
)
def test_ids_of_any_type_tell_persons_apart(ids):
    found = roster(ids)
    assert groups(found) == {frozenset(g) for g in ([0, 1], [2], [3])}


def test_whole_numbers_keep_all_digits_where_the_type_is_declared():
    batches = pa.table({"who": [2**60, 2**60 + 1, 2**60]}).to_batches()
    found = Roster.of(UNIT, batches, declared=True)
    assert found.count == 2 and not found.unclear
    raw = pa.table({"who": pa.array([b"\xff\xfe", b"\xff\xfd"])}).to_batches()
    assert Roster.of(UNIT, raw, declared=True).count == 2


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 2**60, 2**60 + 1]),
        pa.array([7, 2.0**60, 2.0**60]),
        pa.array(["7", "1.152921504606847e+18", "<cannot be read>"]),
        pa.array([b"7", b"\xff\xfe", b"\xff\xfd"]),
    ],
    ids=["integers", "floats", "objects", "bytes"],
)
def test_ids_that_may_be_somebody_elses_do_not_count(ids):
    """In a frame one gap rounds all whole numbers: so they may never tell persons apart.

    Else a row without an id would change whose every other row is.
    """
    found = roster(ids)
    assert found.persons.kept.tolist() == [True, False, False]
    assert (found.count, found.unclear) == (3, 2)
    frame = pa.table({"who": ids, "age": [1, 2, 3], "member": [True, False, True]})
    with pytest.raises(NacreError, match="2 rows have an id that may be somebody else's"):
        Stream(TableEncoder.of(SCHEMA), frame).check()


def test_a_gap_in_a_frame_changes_nobody_else():
    ids = [2**60 + i for i in range(50)]
    frame = pd.DataFrame({"who": ids, "age": 1, "member": True})
    more = pd.concat([frame, pd.DataFrame({"who": [None], "age": 1, "member": True})])
    counted = []
    for each in (frame, more):
        stream = Stream(TableEncoder.of(SCHEMA), each)
        counted.append(int(stream.roster().persons.kept.sum()))
    assert counted == [0, 1]


def test_ids_without_a_text_are_refused_by_type():
    with pytest.raises(SchemaError, match="cannot tell persons apart"):
        roster(pa.array([[1], [2]]))


def test_a_person_weighs_no_more_than_a_whole_row():
    ids = np.repeat(np.arange(40), np.arange(1, 41))
    found = roster(pa.array(ids), most=Unit(column="who", rows=30))
    total = np.bincount(found.persons.person, found.persons.weight)
    kept = np.bincount(found.persons.person, found.persons.kept)
    many = np.bincount(found.persons.person)
    np.testing.assert_array_equal(kept, np.minimum(many, 30))
    assert (total <= WHOLE).all()
    assert (total[many <= 12] == WHOLE).all()
    assert (total >= WHOLE * 0.995).all()
    assert Persons.nobody(3).weight.sum() == 0


def test_which_rows_count_is_drawn_afresh():
    ids = pa.array(["a"] * 30)
    drawn = {roster(ids).persons.kept.tobytes() for _ in range(20)}
    assert len(drawn) > 10


def test_more_rows_than_can_be_told_apart_are_refused(monkeypatch):
    monkeypatch.setattr(unit, "MOST", 4)
    with pytest.raises(NacreError, match="has more than 4 rows"):
        roster(pa.array(IDS), size=2)


def test_a_table_that_changes_meanwhile_is_refused():
    table = pa.table({"age": [1, 2, 3], "member": [True] * 3, "who": ["a", "b", "c"]})
    longer = pa.concat_tables([table, table])
    passes = iter([table, longer])
    source = Source("t", "arrow", SCHEMA.names, None, lambda _: iter(next(passes).to_batches()))
    with pytest.raises(NacreError, match="has changed since"):
        list(Stream(TableEncoder.of(SCHEMA), source).blocks(4))


def test_a_stream_has_the_rows_that_count_and_says_how_many_a_person_has():
    rows = {"age": np.arange(10), "member": [True] * 10, "who": IDS}
    for data in (pa.table(rows), pd.DataFrame(rows)):
        stream = Stream(TableEncoder.of(SCHEMA), data)
        assert stream.check() == stream.count() == 5
        (block,) = stream.blocks(16)
        own = block.persons
        assert block.valid.sum() == 3 + 2 + 1 + 2
        ages, many = block.rows.numbers[:, 0], block.rows.codes[:, -1] + 1
        for place in np.flatnonzero(block.valid):
            expected = {"a": 3, "b": 2}.get(IDS[ages[place]], 1)
            assert many[place] == own.rows[place] == expected
        assert sum(batch.num_rows for batch in stream.one_row_each()) == 5
        assert block.one_each().valid.sum() == 5


def test_a_broken_record_is_one_person(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,member,who\n1,yes,a\n2,no,a\n3,yes\n4,no,b\n")
    assert Stream(TableEncoder.of(SCHEMA), path).count() == 3


def test_a_table_without_the_column_is_refused():
    with pytest.raises(SchemaError, match="who"):
        Stream(TableEncoder.of(SCHEMA), pa.table({"age": [1], "member": [True]}))


def test_no_row_and_one_person_are_too_few():
    empty = pa.table({"age": [], "member": pa.array([], pa.bool_()), "who": []})
    for ids, said in (([], "no persons"), (["a", "a"], "1 person;")):
        many = len(ids)
        rows = pa.table({"age": [1] * many, "member": [True] * many, "who": ids}) if ids else empty
        with pytest.raises(NacreError, match=said):
            Stream(TableEncoder.of(SCHEMA), rows).check()
    (block,) = Stream(TableEncoder.of(SCHEMA), empty).blocks(4)
    assert len(block.persons) == 4
    assert not block.valid.any()
