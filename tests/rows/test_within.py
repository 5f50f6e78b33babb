"""What changes within a person and how many persons hold a value, counted batch by batch."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nacre
from nacre.draft.counted import enough_rows
from nacre.rows.unit import Persons
from nacre.rows.within import MISSING, changes, code_places, few_holders, several
from nacre.schema import Categorical, Integer

COLUMNS = {
    "sex": Categorical(values=("f", "m"), nullable=True),
    "age": Integer(low=0, high=99),
    "ward": Integer(low=0, high=9),
}
ROWS = pa.table(
    {
        "who": [1, 2, 1, 3, 2, 1, 4],
        "sex": ["f", "m", "f", None, "m", "f", "f"],
        "age": [30, 40, 30, 50, 41, 30, 60],
        "ward": [1, 1, 2, 3, 1, 3, 1],
    }
)
PERSONS = Persons(
    np.array([0, 1, 0, 2, 1, 0, 3], np.int32), np.zeros(7, np.int16), np.ones(7, np.int16)
)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_changes_are_counted_by_person_whatever_the_batches(size):
    batches = ROWS.to_batches(max_chunksize=size)
    assert changes(COLUMNS, batches, PERSONS) == {"sex": 0, "age": 1, "ward": 1}
    assert changes(COLUMNS, batches, PERSONS, most=0) == {"sex": 0}
    assert several(PERSONS) == 2


def test_a_gap_beside_a_value_is_a_change():
    rows = ROWS.set_column(1, "sex", pa.array(["f", "m", None, "m", "m", "f", "f"]))
    assert changes(COLUMNS, rows.to_batches(), PERSONS)["sex"] == 1


@pytest.mark.parametrize("size", [1, 3, 7])
def test_holders_are_persons_and_not_rows(size):
    wanted = {"ward": [1, 2, 3], "sex": [0, 1]}
    found = few_holders(COLUMNS, wanted, ROWS.to_batches(max_chunksize=size), PERSONS, few=2)
    # Ward 1 has four rows of three persons, 3 one each of two; two rows of 'm' are one person's.
    assert found == {"ward": {2}, "sex": {1}}


def test_holders_of_a_code_for_missing_values_are_counted_apart_from_gaps():
    column = Categorical(values=("f", "m"), missing=("?", "-9"))
    rows = pa.table({"sex": ["?", None, "?", "-9", "m", "-9", "-9"]})
    places = [MISSING, *code_places(column)]
    for few, expected in ((3, {places[1]}), (4, {*places[1:]}), (5, {*places})):
        found = few_holders(
            {"sex": column}, {"sex": places}, rows.to_batches(max_chunksize=3), PERSONS, few=few
        )
        assert found == {"sex": expected}  # a gap is a code, too: of four persons


def visits():
    rng = np.random.default_rng(0)
    many = rng.integers(1, 5, 300)
    who = np.repeat(np.arange(300), many)
    rows = {"who": who, "born": np.repeat(rng.integers(1930, 2000, 300), many)}
    rows["sex"] = np.repeat(rng.choice(["f", "m"], 300), many)
    nearly = rows["sex"].copy()
    nearly[np.flatnonzero(np.diff(who) == 0)[5]] = "?"
    job = rng.choice(["cook", "nurse"], len(who))
    return pd.DataFrame({**rows, "written": nearly, "job": job})


def test_a_draft_counts_persons_and_finds_what_does_not_change():
    table = visits()
    table.loc[table["who"] == 7, "job"] = "diver"
    table = pd.concat([table, *[table[table["who"] == 7]] * 12])  # many rows, of one person
    found = nacre.draft(table, unit={"column": "who", "rows": 3})
    assert found.constant == ("born", "sex")
    assert found.nearly == {"written": 1}
    assert "diver" in found.rare["job"]  # one person's, although more than ten rows hold it
    text = found.to_yaml()
    assert '# unit: {"column": "who", "rows": 3, "constant": ["born", "sex"]}' in text
    assert "rare, fewer than 10 persons each" in text
    assert "change: written." in text  # and not how many persons: the file is passed on
    assert "Within every person 'born', 'sex' are the same" in found.describe()
    rows = nacre.draft(table.drop(columns="who"))
    assert "diver" not in rows.rare["job"] and not rows.constant
    gathered = nacre.draft(table, unit={"column": "who", "rows": 3}, rare="other")
    assert gathered.schema.columns["job"].other
    assert "diver" not in gathered.schema.columns["job"].values
    nacre.Schema.parse(text.replace("reviewed: false", "reviewed: true"))


def test_what_one_person_always_has_is_not_offered_as_a_rule():
    rng, persons = np.random.default_rng(0), np.repeat(np.arange(400), 8)
    ticket = rng.choice(["single", "season"], len(persons), p=[0.7, 0.3]).astype(object)
    fare = np.where(ticket == "season", 89, rng.integers(5, 9000, len(persons)))
    table = pd.DataFrame({"who": persons, "ticket": ticket, "fare": fare})
    one = pd.DataFrame({"who": 400, "ticket": "by hand", "fare": 4321}, index=range(80))
    found = nacre.draft(pd.concat([table, one]), unit={"column": "who", "rows": 5}, rare="other")
    assert "fare = 89 if ticket = season" in found.suggested.constraints
    assert "4321 if" not in found.to_yaml()
    assert found.schema.columns["ticket"].values == ("season", "single")


@pytest.mark.parametrize("persons", [1, 12])
def test_a_rule_is_told_by_persons_whatever_its_premise(persons):
    rng, who = np.random.default_rng(0), np.repeat(np.arange(400), 5)
    ward, steps = rng.choice(list("ABCDZ"), len(who)), rng.choice(np.r_[0:40, 41:60], len(who))
    table = pd.DataFrame({"who": who, "ward": ward, "steps": steps, "hiv": False})
    table["dose"] = table["score"] = rng.normal(size=len(who))
    rows = table.iloc[np.arange(120) % persons * 5]
    ill, walked = rows.assign(hiv=True, ward="Z", dose=None), rows.assign(steps=40, score=None)
    found = nacre.draft(pd.concat([table, ill, walked]), unit={"column": "who", "rows": 5})
    for told in (
        "ward = Z if hiv = true",
        "dose is missing exactly when hiv = true",
        "score is missing exactly when steps = 40",
    ):
        assert (told in found.to_yaml()) is (persons == 12), told
        assert (told in found.describe()) is (persons == 12), told


def with_rows_of_one(**cells):
    """Visits of many persons, and a dozen more of each cell's own person, who alone holds it."""
    rng, who = np.random.default_rng(0), np.repeat(np.arange(400), 5)
    table = pd.DataFrame(
        {
            "who": who,
            "dose": rng.integers(10, 90, len(who)),
            "kind": rng.choice(["low", "medium", "high"], len(who)),
            "level": rng.integers(0, 4, len(who)),
        }
    )
    own = [
        table[table["who"] == number].iloc[[0] * 12].assign(**{name: cell})
        for number, (name, cell) in enumerate(cells.items())
    ]
    return pd.concat([table, *own], ignore_index=True)


