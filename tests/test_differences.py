"""Constraints such as `admitted <= discharged`: the length of a stay is fitted, and comes out."""

import dataclasses
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.archive import ArchiveError
from nacre.methods.merf import MERF
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mst import MST
from nacre.methods.pearl import PEARL
from nacre.rows import Stream, TableEncoder
from nacre.rows.difference import Difference
from nacre.schema import Boolean, Categorical, Datetime, Integer, Schema

DAYS = {"low": "2021-01-01", "high": "2023-12-31"}
COLUMNS = {
    "ward": Categorical(values=["a", "b", "c"]),
    "admitted": Datetime(**DAYS),
    "discharged": Datetime(**DAYS, nullable=True),
    "died": Boolean(),
}
SCHEMA = Schema(COLUMNS, constraints=["admitted <= discharged"])
STAY = (Difference("discharged", ">=", "admitted"),)
METHOD = Mosaic(fits=1, components=60, steps=300)
SMALL = Mosaic(fits=1, components=4, steps=5)
COST = {"epsilon": 1.0, "delta": 1e-6}


def stays(n: int = 20_000) -> pd.DataFrame:
    """Three years of stays, of about four days, more of them in winter and longer in ward c."""
    rng = np.random.default_rng(0)
    start, days = np.datetime64(DAYS["low"]), np.arange(1095)
    month = (start + days).astype("datetime64[M]").astype(int) % 12
    weight = 1 + 0.6 * np.cos(2 * np.pi * month / 12)
    admitted = rng.choice(days, n, p=weight / weight.sum())
    ward = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    length = rng.lognormal(np.log(4) + np.where(ward == "c", 0.7, 0), 0.9).astype(int)
    discharged = pd.Series(start + np.minimum(admitted + length, 1094))
    return pd.DataFrame(
        {
            "ward": ward,
            "admitted": pd.Series(start + admitted).astype("datetime64[us]"),
            "discharged": discharged.astype("datetime64[us]").where(rng.random(n) > 0.05),
            "died": rng.random(n) < 0.02,
        }
    )


def dates(table: pd.DataFrame, column: str) -> pd.Series:
    return pd.to_datetime(table[column])


def lengths(table: pd.DataFrame) -> pd.Series:
    return (dates(table, "discharged") - dates(table, "admitted")).dt.days.dropna()


def months(table: pd.DataFrame) -> np.ndarray:
    counts = dates(table, "admitted").dt.month.value_counts(normalize=True)
    return counts.reindex(range(1, 13), fill_value=0).to_numpy()


@pytest.fixture(scope="module")
def fitted():
    real = stays()
    return real, nacre.fit(real, SCHEMA, **COST, method=METHOD, seed=0)


def test_stays_are_as_long_as_the_real_ones(fitted):
    real, model = fitted
    assert model.differences == STAY
    drawing = model.rejection()
    parts = drawing.batches(20_000, np.random.default_rng(0))
    drawn = pd.concat([part.to_pandas() for part in parts], ignore_index=True)
    assert drawing.rate > 0.95
    found, wanted = lengths(drawn), lengths(real)
    assert found.min() >= 0
    assert abs(found.median() - wanted.median()) <= 1
    assert abs(found.quantile(0.9) - wanted.quantile(0.9)) <= 3
    assert abs(found.mean() - wanted.mean()) <= 1.5
    assert abs(drawn["discharged"].isna().mean() - 0.05) < 0.01
    longer = found.groupby(drawn["ward"]).median()
    assert longer["c"] >= longer["a"] + 2
    assert np.abs(months(drawn) - months(real)).sum() / 2 < 0.03
    assert (dates(drawn, "discharged") == DAYS["high"]).mean() < 0.01, "a pile at the bound"


def test_conditions_and_other_constraints_still_hold(fitted):
    _, model = fitted
    where = {"discharged": ("2022-03-01", "2022-03-31"), "ward": "c"}
    drawn = model.sample(300, seed=0, where=where)
    assert dates(drawn, "discharged").between("2022-03-01", "2022-03-31").all()
    assert (drawn["admitted"] <= drawn["discharged"]).all()
    assert (drawn["ward"] == "c").all()
    assert model.sample(50, seed=0, where={"discharged": None})["discharged"].isna().all()
    # Later constraints bind the samples and leave what was fitted as it is.
    other = model.with_constraints(["discharged >= 2022-01-01", "admitted < discharged"])
    assert other.differences == STAY
    drawn = other.sample(300, seed=0)
    there = drawn.dropna()
    assert (dates(there, "discharged") >= "2022-01-01").all()
    assert (there["admitted"] < there["discharged"]).all()
    assert lengths(drawn).median() < 10
    assert lengths(model.with_constraints([]).sample(300, seed=0)).between(0, 400).all()


class Apart:
    """A generator that knows nothing of bounds: every distance from every date."""

    def __init__(self, layout):
        self.layout = layout

    def sample(self, n, rng):
        ticks = rng.integers(0, self.layout.limits, (n, len(self.layout.limits)), endpoint=True)
        return self.layout.encoded(ticks, np.zeros((n, len(self.layout.codes))))

    def given(self, fixed):
        return None


