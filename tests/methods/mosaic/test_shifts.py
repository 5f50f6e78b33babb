"""Sums of numbers' ranks by class in wide tables: what they say, and how noise is taken off."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from nacre import fit
from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mosaic.shifts import FARTHEST, SHIFTS, rank_scores, shrunk, tilted
from nacre.rows import Label, TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Schema
from nacre.vault import Adjacency

NUMBERS = 70


def wide(extra=None, label="y"):
    columns = {f"x{k}": Integer(low=0, high=30) for k in range(NUMBERS)}
    return Schema({**columns, **(extra or {}), "y": Boolean()}, label=label)


def asked(schema, method=None):
    encoder = TableEncoder(schema)
    return (method or Mosaic()).questions(encoder, Adjacency.ADD_REMOVE, None)


def test_only_wide_tables_with_a_label_are_asked_for_shifts():
    narrow = Schema({f"x{k}": Integer(low=0, high=30) for k in range(9)} | {"y": Boolean()}, "y")
    assert SHIFTS not in [q.name for q in asked(narrow)]
    assert SHIFTS not in [q.name for q in asked(wide(label=None))]
    assert SHIFTS not in [q.name for q in asked(wide(), Mosaic(shifts=0))]
    questions = asked(wide())
    (shifts,) = (q for q in questions if q.name == SHIFTS)
    assert shifts.bound.by == Label("y", 2)
    assert shifts.bound.segments[0].signed and shifts.bound.segments[0].size == 2 * NUMBERS
    assert sum(q.share for q in questions) == pytest.approx(1)


def test_shifts_get_as_much_as_there_are_numbers_among_the_columns():
    codes = {f"c{k}": Categorical(values=("p", "q")) for k in range(3 * NUMBERS)}
    few, many = ({q.name: q.share for q in asked(wide(more))} for more in (None, codes))
    assert many[SHIFTS] == pytest.approx(few[SHIFTS] / 4, rel=0.03)
    assert many["histograms"] == pytest.approx(few["histograms"])


@pytest.fixture(scope="module")
def histograms():
    schema = Schema({"x": Integer(low=0, high=30, nullable=True), "one": Integer(low=0, high=30)})
    columns = table_columns(schema.layout, None, 512)
    counts = np.zeros((2, sum(column.size for column in columns)))
    counts[0, :31], counts[1, :31] = np.arange(31) * 10, 150
    counts[:, 31] = 350  # missing
    counts[:, 32 + 7] = 5000
    return Histograms.of(columns, counts, 0.0)


def test_scores_are_polynomials_of_ranks(histograms):
    score = rank_scores(histograms, 0)
    mass = histograms.cleaned[0].sum(0)[:31]
    mass = mass / mass.sum()
    assert score @ mass == pytest.approx([0, 0], abs=1e-6)
    assert (score * mass) @ score.T == pytest.approx(np.eye(2), abs=0.02)
    assert (np.diff(score[0]) >= 0).all() and score[1][15] < 0 < score[1][0]
    assert np.abs(score).max() <= FARTHEST


def test_a_number_with_one_value_has_nothing_to_say(histograms):
    assert not rank_scores(histograms, 1).any()


def test_noise_is_taken_off_and_a_few_large_shifts_stay():
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(400) < 20, 8.0, 0.0)
    seen = truth + rng.normal(size=400)
    found = shrunk(seen, 1.0)
    assert np.abs(found[20:]).mean() < 0.1 < np.abs(seen[20:]).mean()
    assert found[:20] == pytest.approx(seen[:20], abs=0.6)
    dense = rng.normal(size=400)
    found = shrunk(dense + rng.normal(size=400), 1.0)
    assert np.mean((found - dense) ** 2) < 0.6  # half of the noise is what any estimate leaves


def test_classes_are_tilted_to_what_is_wanted_and_add_up_as_before(histograms):
    score, table = rank_scores(histograms, 0), histograms.cleaned[0]
    before = table[:, :31] @ score.T
    move = np.array([[300.0, -50.0], [-300.0, 50.0]])
    found = tilted(table, score, before + move)
    assert found[:, :31] @ score.T == pytest.approx(before + move, abs=40)
    assert found.sum(1) == pytest.approx(table.sum(1))
    assert found.sum(0) == pytest.approx(table.sum(0), rel=0.01)
    assert found[:, 31] == pytest.approx(table[:, 31])
    assert tilted(table, score, before) == pytest.approx(table, rel=1e-3)


@pytest.mark.parametrize("far", [1e9, -1e9])
def test_what_no_tilt_can_reach_is_not_chased(histograms, far):
    found = tilted(histograms.cleaned[0], rank_scores(histograms, 0), np.full((2, 2), far))
    assert np.isfinite(found).all() and (found >= 0).all()


def sample_of(shifts, seed=0):
    rng = np.random.default_rng(seed)
    rich = rng.random(3000) < 0.4
    means = np.where(np.arange(NUMBERS) % 2, 3.0, -3.0) * rich[:, None]
    values = np.clip(np.round(15 + means + 4 * rng.normal(size=(3000, NUMBERS))), 0, 30)
    frame = pd.DataFrame(values.astype(int), columns=[f"x{k}" for k in range(NUMBERS)])
    frame["y"] = rich
    method = dataclasses.replace(Mosaic().small(), columns=4, shifts=shifts)
    model = fit(frame, wide(), method=method, epsilon=1, delta=1e-6, seed=seed)
    drawn = model.sample(3000, seed=seed)
    gaps = [t[t.y].mean() - t[~t.y].mean() for t in (frame, drawn)]
    real, found = (gap.drop("y").to_numpy(float) for gap in gaps)
    return model, float(np.sqrt(np.mean((real - found) ** 2)))


@pytest.mark.filterwarnings("ignore:.*few for this budget")
def test_classes_differ_in_many_numbers_as_they_did():
    model, off = sample_of(0.5)
    assert SHIFTS in [release.name for release in model.guarantee.releases]
    assert off < 0.85 * sample_of(0.0)[1]