@pytest.mark.parametrize("rare", ["keep", "other"])
def test_what_one_person_holds_is_not_offered(rare):
    table = with_rows_of_one(dose=9371, kind="extreme", level=6)
    rows = nacre.draft(table.drop(columns="who"), rare=rare).to_yaml()
    for offered in ("missing: ['9371']", "medium, high, extreme]", "values: [0, 1, 2, 3, 6]"):
        assert offered in rows
    found = nacre.draft(table, unit={"column": "who", "rows": 5}, rare=rare)
    text = found.to_yaml()
    for offered in ("9371: far", "missing: ['9371']", "ordinal, values", "[0, 1, 2, 3, 6]"):
        assert offered not in text
    assert found.rare["dose"] == ("high",)
    assert ("extreme" in text) is (rare == "keep")


def test_a_value_that_one_person_has_in_many_rows_is_no_spike():
    table = with_rows_of_one()
    table["dose"] = np.random.default_rng(1).integers(10, 9000, len(table))
    table.loc[table["who"] % 4 == 0, "dose"] = 500
    own = table[table["who"] == 1].iloc[[0] * 200].assign(dose=3333)
    table = pd.concat([table, own], ignore_index=True)
    assert nacre.draft(table.drop(columns="who")).schema.columns["dose"].spikes == (500, 3333)
    found = nacre.draft(table, unit={"column": "who", "rows": 5})
    assert found.schema.columns["dose"].spikes == (500,)
    assert "3333" not in found.to_yaml()


