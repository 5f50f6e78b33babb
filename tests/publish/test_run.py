"""Public reports: what noise leaves open is told rightly, for every kind of table."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from tests.publish.people import COLUMNS, SCHEMA, SMALL, encoded, people, seen_as

import nacre
from nacre.histograms.measurement import MISSING
from nacre.publish import bands as bands_module
from nacre.publish import publish
from nacre.publish.bins import schema_cells
from nacre.schema import Boolean, Schema
from nacre.vault import Hidden


def test_a_model_keeps_the_histograms_it_was_made_from(model, tmp_path):
    model.save(tmp_path / "people.nacre")
    again, rows = nacre.load(tmp_path / "people.nacre"), encoded(people())
    assert {m.column for m in again.measurements} == set(COLUMNS)
    for found, kept in zip(model.measurements, again.measurements, strict=True):
        np.testing.assert_array_equal(found.counts, kept.counts)
        assert found.noise == kept.noise < 1
        truth = bands_module.cell_counts(rows, kept.column, kept.low, kept.high)
        np.testing.assert_allclose(kept.counts, truth, atol=6 * kept.noise)
        assert kept.total == pytest.approx(500, abs=6 * kept.total_noise)
    wage = next(m for m in again.measurements if m.column == "wage")
    assert (wage.low[-1], wage.high[-1]) == (MISSING, MISSING)


def test_nothing_is_bought_that_would_show_what_a_model_hides(silent):
    fitted = silent("add-remove")
    hidden = dataclasses.replace(fitted.guarantee, hidden=(Hidden(("wage",), 0.05),))
    with pytest.raises(nacre.NacreError, match="is a secret"):
        publish(dataclasses.replace(fitted, guarantee=hidden), data=people(), epsilon=1, delta=1e-6)


def test_methods_of_fourier_features_keep_none(silent):
    fitted = silent("add-remove")
    assert fitted.measurements == ()
    page = publish(fitted, rows=300)
    assert all(band.at_most is None for band in page.bands)
    assert "not known here" in page.to_html()


@pytest.mark.parametrize(
    ("label", "adjacency"),
    [
        ("income", "add-remove"),
        ("job", "replace-one"),
        ("degree", "add-remove"),
        ("age", "replace-one"),
        (None, "add-remove"),
    ],
)
def test_every_kind_of_label(label, adjacency, silent):
    table, cost = people(), {"epsilon": 500, "delta": 1e-6}
    fitted = seen_as(silent(adjacency), SCHEMA.with_label(label))
    page = publish(fitted, rows=2000, data=table, **cost)
    rows = encoded(table)
    for band in page.bands:
        low, high = schema_cells(SCHEMA, band.column)
        assert band.source == "histograms bought for this page"
        assert band.lower is not None and (band.lower <= band.upper).all()
        assert 0 <= band.at_least <= band.at_most <= 1
        assert band.synthetic.sum() == pytest.approx(1)
        if rows.is_number(band.column):
            continue
        shares = band.bins.add_up(bands_module.cell_counts(rows, band.column, low, high)) / 500
        # A band holds with 95% only, but is never far off: one row is 0.002.
        assert (band.lower <= shares + 0.002).all() and (shares <= band.upper + 0.002).all()
        # Distances are those of all values, also where several are drawn as one bar.
        private, drawn = (
            bands_module.cell_counts(each, band.column, low, high) / len(each)
            for each in (rows, page.table.rows)
        )
        off = np.abs(private - drawn).sum() / 2
        assert band.at_least - 0.002 <= off <= band.at_most + 0.002
    assert len(page.scores) == (2 if label in ("income", "job", "degree") else 0)
    assert page.to_html().startswith("<!doctype html>")


@pytest.mark.parametrize("columns", [["age"], ["job", "member"], ["wage", "seen"]])
def test_narrow_tables(columns):
    schema = SCHEMA.select(columns).with_label(None)
    fitted = nacre.fit(people()[columns], schema, method=SMALL, epsilon=10, delta=1e-6)
    page = publish(fitted, rows=200, data=people()[columns], epsilon=10, delta=1e-6)
    assert [band.column for band in page.bands] == columns
    assert "Safe to publish" in page.to_html()


def test_a_schema_read_from_the_rows_is_not_said_to_be_known_without_them(model):
    declared, claims = publish(model, rows=300), ("without looking at", "Nothing else was ever")
    assert all(claim in declared.to_html() for claim in claims)
    read = dataclasses.replace(SCHEMA, provenance="data", reviewed=True)
    page = publish(seen_as(model, read), rows=300)
    told = page.to_html()
    assert not any(claim in told for claim in (*claims, "other than the releases"))
    assert "read from the private rows" in told
    assert "a person said that they are public (reviewed: true)" in told
    assert page.first_line.startswith("Safe to publish if the schema, read from the rows, is")
    assert page.first_line != declared.first_line


def test_prediction_alone_is_bought_where_the_model_brings_histograms(model):
    page = publish(model, rows=1000, data=people(), epsilon=50, delta=1e-6)
    assert page.bought.releases[0].size == page.outcomes.size
    assert {band.source for band in page.bands} == {"the model's own histograms"}
    both = publish(
        model, rows=1000, data=people(), epsilon=1, delta=1e-6, scores=["columns", "prediction"]
    )
    assert both.bought.releases[0].size > page.outcomes.size
    auc = page.scores[0]
    assert auc.name == "AUC" and abs(auc.value - auc.synthetic) < 0.25


def test_a_wrong_table_is_found_out(model):
    wrong = model.sample(1000, seed=0)
    wrong["degree"] = "low"
    page = publish(model, wrong)
    band = next(band for band in page.bands if band.column == "degree")
    assert band.at_least > 0.4
    assert page.findings[0].level == "avoid" and "degree" in page.findings[0].text


def test_the_summary_of_a_wide_table_stays_short():
    schema = Schema({f"c{i}": Boolean() for i in range(30)})
    rng = np.random.default_rng(5)
    table = pa.table({name: rng.random(300) < 0.5 for name in schema.names})
    fitted = nacre.fit(table, schema, method=SMALL, epsilon=100, delta=1e-6)
    said = publish(fitted, rows=200).summary()
    assert "and 10 columns that are more certain" in said
    assert len(said.splitlines()) < 40


def test_json_says_all(model):
    page = publish(model, rows=500, data=people(), epsilon=5, delta=1e-6)
    said = json.loads(page.to_json())
    assert said["public"].startswith("Safe to publish")
    assert [column["name"] for column in said["columns"]] == list(COLUMNS)
    assert all(len(c["bins"]) == len(c["upper"]) for c in said["columns"])
    assert said["together"]["epsilon"] == page.together.epsilon
    assert said["synthetic"] == {"rows": 500, "seed": 0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 1.0}, "epsilon given without `data`"),
        ({"dataset": "people"}, "dataset given without `data`"),
        ({"data": people()}, "cost budget"),
        ({"data": people(), "epsilon": 1, "delta": 1e-6, "scores": ["pairs"]}, "scores must be"),
        ({"data": people(), "epsilon": 1, "delta": 1e-6, "bad_rows": "drop"}, "bad_rows must be"),
        ({"data": people(), "epsilon": -1, "delta": 1e-6}, "epsilon must be"),
        ({"rows": 0}, "rows must be"),
    ],
)
def test_half_an_order_is_refused(model, settings, message):
    with pytest.raises(ValueError, match=message):
        publish(model, **settings)


def test_prediction_needs_something_to_predict(model):
    unlabeled = seen_as(model, SCHEMA.with_label(None))
    cost = {"data": people(), "epsilon": 1, "delta": 1e-6}
    with pytest.raises(ValueError, match="nothing to predict"):
        publish(unlabeled, rows=100, scores=["prediction"], **cost)


def test_a_table_of_another_kind_is_refused(model):
    other = people()
    other.loc[0, "degree"] = "<secret>"
    with pytest.raises(nacre.SchemaError, match="not drawn from this model") as caught:
        publish(model, other)
    assert "secret" not in str(caught.value)