def test_sums_that_leave_the_bounds_are_told(fitted):
    _, model = fitted
    apart = dataclasses.replace(model, generator=Apart(model.encoder.layout))
    drawing = apart.rejection()
    list(drawing.batches(2000, np.random.default_rng(0)))
    assert 0.3 < drawing.rate < 0.7
    assert "The rarest is the bounds of 'discharged', with" in drawing.describe()
    assert lengths(apart.sample(2000, seed=0)).min() >= 0


def test_where_no_pairs_are_counted_a_distance_fits_the_date_beside_it():
    early = np.arange(20_000) % 2 == 0
    table = stays()
    table["admitted"] = np.where(early, np.datetime64("2021-02-01"), np.datetime64("2023-12-01"))
    table["discharged"] = table["admitted"] + pd.to_timedelta(np.where(early, 900, 5), unit="D")
    apart = nacre.fit(table, SCHEMA, method=Mosaic(columns=1), seed=0, **COST)
    drawing = apart.rejection()
    list(drawing.batches(2000, np.random.default_rng(0)))
    assert drawing.rate == 1  # a quarter of the sums missed the calendar


def test_a_file_keeps_what_was_fitted(fitted, tmp_path):
    _, model = fitted
    for each in (model, model.with_constraints([])):
        each.save(tmp_path / "stays.nacre", replace=True)
        again = nacre.load(tmp_path / "stays.nacre")
        assert again.differences == STAY
        assert again.certificate() == each.certificate()
        pd.testing.assert_frame_equal(again.sample(500, seed=1), each.sample(500, seed=1))
    assert model.certificate()["differences"] == [str(each) for each in STAY]


def edited(path, change):
    """Replace the document of a model file."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(files["model.json"])
    change(document)
    files["model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def test_a_file_whose_differences_do_not_fit_is_refused(fitted, tmp_path):
    _, model = fitted
    for wrong in ([["admitted", ">=", "ward"]], [["x", ">=", "admitted"]], 3):
        model.save(tmp_path / "x.nacre", replace=True)
        edited(
            tmp_path / "x.nacre",
            lambda document, wrong=wrong: document["encoder"].update(differences=wrong),
        )
        with pytest.raises(ArchiveError):
            nacre.load(tmp_path / "x.nacre")


def test_the_plan_is_what_is_released(fitted):
    _, model = fitted
    planned = nacre.plan(SCHEMA, **COST, method=METHOD)
    assert planned.releases == model.guarantee.releases


def test_a_public_report_shows_the_column_not_the_difference(fitted):
    real, model = fitted
    assert {m.column for m in model.measurements} == {"ward", "admitted", "died"}
    report = nacre.publish(model, rows=2000, data=real, **COST, scores=["columns"])
    bands = {band.column: band for band in report.bands}
    assert "bought" in bands["discharged"].source
    assert bands["discharged"].at_most < 0.2
    free = nacre.publish(model, rows=2000)
    assert free.bands[2].source == ""
    said = " ".join(finding.text for finding in free.findings)
    assert "How close discharged came to the private table was not measured" in said
    assert "Every column" not in said
    assert "</b> not measured" in free.to_html().replace("<span>", "")


@pytest.mark.parametrize(
    ("method", "adjacency"),
    [
        (SMALL, "add-remove"),
        (PEARL(frequencies=32, steps=5, components=4), "replace-one"),
        (MERF(frequencies=32, steps=5, components=4), "add-remove"),
    ],
)
def test_every_method_can_be_fitted(method, adjacency):
    columns = {"end": Integer(low=-5, high=90), "start": Integer(low=0, high=90), **COLUMNS}
    statements = ["start < end", "admitted <= discharged"]
    schema = Schema(columns, label="died", constraints=statements)
    table = stays(300)
    table["start"] = np.arange(300) % 90
    table["end"] = table["start"] + 1
    model = nacre.fit(table, schema, **COST, method=method, adjacency=adjacency, seed=0)
    assert len(model.differences) == 2
    drawn = model.sample(200, seed=0)
    assert list(drawn.columns) == list(columns)
    assert (drawn["start"] < drawn["end"]).all()
    assert lengths(drawn).min() >= 0


def test_stays_by_the_hour_can_be_fitted():
    # More ticks than are counted one by one, fewer than the grid that rows are shown on.
    hours = {**COLUMNS, "admitted": Datetime(**DAYS, step="1h")}
    hours["discharged"] = Datetime(**DAYS, step="1h", nullable=True)
    schema = Schema(hours, constraints=["admitted <= discharged"])
    model = nacre.fit(stays(2000), schema, **COST, method=SMALL, seed=0)
    assert lengths(model.sample(5000, seed=0)).min() >= 0


def test_mst_can_be_fitted():
    pytest.importorskip("mbi")
    model = nacre.fit(stays(500), SCHEMA, **COST, method=MST(steps=12), seed=0)
    assert lengths(model.sample(200, seed=0)).min() >= 0


def test_rows_that_break_the_constraint_count_as_difference_zero():
    table = stays(10).assign(discharged=pd.Timestamp("2021-01-01"), admitted="2022-05-05")
    encoder = TableEncoder(SCHEMA, STAY)
    (block,) = Stream(encoder, table).blocks(16)
    place = encoder.layout.number("discharged")
    assert block.valid[:10].all()
    assert (block.rows.numbers[:10, place] == 0).all()


def test_without_differences_rows_show_the_columns():
    assert TableEncoder(SCHEMA).layout == SCHEMA.layout
    assert TableEncoder.of(SCHEMA).differences == STAY
