"""Sampling from a mixture: its marginals, its dependence, and what is given."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from nacre.histograms.cells import Cells, number_cells
from nacre.nets.mixture import MixtureGenerator
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(numbers=(Number("age", 99),), codes=(Code("sex", 2), Code("job", 3)))

ENCODER = SimpleNamespace(layout=LAYOUT)


def two_groups() -> MixtureGenerator:
    """Young people of sex 0 with job 0, old ones of sex 1 with jobs 1 and 2."""
    ages = np.zeros((2, 100))
    ages[0, :50], ages[1, 50:] = 1 / 50, 1 / 50
    return MixtureGenerator(
        weights=np.array([[0.25, 0.0], [0.0, 0.75]]),
        numbers=[ages],
        codes=[np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])],
        cells=[number_cells(99)],
        label=0,
        layout=LAYOUT,
    )


def test_rows_follow_the_mixture():
    drawn = two_groups().sample(10_000, np.random.default_rng(0))
    sex, job = drawn.codes.T
    assert sex.mean() == pytest.approx(0.75, abs=1e-3)
    assert ((drawn.ticks[:, 0] >= 50) == (sex == 1)).all()
    assert ((job > 0) == (sex == 1)).all()
    assert np.bincount(job[sex == 1], minlength=3)[1] == pytest.approx(3750, abs=2)
    # Stratified draws: the marginal of a table is closer to the model than chance allows.
    counts = np.bincount(drawn.ticks[:, 0], minlength=100)
    assert abs(counts[:50] - 50).max() <= 2


def test_single_rows_follow_the_mixture_too():
    rng = np.random.default_rng(1)
    rows = [two_groups().sample(1, rng) for _ in range(2000)]
    sex = np.array([row.codes[0, 0] for row in rows])
    assert sex.mean() == pytest.approx(0.75, abs=0.04)
    ages = np.array([row.ticks[0, 0] for row in rows])
    assert abs(ages[sex == 0].mean() - 24.5) < 2.5


@pytest.mark.parametrize(("fixed", "sex"), [({0: 1}, 1), ({1: 0}, 0), ({0: 1, 1: 2}, 1)])
def test_given_values_are_kept_and_the_rest_follows_by_bayes(fixed, sex):
    drawn = two_groups().given(fixed).sample(500, np.random.default_rng(0))
    assert (drawn.codes[:, 0] == sex).all()
    for place, code in fixed.items():
        assert (drawn.codes[:, place] == code).all()
    assert ((drawn.ticks[:, 0] >= 50) == (sex == 1)).all()


def test_values_that_exclude_each_other_are_refused():
    with pytest.raises(ValueError, match="no probability"):
        two_groups().given({0: 0, 1: 2}).sample(5, np.random.default_rng(0))


def test_state_and_restore():
    config, arrays = two_groups().state()
    again = MixtureGenerator.restore(config, arrays, ENCODER)
    a, b = (g.sample(100, np.random.default_rng(3)) for g in (two_groups(), again))
    assert (a.ticks == b.ticks).all()
    assert (a.codes == b.codes).all()


@pytest.mark.parametrize("broken", [np.nan, -1.0])
def test_restore_refuses_what_is_no_probability(broken):
    config, arrays = two_groups().state()
    arrays["codes.0"] = arrays["codes.0"] * np.float32(1)
    arrays["codes.0"][0, 0] = broken
    with pytest.raises(ValueError, match="something else"):
        MixtureGenerator.restore(config, arrays, ENCODER)


BROKEN = {
    "no probability": {"codes.0": np.zeros((2, 3))},
    "three axes": {"weights": np.ones((2, 2, 1))},
    "other components": {"codes.0": np.ones((3, 3))},
    "fewer cells": {"cells.0.low": np.arange(99), "cells.0.high": np.arange(99)},
    "an empty cell": {"cells.0.low": np.arange(100) + (np.arange(100) == 70)},
    "a negative cell": {"cells.0.low": np.arange(100) - 1},
}


@pytest.mark.parametrize("what", BROKEN)
def test_restore_refuses_what_could_not_be_drawn(what):
    config, arrays = two_groups().state()
    with pytest.raises(ValueError):
        MixtureGenerator.restore(config, arrays | BROKEN[what], ENCODER)


@pytest.mark.parametrize(
    "other",
    [
        Layout(numbers=(Number("age", 98),), codes=LAYOUT.codes),
        Layout(numbers=LAYOUT.numbers, codes=(Code("sex", 3), Code("job", 3))),
        Layout(numbers=LAYOUT.numbers, codes=(Code("sex", 2), Code("job", 2))),
        Layout(numbers=(), codes=LAYOUT.codes),
    ],
)
def test_another_layout_is_refused(other):
    with pytest.raises(ValueError, match="another layout"):
        dataclasses.replace(two_groups(), layout=other).sample(1, np.random.default_rng(0))


def test_cells_cover_every_tick_once():
    for ticks in (1, 5, 127, 128, 1000, 99_999, 2**30):
        cells = number_cells(ticks)
        assert cells.low[0] == 0
        assert cells.high[-1] == ticks
        assert (cells.low[1:] == cells.high[:-1] + 1).all()
        tick = np.array([0, 1, ticks // 2, ticks - 1, ticks])
        cell = np.searchsorted(cells.high, tick)
        assert ((cells.low[cell] <= tick) & (tick <= cells.high[cell])).all()


def test_draws_stay_in_their_cell():
    cells = Cells(np.array([0, 10]), np.array([9, 10]))
    drawn = cells.draw(np.array([0] * 1000 + [1]), np.random.default_rng(0))
    assert set(drawn[:-1]) == set(range(10))
    assert drawn[-1] == 10