def test_what_many_persons_hold_is_offered():
    table = with_rows_of_one()
    table.loc[table["who"] % 10 == 0, "dose"] = 999
    text = nacre.draft(table, unit={"column": "who", "rows": 5}, rare="other").to_yaml()
    for offered in ("missing: ['999']", "values: [low, medium, high]", "values: [0, 1, 2, 3]"):
        assert offered in text


def test_how_many_rows_count_may_be_read_from_the_rows():
    table = visits()
    many = table.groupby("who").size()
    found = nacre.draft(table, unit={"column": "who", "rows": "auto"})
    chosen = found.schema.unit.rows
    assert (many <= chosen).mean() >= 0.95 > (many <= chosen - 1).mean()
    few = table[table["who"] % 50 != 0].drop_duplicates("who")
    table = pd.concat([few, table[table["who"] % 50 == 0]])
    assert nacre.draft(table, unit={"column": "who", "rows": "auto"}).schema.unit.rows == 1


def test_how_many_rows_count_may_be_bought():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(4000), rng.choice([1, 2, 4, 90], 4000, p=[0.5, 0.3, 0.19, 0.01]))
    table = pd.DataFrame({"who": who, "age": rng.integers(0, 90, len(who))})
    unit, types = {"column": "who", "rows": "auto"}, {"age": "integer"}
    drafted = nacre.private_draft(table, epsilon=2, delta=1e-6, types=types, unit=unit)
    assert drafted.unit.to_dict() == {"column": "who", "rows": 4}
    (release,) = drafted.releases
    assert release["unit"] == "person" and release["by"] == "who"
    assert release["size"] == 108 + 100  # bins of the ages, and persons of one to a hundred rows
    # Two columns in one release: a person is a one in one cell of each.
    assert release["sensitivity"] == pytest.approx(2**0.5)


def test_what_does_not_stand_out_of_the_noise_is_none():
    noise = np.random.default_rng(0).normal(0, 50, 100)
    assert enough_rows(noise, 50.0) == 1
    assert enough_rows(np.r_[np.zeros(99), 1e4] + noise, 50.0) == 100
    assert enough_rows(-np.abs(noise), 50.0) <= 100


@pytest.mark.parametrize("others", [range(1, 9), ["cook", "nurse"], range(500)])
@pytest.mark.parametrize("persons", [1, 9, 10])
def test_a_code_for_missing_values_is_marked_if_few_persons_hold_it(others, persons):
    """-9 is taken for a code where ten rows have it, which all may be one person's."""
    rng = np.random.default_rng(0)
    who, held = rng.integers(100, 600, 3000), rng.choice(others, 3000).astype(object)
    code = "?" if isinstance(held[0], str) else -9
    who[:60], held[:60] = np.arange(60) % persons, code
    table = pd.DataFrame({"who": who, "held": held, "sex": rng.choice(["f", "m"], 3000)})
    for rare in ("keep", "other"):
        found = nacre.draft(table, unit={"column": "who", "rows": "auto"}, rare=rare)
        assert found.schema.columns["held"].missing == (str(code),)
        assert (str(code) in found.rare["held"]) == (persons < 10)
        marked = f"rare, fewer than 10 persons each: {code}"
        assert (marked in found.to_yaml()) == (persons < 10)
        said = found.describe()
        assert ("'held': 1 code for a missing value" in said) == (persons < 10)
        assert ("Every value and bound" in said) == (persons == 10)


def test_gathered_values_leave_the_mark_of_a_code():
    rng = np.random.default_rng(0)
    who, job = rng.integers(100, 600, 3000), rng.choice(["cook", "nurse"], 3000).astype(object)
    who[:60], job[:30], job[30:60] = 1, "?", "diver"
    table = pd.DataFrame({"who": who, "job": job, "sex": rng.choice(["f", "m"], 3000)})
    found = nacre.draft(table, unit={"column": "who", "rows": 3})
    assert "'job': 1 of 3 values, 1 code for a missing value" in found.describe()
    found = nacre.draft(table, unit={"column": "who", "rows": 3}, rare="other")
    assert found.schema.columns["job"].values == ("cook", "nurse")
    assert found.rare["job"] == ("?",)
