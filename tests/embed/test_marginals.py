"""Marginals of one row: places are those that NumPy finds, bounds hold and are reached."""

import itertools
import math

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.cells import fine_cells, table_columns
from nacre.embed.marginals import cell_places, offsets, single_features, table_features
from nacre.schema import Code, Layout, Number
from nacre.vault import Bound, Row, Segment
from nacre.vault.doors.sum import ExactSum, row_shape
from nacre.vault.rows import Block, grid

LAYOUT = Layout(
    numbers=(Number("few", 9), Number("many", 99_999), Number("gap", 700), Number("real", 1 << 30)),
    codes=(Code("sex", 2), Code("gap", 2, "missing"), Code("label", 3), Code("job", 5)),
)
LABEL, MOST = 2, 40
COLUMNS = table_columns(LAYOUT, LABEL, MOST)
SIZES = [column.size for column in COLUMNS]


def encoded(n, seed=0):
    rng = np.random.default_rng(seed)
    ticks = rng.integers(0, LAYOUT.limits, (n, 4), endpoint=True)
    ticks[rng.random((n, 4)) < 0.2] = 0
    ticks = np.where(rng.random((n, 4)) < 0.1, LAYOUT.limits, ticks)
    return LAYOUT.encoded(ticks, rng.integers(0, LAYOUT.sizes, (n, 4)))


def numpy_cells(rows):
    """The same cells by searching the ticks' intervals."""
    found = []
    for column in COLUMNS:
        if column.number < 0:
            found.append(rows.codes[:, column.code])
            continue
        cell = np.searchsorted(column.cells.high, rows.ticks[:, column.number])
        if column.nullable:
            cell = np.where(rows.codes[:, column.code] == 1, column.size - 1, cell)
        found.append(cell)
    return np.stack(found, 1)


def test_columns_join_a_number_with_its_missing_indicator_and_leave_the_label_out():
    assert [(c.number, c.code) for c in COLUMNS] == [
        (0, -1),
        (1, -1),
        (2, 1),
        (3, -1),
        (-1, 0),
        (-1, 3),
    ]
    assert SIZES == [10, 40, 41, 40, 2, 5]


@pytest.mark.parametrize("ticks", [1, 39, 40, 41, 700, 16_384, 16_385, 99_999, 1 << 30, 1 << 60])
def test_fine_cells_cover_every_tick_once(ticks):
    cells = fine_cells(Number("x", ticks), 40)
    assert cells.low[0] == 0 and cells.high[-1] == ticks
    assert (cells.low[1:] == cells.high[:-1] + 1).all()
    assert (cells.low <= cells.high).all()
    assert cells.size == min(ticks + 1, 40)
    if ticks >= 40:
        assert cells.high[0] == 0 and cells.low[-1] == ticks
        width = (cells.high - cells.low + 1)[1:-1]
        assert width.max() <= width.min() + max(2, ticks / 2**15)


@pytest.mark.parametrize("ticks", [700, 16_384, 16_385, 26_304, 99_999, 1 << 30, 1 << 60])
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_cells_are_finer_near_zero_and_nowhere_twice_as_wide_as_equal_ones(ticks, part):
    zero = round(part * ticks)
    cells = fine_cells(Number("x", ticks, zero), 256)
    assert cells.low[0] == 0 and cells.high[-1] == ticks
    assert (cells.low[1:] == cells.high[:-1] + 1).all() and (cells.low <= cells.high).all()
    width = (cells.high - cells.low + 1)[1:-1]
    assert width.max() <= 2 * ticks / 254 + 2
    if ticks > 10_000:
        near = np.searchsorted(cells.high, min(max(zero, 1), ticks - 1)) - 1
        assert width[near] < ticks / 254 / 20
        assert 200 < cells.size <= 256


def test_places_are_those_of_the_ticks():
    rows = encoded(4000)
    # Beyond 2^16 ticks a row shows a rounded number: keep to ticks that the grid shows exactly.
    rows.ticks[:, 3] = rows.ticks[:, 3] >> 14 << 14
    places = jax.vmap(cell_places(LAYOUT, COLUMNS, MOST))(grid(rows, LAYOUT))
    assert (np.asarray(places) == numpy_cells(rows) + offsets(SIZES)[:-1]).all()


