"""Rows that are in cells of which none is sure: how many is known, and where they likely are."""

import numpy as np
import pyarrow as pa
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.clean import clean
from nacre.histograms.hidden import hidden, steps_away
from nacre.histograms.histograms import Histograms
from nacre.schema import Integer, Schema

CELLS, NOISE = 240, 30.0
KNOWN = np.arange(CELLS) == 0


def test_all_rows_are_in_cells_that_are_not_known():
    counts = np.random.default_rng(0).normal(0, NOISE, CELLS)
    found = hidden(counts, NOISE, KNOWN, 500.0)
    assert found.min() >= 0 and found[0] == 0
    assert found.sum() == pytest.approx(500)


def test_a_hump_is_found_where_counts_tell_of_it():
    hump = np.exp(-0.5 * ((np.arange(CELLS) - 150) / 6) ** 2)
    hump *= 1500 / hump.sum()
    counts = hump + np.random.default_rng(1).normal(0, NOISE, CELLS)
    assert counts.max() < 5 * NOISE  # no cell tells of it by itself
    found = hidden(counts, NOISE, KNOWN, 1500.0)
    assert found[130:171].sum() > 1200


def test_where_counts_tell_nothing_rows_are_near_filled_cells():
    found = hidden(np.zeros(CELLS), 1e6, KNOWN, 100.0)
    assert found[:60].sum() > 2 * found[180:].sum()
    anywhere = hidden(np.zeros(CELLS), 1e6, np.zeros(CELLS, bool), 100.0)
    assert anywhere[:120].sum() == pytest.approx(50, abs=1)


def test_how_far_cells_are_from_filled_ones():
    assert steps_away(np.array([0, 1, 0, 0, 0, 1, 0], bool)).tolist() == [1, 0, 1, 2, 1, 0, 1]
    assert steps_away(np.zeros(3, bool)).tolist() == [1, 1, 1]


def test_amounts_beside_many_zeros_keep_their_mean():
    """Of 9,000 rows one in eight has an amount, under a bound ten times above nearly all."""
    rng = np.random.default_rng(2)
    paid = np.where(rng.random(9000) < 0.88, 0, rng.lognormal(6.5, 0.8, 9000) // 50 * 50 + 50)
    schema = Schema({"paid": Integer(low=0, high=30_000, step=50)})
    (column,) = table_columns(schema.layout, None, 512)
    ticks = schema.encode(pa.table({"paid": paid.clip(0, 30_000).astype(int)})).ticks[:, 0]
    cell = np.searchsorted(column.cells.low, ticks, side="right") - 1
    counts = np.bincount(cell, minlength=column.size)
    center, ratios = (column.cells.low + column.cells.high) / 2, []
    for _ in range(40):
        noisy = (counts + rng.normal(0, 38, counts.shape))[None]
        found = Histograms.of((column,), noisy, 38.0, None, (np.array([9000.0]), 12.0))
        ratios.append(float(found.cleaned[0][0] @ center / (counts @ center)))
    assert 0.7 < np.mean(ratios) < 2  # about 4 if noise told where hidden rows are
    assert np.quantile(ratios, 0.9) < 3.5


def test_a_number_of_a_handful_of_values_keeps_its_tail():
    """Children: those of three and more are hidden by noise, but twos are not."""
    counts, rng, widths = np.array([5314, 2590, 828, 208, 51, 8, 1, 0, 0]), None, np.ones(9)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noisy = (counts + rng.normal(0, 60, 9))[None]
        (table,), _, _ = clean([noisy], [60.0], [widths], (np.array([9000.0]), 12.0))
        assert 30 < table[0, 3:].sum() < 700
