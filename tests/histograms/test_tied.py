"""Distances are drawn so that they end within bounds, inside the bins that they were drawn for."""

import numpy as np
import pytest

from nacre.histograms.atoms import Atoms
from nacre.histograms.cells import table_columns
from nacre.histograms.draw import decode
from nacre.histograms.heaps import Heaps
from nacre.histograms.tied import Inside, tied_numbers
from nacre.rows import TableEncoder
from nacre.schema import Datetime, Integer, Schema

N = 20_000
SCHEMA = Schema(
    {
        "applied": Datetime(low="2019-01-01", high="2024-12-31", nullable=True),
        "start": Datetime(low="2019-01-01", high="2025-12-31"),
        "ended": Datetime(low="2019-01-01", high="2024-12-31", nullable=True),
        "rooms": Integer(low=0, high=1000),
    },
    constraints=("applied <= start", "start <= ended"),
)
ENCODER = TableEncoder.of(SCHEMA)
LAYOUT = ENCODER.layout
COLUMNS = table_columns(LAYOUT, None, 512)


def test_which_numbers_are_tied_and_where_they_end():
    assert [str(each) for each in ENCODER.differences] == ["applied <= start", "ended >= start"]
    assert tied_numbers(LAYOUT) == [0, 1, 2]
    assert [number.tie is not None for number in LAYOUT.numbers] == [True, False, True, False]
    assert LAYOUT.numbers[2].tie.anchor == 1
    assert not any(number.tie for number in SCHEMA.layout.numbers)


def inside(bins=12):
    """Equally wide bins, some of them without any chances."""
    found = {}
    for place, column in enumerate(COLUMNS):
        group = np.arange(column.cells.size) * bins // column.cells.size
        chances = np.random.default_rng(place).random((2, column.cells.size))
        chances[:, group == 1] = 0
        found[place] = Inside.of(column, group, chances)
    return found


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(5)
    cells = np.stack([rng.integers(0, column.size, N) for column in COLUMNS], axis=1)
    label, bins = rng.integers(0, 2, N), inside()
    before = decode(cells, label, COLUMNS, None, LAYOUT, np.random.default_rng(6))
    after = decode(cells, label, COLUMNS, None, LAYOUT, np.random.default_rng(6), inside=bins)
    return cells, before, after, bins


def test_what_can_be_in_bounds_is(drawn):
    cells, before, after, bins = drawn
    rng = np.random.default_rng(0)
    was, now = (ENCODER.settle(rows, rng).valid for rows in (before, after))
    assert now[was].all() and now.mean() > was.mean() + 0.05
    # What is left has no anchor in its bin from which both distances of their bins would end well.
    for row in np.flatnonzero(~now)[:50]:
        start = bins[1].bounds(cells[row, [1]])
        anchors = np.arange(start[0][0], start[1][0] + 1)
        good = np.ones(len(anchors), bool)
        for place in (0, 2):
            if cells[row, place] == COLUMNS[place].cells.size:
                continue
            shortest = bins[place].bounds(cells[row, [place]])[0]
            line = LAYOUT.numbers[place].tie.line
            ends = line.nearest(anchors) + line.up * shortest
            good &= (ends >= 0) & (ends <= line.ticks)
        assert not good.any()


def test_no_tick_leaves_its_bin_and_rows_that_fit_stay_as_they_are(drawn):
    _, before, after, bins = drawn
    rng = np.random.default_rng(0)
    stays = ENCODER.settle(before, rng).valid
    assert (before.codes == after.codes).all()
    for place, own in bins.items():
        one, other = (own.group[own.cell(rows.ticks[:, place])] for rows in (before, after))
        assert (one == other).all()
    # Their anchors move inside the bin, so that it keeps its histogram.
    distances = [place for place, number in enumerate(LAYOUT.numbers) if number.tie]
    assert (before.ticks[stays][:, distances] == after.ticks[stays][:, distances]).all()
    assert (before.ticks[:, 3] == after.ticks[:, 3]).all()


