"""Marginals of one row: places are those that NumPy finds, bounds hold and are reached."""

import itertools
import math

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vaults import block_of

from nacre.embed.marginals import cell_places, single_features, table_features
from nacre.embed.search import offsets
from nacre.histograms.cells import CodeColumn, fine_cells, table_columns
from nacre.rows import Row, TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Layout, Number, Real, Schema
from nacre.vault import Bound, Segment
from nacre.vault.exact_sum import ExactSum

SCHEMA = Schema(
    {
        "few": Integer(low=0, high=9),
        "many": Integer(low=0, high=99_999),
        "sex": Boolean(),
        "gap": Integer(low=0, high=700, nullable=True),
        "label": Categorical(values=tuple("abc")),
        "job": Categorical(values=tuple("abcde")),
        "wide": Integer(low=0, high=(1 << 40) + 12_345),  # rows show its leading 30 bits
    },
    label="label",
)
ENCODER = TableEncoder(SCHEMA)
LAYOUT = ENCODER.layout
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
        if isinstance(column, CodeColumn):
            found.append(rows.codes[:, column.code])
            continue
        cell = np.searchsorted(column.cells.high, rows.ticks[:, column.number])
        if column.nullable:
            cell = np.where(rows.codes[:, column.missing] == 1, column.size - 1, cell)
        found.append(cell)
    return np.stack(found, 1)


def test_columns_join_a_number_with_its_missing_indicator_and_leave_the_label_out():
    numbers, codes = COLUMNS[:4], COLUMNS[4:]
    assert [(c.number, c.missing) for c in numbers] == [(0, None), (1, None), (2, 1), (3, None)]
    assert [c.code for c in codes] == [0, 3]
    assert SIZES == [10, 49, 46, 44, 2, 5], "zero, one and rows of nines have cells of their own"


@pytest.mark.parametrize("ticks", [1, 39, 40, 41, 700, 16_384, 16_385, 99_999, 1 << 30, 1 << 60])
def test_fine_cells_cover_every_tick_once(ticks):
    number = Number("x", ticks)
    cells, seen = fine_cells(number, 40), 1 << number.shift
    assert cells.low[0] == 0 and cells.high[-1] == ticks
    assert (cells.low[1:] == cells.high[:-1] + 1).all()
    assert (cells.low <= cells.high).all()
    assert cells.size == min(ticks + 1, 40)
    if ticks >= 40:
        # Each end is a cell of its own, as far as a row shows it.
        assert cells.high[0] == seen - 1 and cells.low[-1] == ticks // seen * seen
        assert not (cells.low % seen).any(), "a cell must begin where its position does"
        width = (cells.high - cells.low + 1)[1:-1]
        assert width.max() <= width.min() + max(2, ticks / 2**15)


@pytest.mark.parametrize("ticks", [700, 16_384, 16_385, 26_304, 99_999, 1 << 30, 1 << 60])
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_cells_are_finer_near_zero_and_nowhere_twice_as_wide_as_equal_ones(ticks, part):
    zero = round(part * ticks)
    number = Number("x", ticks, zero)
    cells, seen = fine_cells(number, 256), 1 << number.shift
    assert cells.low[0] == 0 and cells.high[-1] == ticks
    assert (cells.low[1:] == cells.high[:-1] + 1).all() and (cells.low <= cells.high).all()
    width = (cells.high - cells.low + 1)[1:-1]
    assert width.max() <= 2 * ticks / 254 + 2
    if ticks > 10_000:
        inner = min(max(zero, seen), ticks // seen * seen - 1)
        near = np.searchsorted(cells.high, inner) - 1
        assert width[near] < ticks / 254 / 20
        assert 200 < cells.size <= 256


def test_places_are_those_of_the_ticks():
    rows = encoded(4000)
    places = jax.vmap(cell_places(LAYOUT, COLUMNS))(block_of(rows).rows)
    assert (np.asarray(places) == numpy_cells(rows) + offsets(SIZES)[:-1]).all()


SOME_TICKS = [1, 2, 5, 511, 512, 16_385, 99_999]
HUGE_TICKS = [(1 << 30) - 1, 1 << 30, (1 << 31) + 7, (1 << 40) + 12_345, (1 << 62) + 1]


@pytest.mark.parametrize("ticks", [*SOME_TICKS, *HUGE_TICKS])
@pytest.mark.parametrize("part", [None, 0, 0.4])
def test_every_tick_finds_its_cell(ticks, part):
    zero = None if part is None else round(part * ticks)
    layout = Layout(numbers=(Number("x", ticks, zero),), codes=())
    (column,) = columns = table_columns(layout, None, 512)
    cells = column.cells
    if ticks < 1 << 20:
        some = np.arange(ticks + 1)
    else:  # both sides of every edge between cells, and others
        rng = np.random.default_rng(0)
        some = np.concatenate([cells.low, cells.high, rng.integers(0, ticks, 5000, endpoint=True)])
    found = jax.vmap(cell_places(layout, columns))(block_of(layout.encoded(some[:, None])).rows)
    assert (np.asarray(found)[:, 0] == np.searchsorted(cells.high, some)).all()


def sums(features, size, norm, rows):
    bound = Bound(segments=(Segment(size=size, norm=norm, signed=False),), by=ENCODER.label)
    exact = ExactSum(features, bound, ENCODER)
    assert exact.exact and exact.integer, "must run as integers, hence mapped over rows"
    return exact([block_of(rows)])[0]


def bins_and_widths():
    rng = np.random.default_rng(1)
    widths = [min(size, 4) for size in SIZES]
    return [rng.integers(0, w, size) for w, size in zip(widths, SIZES, strict=True)], widths


def test_the_sums_are_the_class_wise_histograms():
    rows = encoded(512)
    features = single_features(cell_places(LAYOUT, COLUMNS))
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
    bins, widths = bins_and_widths()
    weights = np.arange(3, 3 + len(tables))
    places = cell_places(LAYOUT, COLUMNS)
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


PLACES = cell_places(LAYOUT, COLUMNS)
SINGLE = jax.jit(single_features(PLACES))
BINS, WIDTHS = bins_and_widths()
PAIRS = list(itertools.combinations(range(6), 2))
TABLES_SIZE = sum(WIDTHS[i] * WIDTHS[j] for i, j in PAIRS)
TABLES = jax.jit(table_features(PLACES, np.concatenate(BINS), WIDTHS, PAIRS, [7] * 15))


def test_places_on_either_side_of_every_cells_beginning():
    layout = Schema(
        {
            "near": Real(low=-6, high=6),  # cells crowd around zero
            "far": Integer(low=0, high=10_000_000),
            "few": Integer(low=0, high=50),
            "flat": Integer(low=1, high=1 << 30),
            "wide": Integer(low=0, high=(1 << 40) + 12_345),
        }
    ).layout
    columns = table_columns(layout, None, 256)
    places = jax.jit(jax.vmap(cell_places(layout, columns)))
    starts = offsets([column.size for column in columns])[:-1]
    for place, column in enumerate(columns):
        number = layout.numbers[column.number]
        begins = column.cells.low >> number.shift
        tried = np.unique(np.r_[begins - 1, begins, begins + 1, number.positions])
        tried = tried[(tried >= 0) & (tried <= number.positions)]
        rows = np.zeros((len(tried), len(columns)), np.int32)
        rows[:, place] = tried
        found = np.asarray(places(Row(rows, np.zeros((len(tried), 0), np.int32))))
        wanted = np.searchsorted(begins, tried, side="right") - 1
        np.testing.assert_array_equal(found[:, place] - starts[place], wanted)
