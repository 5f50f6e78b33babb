"""Spikes inside wide bounds: cells of their own, and smooth columns that stay smooth."""

import numpy as np
import pytest

from nacre.histograms.cells import NumberColumn, fine_cells, number_cells, table_columns
from nacre.histograms.histograms import Histograms
from nacre.histograms.spikes import standing_out
from nacre.schema import Integer, Real, Schema

NOISE = 20.0


def number(column):
    return Schema({"x": column}).layout.numbers[0]


@pytest.mark.parametrize(
    "column",
    [
        Integer(low=-20_000, high=200_000, spikes=[777]),
        Integer(low=-1, high=1000),
        Real(low=-50, high=5000, decimals=2, spikes=[12.25]),
        Real(low=-1, high=2, spikes=[0.3]),
        Integer(low=-(2**52), high=2**52, spikes=[5]),
    ],
)
def test_each_spike_is_one_cell_and_all_ticks_are_in_one(column):
    made = number(column)
    cells = fine_cells(made, 512)
    assert cells.low[0] == 0
    assert cells.high[-1] == made.ticks
    np.testing.assert_array_equal(cells.low[1:], cells.high[:-1] + 1)
    assert (cells.low % (1 << made.shift) == 0).all()
    for tick in made.spikes or made.common[:1]:
        cell = np.searchsorted(cells.low, [tick], side="right") - 1
        assert cells.widths[cell[0]] <= 1 << made.shift
        drawn = cells.draw(np.repeat(cell, 50), np.random.default_rng(0))
        assert set(drawn.tolist()) == {tick}


def test_a_value_that_has_a_cell_anyway_is_no_spike():
    cells = fine_cells(number(Integer(low=0, high=1000)), 512)
    assert (cells.widths[:10] == 1).all()
    marked = set() if cells.spike is None else set(cells.spike[cells.spike >= 0].tolist())
    assert not marked & set(range(10))
    assert 999 in marked


def test_few_cells_have_room_for_few_spikes_and_stated_ones_come_first():
    cells = fine_cells(number(Integer(low=-(10**6), high=10**6, spikes=[123, 456])), 16)
    assert cells.spike is not None
    assert set(cells.spike[cells.spike >= 0]) == {10**6 + 123, 10**6 + 456}


def test_mixtures_have_cells_for_stated_spikes_only():
    made = number(Integer(low=-1000, high=1000, spikes=[77]))
    cells = number_cells(made.ticks, spikes=made.spikes)
    assert cells.widths[np.searchsorted(cells.low, 1077)] == 1
    assert cells.widths[np.searchsorted(cells.low, 1000, side="right") - 1] > 1


def test_a_real_spike_is_written_as_itself():
    column = Real(low=-1, high=2, spikes=[0.3])
    stated, common = column.spike_ticks
    assert column.write(np.array([*stated, *common]), None).to_pylist()[0] == 0.3
    assert 0.0 in column.write(np.array(common), None).to_pylist()


def histograms(values, column, seed=0):
    schema = Schema({"x": column})
    columns = table_columns(schema.layout, None, 512)
    assert isinstance(columns[0], NumberColumn)
    cell = np.searchsorted(columns[0].cells.low, values, side="right") - 1
    counts = np.bincount(cell, minlength=columns[0].size).astype(float)
    noisy = counts + np.random.default_rng(seed).normal(0, NOISE, counts.shape)
    return columns[0].cells, counts, Histograms.of(columns, noisy[None], NOISE)


def test_a_spike_keeps_its_rows_and_its_neighbors_get_none():
    rng = np.random.default_rng(1)
    ticks = np.where(rng.random(20_000) < 0.4, 20_000, 20_000 + rng.gamma(2, 9000, 20_000))
    column = Integer(low=-20_000, high=200_000)
    cells, counts, found = histograms(ticks.astype(int), column)
    zero = np.searchsorted(cells.low, 20_000)
    assert abs(found.cleaned[0][0, zero] - counts[zero]) < 5 * NOISE
    assert found.cleaned[0][0, :zero].sum() < 1


@pytest.mark.parametrize("seed", range(4))
def test_smooth_columns_stay_smooth(seed):
    rng = np.random.default_rng(seed)
    ticks = np.clip(rng.normal(10_000, 2500, 20_000), 0, 20_000).astype(int)
    cells, counts, found = histograms(ticks, Integer(low=-10_000, high=10_000), seed)
    assert cells.spike is not None
    narrow = cells.spike >= 0
    assert narrow.sum() > 5
    # As many rows as the density makes expect, within a few.
    assert found.cleaned[0][0, narrow].sum() < counts[narrow].sum() + 0.002 * len(ticks)
    assert abs(found.cleaned[0].sum() - len(ticks)) < 0.05 * len(
        ticks
    )  # the noise of all cells together


