"""Encoded rows as a stream: read once a fit, the same blocks however the source is cut."""

import numpy as np
import pyarrow as pa
import pytest

from nacre.fit import fit
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rows import Source, Stream, TableEncoder, open_source
from nacre.rows import stream as stream_module
from nacre.schema import Boolean, Integer, Schema

SCHEMA = Schema({"age": Integer(low=0, high=99), "member": Boolean()}, label="member")
ENCODER = TableEncoder(SCHEMA)
TABLE = pa.table({"age": np.arange(1000) % 100, "member": np.arange(1000) % 3 == 0})


class Counted(list):
    """A source that remembers each pass over its rows."""

    def __init__(self, table=TABLE, size=300):
        super().__init__()
        self.source = Source("test", "arrow", ("age", "member"), None, self._open)
        self.batches = table.to_batches(size)

    def _open(self, faults):
        self.append("pass")
        return iter(self.batches)


def blocks(stream, size=64):
    found = list(stream.blocks(size))
    assert all(len(block.valid) == size for block in found)
    return found


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        for here, there in zip((*a.rows, a.valid), (*b.rows, b.valid), strict=True):
            np.testing.assert_array_equal(here, there)
            assert here.dtype == there.dtype


@pytest.mark.filterwarnings("ignore:.*few for this budget")
@pytest.mark.parametrize("bad_rows", ["check", "zero"])
def test_a_whole_fit_reads_its_source_once(bad_rows):
    counted = Counted()
    fit(
        counted.source,
        SCHEMA,
        method=Mosaic().small(),
        epsilon=1,
        delta=1e-6,
        bad_rows=bad_rows,
        adjacency="replace-one",  # counts the rows, too
    )
    assert counted == ["pass"]


def test_what_is_kept_is_what_was_read():
    counted = Counted()
    stream = Stream(ENCODER, counted.source)
    first = blocks(stream)
    assert stream.check() == stream.count() == 1000
    assert_same(first, blocks(stream))
    whole = stream.whole()
    np.testing.assert_array_equal(whole.rows.numbers[:, 0], TABLE["age"])
    assert whole.valid.all()
    assert counted == ["pass", "pass"]  # the check needs the cells themselves


def test_rows_beyond_the_limit_are_read_again(monkeypatch):
    monkeypatch.setattr(stream_module, "KEPT", 4000)  # bytes; all rows take more
    counted = Counted()
    stream = Stream(ENCODER, counted.source)
    first = blocks(stream)
    assert_same(first, blocks(stream))
    assert_same(first, blocks(Stream(ENCODER, TABLE)))
    assert stream.count() == 1000
    assert counted == ["pass"] * 3
    assert stream._kept is None


def test_a_pass_that_stops_half_way_is_not_kept():
    counted = Counted()
    stream = Stream(ENCODER, counted.source)
    assert len(next(stream.blocks(64)).valid) == 64
    assert_same(blocks(stream), blocks(Stream(ENCODER, TABLE)))


@pytest.mark.parametrize("size", [1, 7, 64, 999, 5000])
def test_blocks_are_the_same_however_the_source_is_cut(size):
    cut = Stream(ENCODER, Counted(size=size).source)
    assert_same(blocks(cut), blocks(Stream(ENCODER, TABLE)))
    assert_same(blocks(cut), blocks(Stream(ENCODER, TABLE)))  # what is kept, too


def test_the_last_block_is_filled_up_with_rows_that_do_not_count():
    *_, last = blocks(Stream(ENCODER, TABLE))
    assert last.valid.sum() == 1000 % 64
    assert not last.rows.numbers[1000 % 64 :].any()


def test_an_empty_table_has_a_block_and_a_row_that_does_not_count():
    stream = Stream(ENCODER, TABLE.slice(0, 0))
    (block,) = blocks(stream)
    assert not block.valid.any()
    assert stream.whole().valid.tolist() == [False]
    assert stream.count() == 0


def test_too_many_rows_for_training_are_told(monkeypatch):
    monkeypatch.setattr(stream_module, "WHOLE", 4000)
    with pytest.raises(ValueError, match="Step-wise training needs all encoded rows in memory"):
        Stream(ENCODER, TABLE).whole()


def test_bad_rows_do_not_count_and_tables_of_one_row_are_refused():
    table = pa.table({"age": [5.0, None, 50.0], "member": ["true", "false", "?"]})
    assert blocks(Stream(ENCODER, table), 4)[0].valid.tolist() == [True, False, False, False]
    with pytest.raises(ValueError, match="has 1 row;"):
        Stream(ENCODER, TABLE.slice(0, 1)).check()


def test_no_row_is_shown_by_accident():
    (block,) = blocks(Stream(ENCODER, open_source(TABLE.slice(0, 3))), 4)
    assert repr(block) == "Block(4 rows)"