@pytest.mark.parametrize("ticks", [1, 2, 5, 511, 512, 4500, 16_384, 30_000, 65_536, 99_999])
@pytest.mark.parametrize("part", [None, 0, 0.4])
def test_every_tick_that_the_grid_can_tell_finds_its_cell(ticks, part):
    zero = None if part is None else round(part * ticks)
    layout = Layout(numbers=(Number("x", ticks, zero),), codes=())
    (column,) = columns = table_columns(layout, -1, 512)
    every = np.arange(ticks + 1)[:, None]
    found = jax.vmap(cell_places(layout, columns, 512))(grid(layout.encoded(every), layout))
    wanted = np.searchsorted(column.cells.high, every)
    # Above 2^16 ticks two neighbors may share a position; never more than one cell apart.
    difference = np.abs(np.asarray(found) - wanted)
    assert difference.max() <= (1 if ticks > 1 << 16 else 0)
    assert (difference > 0).mean() < 0.01


def sums(features, size, norm, rows):
    bound = Bound(segments=(Segment(size=size, norm=norm, signed=False),), by="label")
    shape = row_shape(len(LAYOUT.numbers), len(LAYOUT.codes))
    exact = ExactSum(features, bound, shape, label=LABEL)
    assert exact.exact and exact.integer, "must run as integers, hence mapped over rows"
    return exact([Block(grid(rows, LAYOUT), rows.valid)], 3)[0]


def bins_and_widths():
    rng = np.random.default_rng(1)
    widths = [min(size, 4) for size in SIZES]
    return [rng.integers(0, w, size) for w, size in zip(widths, SIZES, strict=True)], widths


def test_the_sums_are_the_class_wise_histograms():
    rows = encoded(512)
    rows.ticks[:, 3] = rows.ticks[:, 3] >> 14 << 14
    features = single_features(cell_places(LAYOUT, COLUMNS, MOST))
    found = sums(features, sum(SIZES), math.sqrt(len(SIZES)), rows)
    cells, label = numpy_cells(rows), rows.codes[:, LABEL]
    for column, (start, size) in enumerate(zip(offsets(SIZES), SIZES, strict=False)):
        wanted = np.bincount(label * size + cells[:, column], minlength=3 * size).reshape(3, size)
        assert (found[:, start : start + size] == wanted).all()


ALL = [(0,), (3,), *itertools.combinations(range(6), 2)]
SOME = [(4,), (1, 3), (1, 5), (3, 5)]


@pytest.mark.parametrize("tables", [ALL, SOME], ids=["all", "some"])
def test_the_sums_are_the_weighted_class_wise_tables(tables):
    rows = encoded(512)
    rows.ticks[:, 3] = rows.ticks[:, 3] >> 14 << 14
    bins, widths = bins_and_widths()
    weights = np.arange(3, 3 + len(tables))
    places = cell_places(LAYOUT, COLUMNS, MOST)
    features = table_features(places, np.concatenate(bins), widths, tables, weights, skipped=[1])
    sizes = [math.prod(widths[c] for c in table) for table in tables]
    norm = math.sqrt((weights**2).sum())
    found = sums(features, sum(sizes), norm, rows)
    cells, label = numpy_cells(rows), rows.codes[:, LABEL]
    for number, (start, size) in enumerate(zip(offsets(sizes), sizes, strict=False)):
        cell = np.zeros(len(label), int)
        for c in tables[number]:
            cell = cell * widths[c] + bins[c][cells[:, c]]
        wanted = weights[number] * np.bincount(label * size + cell, minlength=3 * size)
        wanted = wanted.reshape(3, size)
        if number == 0:
            wanted[:, 1] = 0  # skipped
        assert (found[:, start : start + size] == wanted).all()


wild = st.integers(-(2**31), 2**31 - 1)


@settings(deadline=None, max_examples=60)
@given(st.tuples(*[wild] * 4), st.tuples(*[wild] * 4))
def test_the_bound_holds_and_is_reached_on_any_row(numbers, codes):
    row = Row(np.array(numbers, np.int32), np.array(codes, np.int32))
    for run, size, square in ((SINGLE, sum(SIZES), 6), (TABLES, TABLES_SIZE, 15 * 7**2)):
        indices, values = map(np.asarray, run(row))
        assert (values**2).sum() == square
        assert (np.diff(indices) > 0).all()
        assert indices[0] >= 0 and indices[-1] < size


PLACES = cell_places(LAYOUT, COLUMNS, MOST)
SINGLE = jax.jit(single_features(PLACES))
BINS, WIDTHS = bins_and_widths()
PAIRS = list(itertools.combinations(range(6), 2))
TABLES_SIZE = sum(WIDTHS[i] * WIDTHS[j] for i, j in PAIRS)
TABLES = jax.jit(table_features(PLACES, np.concatenate(BINS), WIDTHS, PAIRS, [7] * 15))