def test_ticks_follow_the_chances_of_their_class():
    column = COLUMNS[3]
    cells = column.cells
    chances = np.ones((2, cells.size))
    chances[1, : cells.size // 2] = 3
    own = Inside.of(column, np.zeros(cells.size, np.int64), chances)
    label, rng = np.repeat([0, 1], N), np.random.default_rng(1)
    low, high = np.full(2 * N, 100), np.full(2 * N, 899)
    ticks = own.draw(label, low, high, rng)
    assert ticks.min() >= 100 and ticks.max() <= 899
    for c in (0, 1):
        ends = own.before(np.array([c, c, c]), np.array([100, 300, 900]))
        wanted = (ends[1] - ends[0]) / (ends[2] - ends[0])
        assert (ticks[label == c] < 300).mean() == pytest.approx(wanted, abs=0.015)
    alone = own.draw(label, low, low, rng)
    assert (alone == 100).all()


def test_a_missing_anchor_is_a_bound_and_no_rows_are_fine():
    schema = Schema(
        {
            "first": Integer(low=0, high=100, nullable=True),
            "last": Integer(low=0, high=100, nullable=True),
        },
        constraints=("first <= last",),
    )
    encoder = TableEncoder.of(schema)
    layout = encoder.layout
    columns = table_columns(layout, None, 512)
    (place,) = [k for k, number in enumerate(layout.numbers) if number.tie]
    bins = {
        k: Inside.of(c, np.zeros(c.cells.size, np.int64), np.ones((1, c.cells.size)))
        for k, c in enumerate(columns)
    }
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, column.size, 2000) for column in columns], axis=1)
    rows = decode(cells, np.zeros(2000, int), columns, None, layout, rng, inside=bins)
    assert encoder.settle(rows, rng).valid.all()
    anchor = layout.numbers[place].tie.anchor
    assert (rows.codes[:, columns[anchor].missing] == 1).any()
    none = decode(cells[:0], np.zeros(0, int), columns, None, layout, rng, inside=bins)
    assert len(none) == 0


def test_anchors_keep_their_histogram_and_nothing_piles_up_at_the_bound():
    """Stays of up to 90 days that all begin and end within a year of two bins."""
    dates = {name: Datetime(low="2020-01-01", high="2020-12-30") for name in ("begin", "end")}
    encoder = TableEncoder.of(Schema(dates, constraints=("begin <= end",)))
    columns, rng = table_columns(encoder.layout, None, 512), np.random.default_rng(3)
    begin, stay = rng.integers(0, 365, 200_000), rng.integers(0, 90, 200_000)
    begin, stay = (each[begin + stay < 365] for each in (begin, stay))
    bins, cells = {}, np.zeros((len(begin), 2), np.int64)
    for place, (column, days, wide) in enumerate(
        zip(columns, (begin, stay), (183, 45), strict=True)
    ):
        cells[:, place] = np.searchsorted(column.cells.low, days, side="right") - 1
        group = np.minimum(column.cells.low // wide, 2)
        share = np.bincount(cells[:, place], minlength=column.cells.size)
        whole = np.maximum(np.bincount(group, share), 1)
        bins[place] = Inside.of(column, group, (share / whole[group])[None])
    # Rows know their bins; inside of these they are drawn apart.
    for place, own in bins.items():
        for each in range(own.group.max() + 1):
            rows = np.flatnonzero(own.group[cells[:, place]] == each)
            cells[rows, place] = rng.permutation(cells[rows, place])
    none = np.zeros(len(cells), int)
    found = decode(cells, none, columns, None, encoder.layout, rng, inside=bins)
    settled = encoder.settle(found, rng)
    assert settled.valid.mean() > 0.998
    days = [np.bincount(each, minlength=365) for each in settled.ticks.T]
    wanted = [np.bincount(each, minlength=365) for each in (begin, begin + stay)]
    # Where only distances are drawn again, anchors are off by .004.
    for found, real, limit in zip(days, wanted, (0.003, 0.006), strict=True):
        weeks = [part[:364].reshape(52, 7).sum(1) / part.sum() for part in (found, real)]
        assert np.abs(weeks[0] - weeks[1]).max() < limit  # of .02


def test_a_chain_is_settled_one_after_the_other():
    schema = Schema(
        {name: Datetime(low="2020-01-01", high="2020-12-31") for name in "abcd"},
        constraints=("a <= b", "b <= c", "c <= d"),
    )
    encoder = TableEncoder.of(schema)
    layout = encoder.layout
    columns = table_columns(layout, None, 16)
    ties = [number.tie for number in layout.numbers]
    assert any(tie and ties[tie.anchor] for tie in ties)
    bins = {
        k: Inside.of(c, np.zeros(c.cells.size, np.int64), np.ones((1, c.cells.size)))
        for k, c in enumerate(columns)
    }
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, column.size, 3000) for column in columns], axis=1)
    rows = decode(cells, np.zeros(3000, int), columns, None, layout, rng, inside=bins)
    settled = encoder.settle(rows, rng)
    assert settled.valid.all()
    assert (np.diff(settled.ticks, axis=1) >= 0).all()


def test_the_parts_of_ticks_are_as_many_as_ticks_whatever_the_classes():
    """Days of centuries times thousands of classes had taken gigabytes."""
    own = inside()[0]
    many = Inside(own.cells, own.group, np.repeat(own.chances, 50, axis=0))
    atoms = Atoms(np.array([[0, 3, own.cells.low[3]]]), np.array([0.25], np.float32))
    for each in (own, many):
        cell, share = each.parts(0, atoms, Heaps.none())
        assert cell.shape == share.shape == (own.cells.high[-1] + 1,)
        assert np.bincount(cell, share) == pytest.approx(np.ones(own.cells.size))
    assert share[own.cells.low[3]] == pytest.approx(0.25 + 0.75 / own.cells.widths[3])
