"""Bins of a column, and the axis of a number with a long tail."""

import numpy as np
import pytest

from nacre.evaluate.report.figures.canvas import drawing, new_figure
from nacre.evaluate.report.figures.columns import _draw_category, _edges
from nacre.evaluate.tables.rows import Rows
from nacre.report.figures.warp import Warp, warp_for
from nacre.schema import Categorical, Schema


@pytest.fixture
def cost() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.exp(rng.normal(7.5, 1.5, 5000)) / 1_000_000


def test_only_crowded_numbers_are_stretched(cost):
    rng = np.random.default_rng(0)
    even, spike = rng.random(5000), np.where(rng.random(5000) < 0.9, 0.0, rng.random(5000))
    assert warp_for(cost, _edges([cost], 10**6)) is not None
    assert warp_for(even, _edges([even], 10**6)) is None
    assert warp_for(spike, _edges([spike], 10**6)) is None


def test_no_stretched_bin_holds_most_rows(cost):
    edges = _edges([cost], 10**6)
    assert np.histogram(cost, edges)[0].max() > 2500
    warp = warp_for(cost, edges)
    stretched = warp.evenly(edges[0], edges[-1], 41)
    counts = np.histogram(cost, stretched)[0]
    assert counts.max() < 1000
    assert counts.sum() >= 0.998 * len(cost)


def test_a_stretched_axis_has_round_numbers():
    with drawing():
        figure, axes = new_figure(3, 2)
        axes.set_xlim(-0.5, 200_000.5)
        Warp(center=2000, width=1500).apply(axes)
        figure.draw_without_rendering()
        found = [label.get_text() for label in axes.get_xticklabels()]
    assert found == ["0", "2 k", "8 k", "30 k", "200 k"]


def test_many_possible_values_are_cut_at_once():
    values = np.random.default_rng(0).random(1000)
    edges = _edges([values], 10**12)  # one by one it would take hours
    assert 20 <= len(edges) - 1 <= 41


@pytest.mark.parametrize("days", [1000, 1026, 1095, 1461])
def test_the_last_bin_is_as_wide_as_the_values_reach(days):
    # A bin that is half empty looks as if there had been half as many.
    values = np.arange(days) / (days - 1)
    counts = np.histogram(values, _edges([values], days - 1))[0]
    assert counts[-1] > 0.85 * counts[0]


@pytest.mark.parametrize(("values", "last"), [(10, "v9"), (12, "3 others")])
def test_one_value_is_not_called_others(values, last):
    schema = Schema({"a": Categorical(values=[f"v{i}" for i in range(values)])})
    codes = np.repeat(np.arange(values), np.arange(values, 0, -1) * 3).astype(np.uint8)
    rows = Rows(schema, (), (codes,))
    with drawing():
        figure = _draw_category("a", rows, [rows])
        labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[-1] == last
