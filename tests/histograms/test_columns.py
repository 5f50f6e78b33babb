"""Columns of a file are compared with the layout before anything is made of them."""

import tracemalloc

import pytest

from nacre.histograms.cells import EXACT_TICKS, table_columns
from nacre.histograms.columns import known_columns
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(
    numbers=(Number("age", 20), Number("wage", 10**6)),
    codes=(Code("age", 2, "missing"), Code("job", 3), Code("label", 2)),
)
SIZES = tuple(column.size for column in table_columns(LAYOUT, 2, 512))


def test_the_right_columns_are_found():
    found = known_columns(LAYOUT, 2, 512, SIZES, 2)
    assert [column.size for column in found] == list(SIZES)
    assert found[0].nullable and found[0].size == 22
    every = [column.size for column in table_columns(LAYOUT, None, 512)]
    assert len(known_columns(LAYOUT, None, 512, every, 1)) == 4


@pytest.mark.parametrize(
    ("label", "sizes", "classes"),
    [
        (2, SIZES, 3),
        (1, SIZES, 3),
        (0, SIZES, 2),
        (None, SIZES, 1),
        (2, SIZES[:-1], 2),
        (2, (*SIZES, 1), 2),
        (2, (21, *SIZES[1:]), 2),
        (2, (23, *SIZES[1:]), 2),
        (2, (22, 1, 3), 2),
    ],
)
def test_others_are_refused(label, sizes, classes):
    with pytest.raises(ValueError, match="another layout"):
        known_columns(LAYOUT, label, 512, sizes, classes)


def test_columns_without_tables_cost_nothing():
    layout = Layout(numbers=(Number("x", EXACT_TICKS - 1),) * 1000, codes=())
    tracemalloc.start()
    with pytest.raises(ValueError, match="another layout"):
        known_columns(layout, None, EXACT_TICKS, (1,) * 1000, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
