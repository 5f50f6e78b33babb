"""Columns that a look-up table computes: the page tells of them what `nacre tables` answers."""

import numpy as np
import pandas as pd
import pytest
from tests.publish.people import SMALL

import nacre
from nacre.evaluate.tables.reading import read
from nacre.histograms.measurement import MISSING, Measurement
from nacre.publish.bands import bands
from nacre.publish.bins import cell_counts
from nacre.schema import Categorical, Integer, Schema

CODES = ["A1", "A2", "A3", "B1"]
COLUMNS = {
    "code": Categorical(values=CODES),
    "group": Categorical(values=["A", "B", "C"]),
    "twice": Integer(low=0, high=40),
    "half": Integer(low=0, high=20),
}
FACTS = [{"group determined by code": {c: c[0] for c in CODES}}, "twice = 2 * half"]


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    code, half = rng.choice(CODES, n, p=[0.4, 0.3, 0.1, 0.2]), rng.integers(0, 21, n)
    group = [each[0] for each in code]
    return pd.DataFrame({"code": code, "group": group, "twice": 2 * half, "half": half})


def test_the_page_measures_what_tables_answers():
    schema = Schema(COLUMNS, facts=FACTS)
    model = nacre.fit(rows(), schema, method=SMALL, epsilon=500, delta=1e-6)
    page = nacre.publish(model, rows=400)
    found = {band.column: band for band in page.bands}
    counts = model.answer("group").counts
    named = dict(zip(found["group"].bins.names, found["group"].measured, strict=True))
    assert named["A"] == pytest.approx(counts[0] / counts.sum(), abs=0.01)
    assert found["group"].at_most < 0.2 and "as far as the private rows" in found["group"].source
    # What nobody counted, `nacre tables` says so of too.
    assert found["twice"].at_most is None
    with pytest.raises(nacre.NacreError, match="was not counted"):
        model.answer("twice")
    (told,) = [f.text for f in page.findings if "was not measured" in f.text]
    assert "twice" in told and "group" not in told


def test_rows_between_or_beyond_the_cells_of_a_computed_number_are_in_none():
    columns = {"price": Integer(low=0, high=100, nullable=True)}
    table = pd.DataFrame({"price": pd.array([10, 20, 15, 90, None], "Int64")})
    held = read(table, Schema(columns), "a table")
    cells = np.array([10, 20])
    assert cell_counts(held, "price", cells, cells).tolist() == [1, 1]
    gap = np.append(cells, MISSING)
    assert cell_counts(held, "price", gap, gap).tolist() == [1, 1, 1]


def test_bands_hold_where_noise_differs_from_cell_to_cell():
    """In 95 of 100 draws of the noise, or more, all of the private histogram is inside."""
    schema, real = Schema(COLUMNS), rows(2000, 1)
    synthetic = read(rows(1000, 2), schema, "a table")
    truth = real["group"].value_counts().reindex(["A", "B"]).to_numpy().astype(float)
    noise, rng, inside = np.sqrt([3.0, 1.0]) * 30, np.random.default_rng(0), 0
    for _ in range(200):
        noisy = truth + noise * rng.standard_normal(2)
        given = Measurement("group", np.arange(2), np.arange(2), noisy, noise)
        band = bands(synthetic, [("s", given)])[1]
        order = [band.bins.names.index(name) for name in "AB"]
        share = truth / truth.sum()
        inside += (band.lower[order] <= share).all() and (share <= band.upper[order]).all()
    assert inside >= 185
    wider = (band.upper - band.lower)[order]
    assert wider[0] > 1.4 * wider[1]
