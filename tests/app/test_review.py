"""The schema's page: each column looked at by a person, changed in place, also with 200 of them."""

import dataclasses
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.app.conftest import opened, reviewed

from nacre.app.column import EDITED, ReviewedColumn
from nacre.app.editing import all_gathered, by_persons, edited, gathered, statements, whole, written
from nacre.app.forms import Form
from nacre.app.review import Review
from nacre.draft import draft
from nacre.errors import NacreError
from nacre.schema import Schema, SchemaError, Unit


def table(rows=400):
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], rows).astype(object)
    kind[:2] = "rare-one"
    return pa.table(
        {
            "kind": kind.tolist(),
            "age": rng.integers(18, 90, rows),
            "name": [f"person {n}" for n in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def review():
    return Review.of_draft(draft(table()))


def test_what_few_rows_hold_is_marked(review):
    kind, age = review.columns
    assert kind.rare == ("rare-one",)
    assert kind.marked
    assert not age.marked
    assert "name" in review.left_out
    assert review.plain_waiting == 1


def test_a_review_survives_the_disk(review):
    import json

    assert Review.from_dict(json.loads(json.dumps(review.to_dict()))) == review


def test_nothing_is_finished_before_each_column_was_looked_at(review):
    with pytest.raises(NacreError, match="2 columns still"):
        review.finished()
    plain = review.tick_plain()
    with pytest.raises(NacreError, match="'kind'"):
        plain.finished()
    schema = plain.changed(0, public=True).finished()
    assert schema.reviewed
    assert schema.provenance == "data"
    schema.require_usable()
    with pytest.raises(SchemaError, match="review"):
        review.schema(reviewed=False).require_usable()


def test_rare_values_are_gathered(review):
    kind = gathered(review, 0).columns[0]
    assert kind.facts["values"] == ["a", "b", "c"]
    assert kind.facts["other"]
    assert not kind.marked
    assert kind.waits  # what is left was not said to be public
    with pytest.raises(NacreError):
        gathered(review, 1)
    assert all_gathered(review) == gathered(review, 0)
    labeled = dataclasses.replace(review, label="kind")
    assert all_gathered(labeled) == labeled


def test_what_is_chosen_is_kept_while_other_buttons_are_pressed(server, browser):
    path = server.settings.root / "kinds.csv"
    pyarrow.csv.write_csv(table().drop_columns(["name"]), path)
    project = browser.post("/open", {"path": "kinds.csv"}).headers["location"][: -len("/schema")]
    assert "Rare values of 1 column" in browser.get(project + "/schema").text
    assert browser.post(project + "/keep", {"label": "age"}).status_code == 204
    assert browser.post(project + "/keep", {"label": "nobody"}).status_code == 204
    browser.post(project + "/gather")
    page = browser.post(project + "/ticks").headers["location"]
    text = browser.get(page).text
    assert "<option selected>age</option>" in text
    assert "All 2 columns are looked at" in text
    assert "rare-one" not in text


def test_a_unit_that_was_a_mistake_is_a_column_again(review):
    form = Form([("unit_column", "kind"), ("unit_rows", "3")])
    found = whole(review, form)
    assert [each.kept for each in found.columns] == [False, True]
    again = whole(found, Form([]))
    assert [each.kept for each in again.columns] == [True, True]
    assert again.columns[0].waits
    # What a person has left out stays so.
    gone = whole(review.changed(0, kept=False), Form([("label", "age")]))
    assert [each.kept for each in gone.columns] == [False, True]


def test_a_column_is_changed_by_what_a_person_writes(review):
    form = Form([("type", "integer"), ("low", "0"), ("high", "120"), ("public", "1")])
    age = edited(review, 1, form).columns[1]
    assert age.facts == {"type": "integer", "low": 0, "high": 120}
    assert age.source == EDITED
    assert age.public
    with pytest.raises(SchemaError, match="must be below"):
        edited(review, 1, Form([("type", "integer"), ("low", "9"), ("high", "1")]))
    assert not edited(review, 1, Form([("leave_out", "1")])).columns[1].kept
    values = Form([("type", "ordinal"), ("values", "a\r\nb\r\nrare-one"), ("missing", '-9\n""')])
    kind = edited(review, 0, values).columns[0]
    assert kind.rare == ("rare-one",)
    assert kind.facts["missing"] == ["-9", ""]


def test_rules_are_read_as_they_are_written():
    text = "start <= end\nforbid: {sex: Male, pregnant: 'yes'}\nage >= 18 if employed = yes"
    said = statements(text)
    assert said[1] == {"forbid": {"sex": "Male", "pregnant": "yes"}}
    assert statements(written(said)) == said
    # A few letters that would unfold to as much as one likes.
    assert statements("a: &a [x, x], b: &b [*a, *a]") == ("a: &a [x, x], b: &b [*a, *a]",)
    assert statements("{a: &a [x], b: *a}") == ("{a: &a [x], b: *a}",)
    deep = "a: " + "{a: " * 3000
    assert statements(deep) == (deep.strip(),)


def test_the_page_marks_what_only_the_table_could_tell(server, browser):
    pyarrow.csv.write_csv(table(), server.settings.root / "kinds.csv")
    project = browser.post("/open", {"path": "kinds.csv"}).headers["location"]
    text = browser.get(project).text
    assert "Confidential" in text
    assert 'class="value rare">rare-one' in text
    assert "1 value held by fewer than 10 rows" in text
    assert "take it in" in text


def test_a_column_is_changed_in_place(browser):
    project = opened(browser)
    script = {"hx-request": "true"}
    form = browser.get(f"{project}/columns/0?edit=1", headers=script).text
    assert form.lstrip().startswith('<tr id="c0"')
    assert 'name="low" value="18"' in form
    said = {"type": "integer", "low": "0", "high": "120", "public": "1"}
    row = browser.post(f"{project}/columns/0/save", said, headers=script).text
    assert "0 to 120" in row
    assert "written by you" in row
    wrong = browser.post(f"{project}/columns/0/save", said | {"high": "-1"}, headers=script)
    assert wrong.status_code == 422
    assert "must be below" in wrong.text
    assert "0 to 120" in browser.get(project + "/schema").text
    assert browser.get(f"{project}/columns/99").status_code == 404


def test_ticks_and_review(browser):
    project = opened(browser)
    text = browser.get(project + "/schema").text
    assert "4 columns of 4 still to be looked at" in text
    assert browser.get(project + "/plan").headers["location"] == project + "/schema"
    browser.post(f"{project}/columns/1/public", {"public": "1"})
    assert "3 columns of 4 still" in browser.get(project + "/schema").text
    early = browser.post(project + "/reviewed", {"public": ["1"]})
    assert early.status_code == 422
    assert "still to be looked at" in early.text
    browser.post(project + "/ticks")
    assert "All 4 columns" in browser.get(project + "/schema").text


def test_a_change_asks_for_another_review(browser):
    project = reviewed(browser)
    assert browser.get(project + "/plan").status_code == 200
    browser.post(f"{project}/columns/0/save", {"type": "integer", "low": "0", "high": "120"})
    assert browser.get(project + "/plan").headers["location"] == project + "/schema"


def test_label_unit_and_rules_are_in_the_schema(browser):
    project = opened(browser)
    said = {
        "public": list("0123"),
        "label": "income",
        "unit_column": "sex",
        "unit_rows": "5",
        "unit_constant": "income",
        "constraints": "age >= 20",
    }
    first = browser.post(project + "/reviewed", said)  # which counts persons, and asks again
    assert "Persons are counted now" in first.text
    assert browser.post(project + "/reviewed", said).status_code == 303
    found = browser.get(project + "/schema.yaml")
    schema = Schema.parse(found.text)
    assert schema.unit.to_dict() == {"column": "sex", "rows": 5, "constant": ["income"]}
    assert "sex" not in schema.names
    assert list(map(str, schema.constraints)) == ["age >= 20"]
    wrong = browser.post(project + "/reviewed", said | {"constraints": "agee >= 20"})
    assert wrong.status_code == 422
    assert "agee &gt;= 20</textarea>" in wrong.text


def test_a_column_that_was_left_out_is_taken_in(server, browser):
    rows = 400
    numbers = pa.table({"number": range(rows), "x": [n % 7 for n in range(rows)]})
    pyarrow.csv.write_csv(numbers, server.settings.root / "numbers.csv")
    project = browser.post("/open", {"path": "numbers.csv"}).headers["location"]
    project = project.removesuffix("/schema")
    assert "take it in" in browser.get(project + "/schema").text
    assert browser.post(project + "/bring", {"left_out": "0"}).status_code == 303
    assert "take it in" not in browser.get(project + "/schema").text


def test_two_hundred_columns(server, browser):
    rng = np.random.default_rng(0)
    wide = pa.table({f"column {n}": rng.integers(0, 9, 60) for n in range(200)})
    pyarrow.csv.write_csv(wide, server.settings.root / "wide.csv")
    project = browser.post("/open", {"path": "wide.csv"}).headers["location"]
    text = browser.get(project).text
    assert len(re.findall(r'<tr id="c\d+"', text)) == 200
    assert len(text) < 400_000
    project = project.removesuffix("/schema")
    browser.post(project + "/ticks")
    every = [str(n) for n in range(200)]
    found = browser.post(project + "/reviewed", {"public": every})
    assert found.status_code == 303, found.text


@pytest.fixture
def visits(server):
    """Forty rows of one ward are one person's; sex and year do not change within anybody."""
    rng = np.random.default_rng(0)
    person = np.concatenate([np.repeat(70_000, 40), np.repeat(np.arange(80_000, 80_400), 2)])
    ward = np.where(person == 70_000, "Burns", rng.choice(["North", "South"], len(person)))
    sex, year = np.where(person % 2, "f", "m"), 1950 + person % 40
    columns = {"patient_id": person, "ward": ward, "sex": sex, "year": year}
    pyarrow.csv.write_csv(pa.table(columns), server.settings.root / "visits.csv")


def test_persons_are_counted_where_they_have_several_rows(server, browser, visits):
    found = browser.post("/open", {"path": "visits.csv"})
    project = found.headers["location"].removesuffix("/schema")
    page = browser.get(project + "/schema").text
    assert "‘patient_id’ seems to number persons" in page
    assert "1950 to 1989" in page  # no comma in a year
    assert "--" not in re.sub(r"<!--.*?-->", "", page)  # no option of the command line
    assert 'class="warn">1 value' not in page
    said = {"public": list("012"), "unit_column": "patient_id"}
    page = browser.post(project + "/reviewed", said).text
    assert "1 value held by fewer than 10 persons" in page
    assert "Of 100 persons, 95 have 2 rows or fewer" in page
    assert re.search(r'name="unit_rows" inputmode="numeric" value="1?"', page)  # not filled in
    assert "1 column of 3 still to be looked at" in page
    same = re.findall(r'name="same" value="(\d)">(\w+)', page)
    assert [name for _, name in same] == ["sex", "year"]
    # Nothing was reviewed yet: the plan leads back.
    assert browser.get(project + "/plan").headers["location"] == project + "/schema"
    done = browser.post(project + "/reviewed", said | {"unit_rows": "2", "same": ["0"]})
    assert done.headers["location"] == project + "/plan"
    schema = Schema.parse(browser.get(project + "/schema.yaml").text)
    assert schema.unit == Unit(column="patient_id", rows=2, constant=("sex",))
    plan = browser.get(project + "/plan").text
    assert "About how many persons?" in plan
    assert "a person more or less" in plan


def test_what_a_model_carries_is_shown():
    facts = {"type": "integer", "low": 0, "high": 99, "spikes": [7, 1250], "missing": ["-9", ""]}
    column = ReviewedColumn(name="a", facts=facts)
    assert column.more == "often 7, 1250"
    assert column.gaps == "may be missing (-9, nothing)"
    dates = {"type": "datetime", "low": "2000-01-01", "high": "2001-01-01", "format": "%d.%m.%Y"}
    assert "%d.%m.%Y" in ReviewedColumn(name="b", facts=dates | {"clamp": True}).more


def test_a_code_that_few_persons_hold_is_marked_until_it_is_gone(review):
    kind, age = (each.facts | {"missing": ["-9"]} for each in review.columns)
    coded = review.changed(0, facts=kind).changed(1, facts=age)
    told = {"same": [], "facts": {"kind": kind, "age": age}}
    told["rare"] = {"kind": ["rare-one", "-9"], "age": ["-9"]}
    found = by_persons(coded.tick_plain(), "name", told)
    assert [each.rare for each in found.columns] == [("rare-one", "-9"), ("-9",)]
    assert found.columns[1].waits and not found.columns[1].gatherable
    few = "held by fewer than 10 persons"
    assert found.columns[0].warning == f"1 value, 1 code for a missing value {few}"
    assert found.columns[1].warning == f"1 code for a missing value {few}"
    assert found.changed(1, rare=("low", "-9")).columns[1].warning == (
        f"the lower bound, 1 code for a missing value {few}"
    )
    again = gathered(found, 0).columns[0]
    assert again.rare == ("-9",) and "rare-one" not in again.facts["values"]
    for codes, left in (("-9", ("-9",)), ("", ())):
        form = Form([("type", "integer"), ("low", "0"), ("high", "120"), ("missing", codes)])
        assert edited(found, 1, form).columns[1].rare == left


def test_what_a_draft_does_not_offer_is_counted():
    rng = np.random.default_rng(0)
    kind = rng.choice(list("abc"), 1000)
    columns = {f"x{k}": np.where(kind == "a", 0, rng.integers(1, 99, 1000)) for k in range(25)}
    review = Review.of_draft(draft(pa.table({"kind": kind, **columns})))
    assert any("values that are always the same" in each for each in review.beside)
    assert Review.from_dict(review.to_dict()) == review