@pytest.mark.parametrize("noise", [0.01, NOISE])
def test_rows_at_the_end_of_a_range_do_not_spill_into_a_narrow_cell_beside_it(noise):
    """Most amounts are zero; the next tick has a cell of its own, which is empty."""
    columns = table_columns(Schema({"x": Integer(low=0, high=99_999)}).layout, None, 256)
    (column,) = columns
    assert isinstance(column, NumberColumn)
    assert column.cells.spike is not None
    assert (column.cells.spike[1:3] >= 0).any()
    counts = np.zeros((1, column.size))
    counts[0, 0] = 30_000
    counts[0, column.size // 2 : column.size // 2 + 20] = 100
    noisy = counts + np.random.default_rng(0).normal(0, noise, counts.shape)
    found = Histograms.of(columns, noisy, noise)
    assert np.abs(found.cleaned[0] - counts).sum() < 20 + 20 * 2 * noise


def test_the_ends_of_a_range_are_no_spikes_unless_rows_pile_up_there():
    rng, noise = np.random.default_rng(8), 25.0
    column = table_columns(Schema({"x": Integer(low=0, high=500_000)}).layout, None, most=512)[0]
    widths = column.cells.widths
    truth = 12_000 * widths / widths.sum()
    piled = truth.copy()
    piled[-1] += 400
    for counts, last in ((truth, 2.0), (piled, 402.0)):
        noisy = counts + noise * rng.normal(size=counts.shape)
        found = Histograms.of((column,), noisy[None], noise)
        assert found.cleaned[0][0, 0] < 2
        assert found.cleaned[0][0, -1] == pytest.approx(last, abs=2 if last < 3 else 4 * noise)
        assert found.filled[0][-1] == (last > 3)


def test_a_spike_that_the_schema_states_is_believed_sooner():
    """The rows of one below the bar of others come back, some more or fewer by its noise."""
    rng = np.random.default_rng(3)
    ticks = np.where(rng.random(20_000) < 0.9, 0, rng.gamma(2, 400, 20_000))
    ticks[:50] = 2500
    kept = {}
    for spikes in ((), (2500,)):
        column = Integer(low=0, high=30_000, spikes=spikes)
        found = [histograms(ticks.astype(int), column, seed) for seed in range(20)]
        cell = int(np.searchsorted(found[0][0].low, 2500, side="right")) - 1
        kept[spikes] = np.mean([each.cleaned[0][0, cell] for _, _, each in found])
    assert kept[()] < 15
    assert 30 < kept[2500,] < 70


def test_stated_spikes_at_which_nothing_lies_hold_next_to_nothing():
    ticks = np.random.default_rng(4).gamma(2, 400, 20_000).astype(int)
    spikes = tuple(range(20_000, 30_000, 400))
    drawn = []
    for seed in range(20):
        cells, _, found = histograms(ticks, Integer(low=0, high=40_000, spikes=spikes), seed)
        drawn.append(found.cleaned[0][0, cells.stated].sum())
    assert np.mean(drawn) < 40  # a row or two at each, where noise is 20 rows


def test_narrow_cells_that_are_no_spikes_take_no_rows_from_others():
    """Values 1, 9 and 99 are counted with their neighbors; the zeros had paid for them."""
    rng = np.random.default_rng(6)
    ticks = np.where(rng.random(10_000) < 0.5, 0, rng.lognormal(3, 1.2, 10_000)).astype(int)
    column = Integer(low=0, high=100_000)
    found = [histograms(ticks, column, seed) for seed in range(10)]
    zeros = [each.cleaned[0][0, 0] * len(ticks) / each.cleaned[0].sum() for _, _, each in found]
    assert np.mean(zeros) == pytest.approx((ticks == 0).sum(), rel=0.015)
    cells, counts, _ = found[0]
    ones = np.mean([each.cleaned[0][0, 1] for _, _, each in found])
    assert cells.spike[1] == 1 and ones == pytest.approx(counts[1], rel=0.3)


def test_a_narrow_end_and_the_cell_beside_it_have_the_noise_of_two_counts():
    """Neither is far from zero; together they are, if their noise were that of one of them."""
    (column,) = table_columns(Schema({"x": Real(low=0, high=30_000, decimals=2)}).layout, None, 256)
    assert column.cells.widths[-1] == 1 < column.cells.widths[-2]
    counts = np.zeros(column.size)
    counts[40:60] = 500.0
    for deviations, there in ((2.4, False), (3.2, True)):
        counts[-2:] = deviations * NOISE
        found = Histograms.of((column,), counts[None], NOISE, None, (np.array([10_000.0]), 1.0))
        assert (found.cleaned[0][0, -2:].sum() > 1) == there


def test_a_value_stands_out_by_what_it_holds_beyond_its_neighbors():
    mass = np.array([5.0, 6, 5, 100, 6, 12, 5])
    found = standing_out(mass, number_cells(6))
    assert found[3] == pytest.approx(100 - 3 * 6)
    assert (np.delete(found, [3]) < 0).all(), "twice as many as beside it is no spike"
    cells = number_cells(10_000, spikes=[5000])
    wide = standing_out(np.full(cells.size, 10.0), cells)
    assert np.flatnonzero(wide > 0).size == 3, "both ends and the spike; no cell of many values"
    assert standing_out(np.array([7.0]), number_cells(0)).tolist() == [7.0]
