"""A public page where a person may have several rows: persons are compared with persons."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.errors import NacreError
from nacre.fit import fit
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.publish import publish
from nacre.publish.table import synthetic_table
from nacre.rows.unit import Persons
from nacre.schema import Categorical, Integer, Schema

ROWS, PERSONS = 3, 600
SCHEMA = Schema(
    {
        "age": Integer(low=0, high=9),
        "total": Integer(low=0, high=18),
        "again": Categorical(values=("no", "yes")),
    },
    label="again",
    facts=["total = age + age"],
    unit={"column": "who", "rows": ROWS},
)


def visits(seed: int = 0) -> pd.DataFrame:
    """Who comes thrice comes again, so that shares of rows are far from shares of persons."""
    rng = np.random.default_rng(seed)
    many = rng.choice([1, 3], PERSONS)
    who = np.repeat(np.arange(PERSONS), many)
    age = rng.integers(0, 10, len(who))
    again = np.repeat(np.where(many == 3, "yes", "no"), many)
    return pd.DataFrame({"who": who, "age": age, "total": 2 * age, "again": again})


@pytest.fixture(scope="module")
def model() -> nacre.Model:
    return fit(visits(), SCHEMA, method=Mosaic().small(), epsilon=60, delta=1e-6)


def by_name(page):
    return {band.column: band for band in page.bands}


def test_shares_are_of_persons_on_both_sides(model):
    # Given as the synthetic table, the rows themselves are right to within the noise.
    page = publish(model, visits())
    found, table = by_name(page), visits()
    assert set(found) == {"age", "total", "again", "rows of who"}
    ones = (table.groupby("who").size() == 1).mean()
    again = dict(zip(found["again"].bins.names, found["again"].synthetic, strict=True))
    assert again["no"] == pytest.approx(ones)
    assert found["rows of who"].synthetic == pytest.approx([ones, 0, 1 - ones])
    for name in ("age", "again", "rows of who"):
        assert found[name].at_least == 0 and found[name].at_most < 0.05
    assert found["total"].at_most is None  # it follows from another column, and was not measured


def test_weighed_as_rows_the_same_table_would_look_wrong(model, monkeypatch):
    whole = property(lambda self: np.where(self.kept, 27_720, 0))
    monkeypatch.setattr(Persons, "weight", whole)
    again = by_name(publish(model, visits()))["again"]
    assert again.at_least > 0.15


def test_the_page_speaks_of_persons_and_is_the_same_each_time(model):
    page = publish(model, rows=900)
    html = page.to_html()
    assert html == publish(model, rows=900).to_html()
    assert f"of {page.table.persons:,} persons" in html
    assert "Persons" in {finding.topic for finding in page.findings}
    assert "per person" in str(page.together)
    assert "rows of who" in html


def test_scores_are_bought_per_person_and_computed_columns_too(model):
    page = publish(model, rows=900, data=visits(), epsilon=60, delta=1e-6, scores=["columns"])
    assert page.bought.unit == "person" and page.bought.most_rows == ROWS
    total = by_name(page)["total"]
    ages = visits().assign(weight=lambda t: 1 / t.groupby("who")["who"].transform("size"))
    shares = ages.groupby("total")["weight"].sum() / PERSONS
    found = dict(zip(total.bins.names, total.measured, strict=True))
    assert total.at_most is not None
    assert max(abs(found[str(value)] - share) for value, share in shares.items()) < 0.02


def test_a_classifier_is_tested_on_persons(model):
    page = publish(model, visits(), data=visits(1), epsilon=60, delta=1e-6, scores=["prediction"])
    accuracy = next(score for score in page.scores if score.name == "Accuracy")
    assert page.outcomes.sum() == pytest.approx(PERSONS, rel=0.05)
    assert accuracy.value > 0.95  # how many rows a person has says it all


def test_a_table_with_more_rows_of_a_person_was_not_drawn_from_the_model(model):
    with pytest.raises(NacreError, match="more than 3 rows"):
        publish(model, pd.concat([visits(), visits()]))
    with pytest.raises(NacreError, match="who"):
        publish(model, visits().drop(columns="who"))


def test_one_row_of_each_person_needs_no_ids():
    schema = dataclasses.replace(SCHEMA, unit={"column": "who", "rows": 1})
    one = visits().drop_duplicates("who")
    model = fit(one, schema, method=Mosaic().small(), epsilon=60, delta=1e-6)
    found = synthetic_table(model, one.drop(columns="who"), 1, 0, None)
    assert found.persons is None and found.rows.weights is None
    assert by_name(publish(model, one))["again"].at_most < 0.05
