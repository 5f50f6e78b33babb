"""Bought look-up tables: what one row or person can do to them, and that they are never free."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import nacre
from nacre.archive import ArchiveError, read, write
from nacre.draft import buy_lookups
from nacre.ledger import Ledger
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Boolean, Categorical, Integer, Schema, SchemaError, Unit
from nacre.vault import Adjacency, Release
from nacre.vault.accountant import epsilon_of
from nacre.vault.doors import sum as sum_door

SCHEMA = Schema(
    {
        "code": Categorical(values=["a", "b", "c"]),
        "group": Categorical(values=["x", "y"], nullable=True),
        "age": Integer(low=0, high=9, nullable=True),
        "adult": Boolean(),
    }
)
FACTS = ["group determined by code", "adult determined by age"]
ROW = {"code": "a", "group": "x", "age": 3, "adult": False}
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
CELLS = 3 * 3 + 11 * 2
ANYTHING = st.one_of(
    st.sampled_from(
        ["a", "b", "c", "x", "y", "", "other", "3", "1e400", "NaN", "true", "no", None]
    ),
    st.floats(),
    st.integers(-(2**80), 2**80),
    st.booleans(),
    st.just(pd.NaT),
    st.just((1, 2)),
)
ROWS = st.fixed_dictionaries(dict.fromkeys(ROW, ANYTHING))


def counted(rows, schema=SCHEMA, facts=FACTS, **changed):
    """The integers that noise is put on, and its scale, in units of one; and the schema."""
    seen = []
    frame = pd.DataFrame(
        {name: pd.Series([r[name] for r in rows], dtype=object) for name in rows[0]}
    )
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keep = lambda sums, scale: seen.append((sums.copy(), scale)) or sums  # noqa: E731
        patch.setattr(sum_door, "add_discrete_gaussian", keep)
        bought = buy_lookups(frame, schema, facts, **{**BUDGET, **changed})
    ((sums, scale),) = seen
    release = Release.from_dict(bought.releases[-1])
    one = scale / release.noise
    return sums[0].astype(float) / one, release, scale, bought


@pytest.mark.parametrize("adjacency", Adjacency)
@settings(max_examples=12, deadline=None)
@given(rows=st.lists(ROWS, min_size=1, max_size=4), other=ROWS)
def test_the_bound_holds_for_hostile_rows(adjacency, rows, other):
    rows = [ROW, *rows]
    after = [*rows, other] if adjacency is Adjacency.ADD_REMOVE else [*rows[:-1], other]
    one, release, scale, _ = counted(rows, adjacency=adjacency)
    two, _, same, _ = counted(after, adjacency=adjacency)
    limit = {Adjacency.ADD_REMOVE: 2, Adjacency.REPLACE_ONE: 4}[adjacency]
    assert release.sensitivity == pytest.approx(np.sqrt(limit))
    assert np.linalg.norm(one - two) <= release.sensitivity
    assert scale == same


@pytest.mark.parametrize(("adjacency", "limit"), [("add-remove", 2), ("replace-one", 4)])
def test_the_bound_is_reached(adjacency, limit):
    other = {"code": "b", "group": None, "age": None, "adult": True}
    after = [ROW, ROW, other] if adjacency == "add-remove" else [ROW, other]
    one, release, *_ = counted([ROW, ROW], adjacency=adjacency)
    two, *_ = counted(after, adjacency=adjacency)
    assert len(one) == CELLS == release.size
    assert np.linalg.norm(one - two) == pytest.approx(np.sqrt(limit))
    assert np.linalg.norm(one - two) == pytest.approx(release.sensitivity)


@pytest.mark.parametrize(
    "row",
    [
        ROW | {"code": "z"},
        ROW | {"code": float("nan")},
        ROW | {"adult": "perhaps"},
        ROW | {"group": "unheard of"},
        dict.fromkeys(ROW),
    ],
)
def test_rows_that_do_not_fit_count_as_nothing(row):
    one, _, scale, bought = counted([ROW] * 5)
    two, _, same, also = counted([ROW] * 5 + [row])
    assert np.array_equal(one, two) and scale == same
    assert [fact.table for fact in bought.facts] == [fact.table for fact in also.facts]


def test_a_person_counts_as_one_row():
    unit = Unit(column="who", rows=5)
    schema = Schema(SCHEMA.columns, unit=unit)
    alone = [{"who": "p", **ROW}]
    many = [{"who": "q", **ROW, "code": code, "age": age} for code in "abc" for age in range(9)]
    one, release, scale, _ = counted(alone, schema)
    two, other, same, bought = counted(alone + many, schema)
    assert (release.unit, release.by, release.sensitivity) == ("person", "who", other.sensitivity)
    assert scale == same
    moved = np.linalg.norm(one - two)  # on a grid of whole numbers, with its scale rounded up
    assert np.sqrt(2) * (1 - 1e-3) < moved <= release.sensitivity
    assert bought.unit == unit
    per_row = dataclasses.replace(bought, unit=None)
    with pytest.raises(SchemaError, match="another unit"):
        buy_lookups(pd.DataFrame(alone), dataclasses.replace(per_row, facts=()), FACTS, **BUDGET)
    with pytest.raises(ValueError, match="per person"):
        nacre.plan(per_row, epsilon=2, delta=1e-5)


def people(rows=500):
    rng = np.random.default_rng(0)
    code, age = rng.choice(list("abc"), rows), rng.integers(0, 10, rows)
    group = np.where(code == "a", "x", "y")
    return pd.DataFrame({"code": code, "group": group, "age": age, "adult": age > 4})


@pytest.fixture(scope="module")
def bought():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return buy_lookups(people(), SCHEMA, FACTS, **BUDGET)


@pytest.fixture(scope="module")
def fitted(bought):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nacre.fit(people(), bought, method=Mosaic(), epsilon=2, delta=1e-5)


def test_what_is_paid_is_within_the_budget(bought):
    cost = epsilon_of([Release.from_dict(each) for each in bought.releases], 1e-6)
    assert 0.99 < cost <= 1


def test_a_fit_composes_what_was_bought(bought, fitted, tmp_path):
    (paid,) = map(Release.from_dict, bought.releases)
    assert fitted.guarantee.releases[0] == paid
    assert 1.99 < fitted.guarantee.epsilon <= 2
    fitted.guarantee.verify()
    known = [dataclasses.replace(fact, bought=0) for fact in bought.facts]
    free = nacre.plan(dataclasses.replace(bought, releases=(), facts=known), **TWO)
    shared = nacre.plan(bought, **TWO)
    assert shared.releases[0].multiplier > free.releases[0].multiplier
    with pytest.raises(ValueError):
        nacre.plan(bought, epsilon=0.5, delta=1e-6)
    fitted.save(tmp_path / "m.nacre")
    again = nacre.load(tmp_path / "m.nacre")
    assert again.schema.releases == bought.releases
    assert again.guarantee.releases[0] == paid


TWO = {"epsilon": 2, "delta": 1e-5, "method": Mosaic()}


def test_no_way_through_a_schema_loses_the_price(bought, tmp_path):
    bought.write(tmp_path / "s.yaml")
    ways = [
        Schema.read(tmp_path / "s.yaml"),
        Schema.from_dict(bought.to_dict()),
        bought.with_label("code"),
        bought.with_constraints(["age >= 1"]),
        bought.select(["code", "group"]),
        bought.counted,
    ]
    assert all(way.releases == bought.releases for way in ways)
    with pytest.raises(SchemaError, match="number 1 of `releases`, is not there"):
        dataclasses.replace(bought, releases=())


def edited(schema, change):
    """A schema's YAML changed by hand: its plain form, and text again."""
    said = yaml.safe_load(schema.to_yaml())
    change(said)
    return yaml.safe_dump(said, sort_keys=False)


@pytest.fixture(scope="module")
def twice(bought):
    """A reviewed draft with two purchases."""
    read = dataclasses.replace(bought, facts=(), releases=(), provenance="data", reviewed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fact in FACTS:
            read = buy_lookups(people(), read, fact, **BUDGET)
    return read


@pytest.mark.parametrize("provenance", ["data", "declared", "private"])
@pytest.mark.parametrize("gone", [[0], [1], [0, 1]])
def test_a_table_whose_release_was_deleted_is_refused(twice, gone, provenance):
    def delete(said):
        said["releases"] = [each for i, each in enumerate(said["releases"]) if i not in gone]
        said["provenance"] = provenance

    with pytest.raises(SchemaError, match="Put `releases` back as they were written"):
        Schema.parse(edited(twice, delete))


def test_a_bought_table_goes_into_no_other_schema_without_its_price(twice):
    other = Schema(SCHEMA.columns).to_dict() | {"facts": twice.to_dict()["facts"][:1]}
    with pytest.raises(
        SchemaError, match=r"fact `group determined by code`.*\(`bought: 1-[0-9a-f]{16}`\)"
    ):
        Schema.from_dict(other)
    draft = {**twice.releases[0], "name": "ranges"}
    with pytest.raises(SchemaError, match="number 1 of `releases`, is not there"):
        Schema.from_dict(other | {"releases": [draft]})


def buy(fact, base=SCHEMA, **changed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return buy_lookups(people(), base, fact, **{**BUDGET, **changed})


@pytest.mark.parametrize("fact", FACTS)
def test_a_table_bought_apart_does_not_ride_on_another_ones_release(fact):
    """Two purchases from one base say number 1 both, also if they are of the same fact."""
    one, other = buy(FACTS[0], epsilon=0.5), buy(fact, epsilon=0.9)
    assert [each.bought for each in (*one.facts, *other.facts)] == [1, 1]
    with pytest.raises(SchemaError, match="there is another purchase.*: 'look-up tables "):
        dataclasses.replace(one, facts=other.facts)
    said = one.to_dict()
    said["facts"] = [*said["facts"], *other.to_dict()["facts"]][-2:]
    with pytest.raises(SchemaError, match="bought for another schema cannot be taken over"):
        Schema.from_dict(said)
    assert [each["name"] for each in one.releases] != [each["name"] for each in other.releases]


def test_marks_of_earlier_versions_are_read_and_must_name_the_fact(twice):
    old = twice.to_dict()
    for place, (fact, release) in enumerate(zip(old["facts"], old["releases"], strict=True), 1):
        release = {**release, "name": "look-up tables (" + release["name"].partition(" (")[2]}
        old["releases"][place - 1], fact["bought"] = release, str(place)
    read = Schema.from_dict(old)
    assert [fact.mark for fact in read.facts] == [1, 2] and Schema.parse(read.to_yaml()) == read
    old["facts"][0]["bought"] = "2"
    with pytest.raises(SchemaError, match="there is another purchase"):
        Schema.from_dict(old)


def test_ids_of_earlier_versions_are_read_as_they_were(twice):
    """The id of the release's name stood in the mark, and nothing else of it."""
    old = twice.to_dict()
    for place, (fact, release) in enumerate(zip(old["facts"], old["releases"], strict=True), 1):
        end = release["name"].partition(" (")[2]
        old["releases"][place - 1] = {**release, "name": f"look-up tables 1f9c07a{place} ({end}"}
        fact["bought"] = f"{place}-1f9c07a{place}"
    read = Schema.from_dict(old)
    assert [fact.mark for fact in read.facts] == ["1-1f9c07a1", "2-1f9c07a2"]
    old["facts"][0]["bought"] = "1-1f9c07a2"
    with pytest.raises(SchemaError, match="there is another purchase"):
        Schema.from_dict(old)


EDITS = {
    "noise": lambda r: r["noise"] * 100,
    "sensitivity": lambda r: r["sensitivity"] / 100,
    "size": lambda r: r["size"] + 1,
    "theorem": lambda r: "another",
    "mechanism": lambda r: "exponential",
    "steps": lambda r: 1,
    "name": lambda r: r["name"].replace("look-up tables ", "look-up tables 0"),
}


@pytest.mark.parametrize("field", EDITS)
def test_no_field_of_a_price_is_edited_alone(twice, field):
    """With a hundred times the noise the release cost next to nothing."""

    def change(said):
        said["releases"][1][field] = EDITS[field](said["releases"][1])

    text = edited(twice, change)
    with pytest.raises(SchemaError, match="is not there as it was"):
        Schema.parse(text)


def test_numbers_that_a_file_writes_otherwise_are_the_same(twice):
    def change(said):
        for release in said["releases"]:
            release.update({k: float(v) for k, v in release.items() if k == "size"})
            release["sensitivity"] = float(f"{release['sensitivity']:.20e}")

    said = yaml.safe_load(twice.to_yaml())
    change(said)
    assert Schema.from_dict(said).facts == twice.facts


def test_a_model_with_an_edited_price_is_not_loaded(fitted, tmp_path):
    fitted.save(tmp_path / "m.nacre")
    document, arrays = read(tmp_path / "m.nacre")
    schema = document["encoder"]["schema"]
    for release in (schema["releases"][0], document["guarantee"]["releases"][0]):
        release["noise"] *= 100
    write(tmp_path / "n.nacre", document, arrays)
    with pytest.raises(nacre.ArchiveError, match="is not there as it was"):
        nacre.load(tmp_path / "n.nacre")


def test_an_id_is_not_left_out(twice):
    said = twice.to_dict()
    said["facts"][0]["bought"] = 1
    with pytest.raises(SchemaError, match="there is another purchase"):
        Schema.from_dict(said)


def test_a_table_bought_again_keeps_the_first_price(twice):
    """Taken out as the warning says, and bought again: then neither release can be left out."""
    again = buy(FACTS[0], dataclasses.replace(twice, facts=twice.facts[1:]))
    assert len(again.releases) == 3
    for gone in range(3):
        left = tuple(each for place, each in enumerate(again.releases) if place != gone)
        with pytest.raises(SchemaError, match="Put `releases` back"):
            dataclasses.replace(again, releases=left)


def test_what_is_no_longer_bought_in_words_is_counted_all_the_same(twice):
    """Tables corrected or stated by hand, or taken out to be bought again: the price stays."""

    def state(said):
        del said["facts"][1]["bought"]
        said["facts"][0]["group determined by code"]["a"] = "y"

    for change in (state, lambda said: said["facts"].pop()):
        plan = nacre.plan(Schema.parse(edited(twice, change)), **{**TWO, "epsilon": 3})
        assert plan.prior == tuple(map(Release.from_dict, twice.releases))


def test_a_review_that_is_taken_back_stops_a_fit_and_loses_no_price(twice):
    again = Schema.parse(edited(twice, lambda said: said.update(reviewed=False)))
    assert again.unreviewed and again.releases == twice.releases
    cost = {**TWO, "epsilon": 3}
    with pytest.raises(SchemaError, match="nobody has reviewed"):
        nacre.fit(people(), again, **cost)
    with pytest.raises(SchemaError, match="nobody has reviewed"):
        buy_lookups(people(), again, FACTS[0], **BUDGET)
    reviewed = Schema.parse(edited(again, lambda said: said.update(reviewed=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = nacre.fit(people(), reviewed, **cost)
    paid = tuple(map(Release.from_dict, twice.releases))
    assert fitted.guarantee.releases[:2] == paid
    assert epsilon_of(fitted.guarantee.releases, 1e-5) <= 3
    assert epsilon_of(fitted.guarantee.releases[2:], 1e-5) < 2.9


@pytest.mark.parametrize(
    "place",
    [
        0,
        -1,
        "x",
        1.5,
        None,
        True,
        [1],
        10**400,
        "1-",
        "1-x",
        "1-1F9C07AB",
        "-1f9c07ab",
        "1-1f9c07ab2",
    ],
)
def test_marks_that_mean_nothing_are_refused(bought, place):
    said = bought.to_dict()
    said["facts"][0]["bought"] = place
    with pytest.raises(SchemaError, match="`bought|`releases`"):
        Schema.from_dict(said)


def test_a_model_file_without_the_price_is_refused(fitted, tmp_path):
    fitted.save(tmp_path / "m.nacre")
    document, arrays = read(tmp_path / "m.nacre")
    document["guarantee"]["releases"] = document["guarantee"]["releases"][1:]
    write(tmp_path / "n.nacre", document, arrays)
    with pytest.raises(ArchiveError, match="leaves out what the schema was bought with"):
        nacre.load(tmp_path / "n.nacre")


def test_the_same_price_twice_is_two_prices(fitted, tmp_path):
    twice = dataclasses.replace(fitted.schema, releases=fitted.schema.releases * 2)
    encoder = dataclasses.replace(fitted.encoder, schema=twice)
    dataclasses.replace(fitted, encoder=encoder).save(tmp_path / "m.nacre")
    with pytest.raises(ArchiveError, match="leaves out what the schema was bought with"):
        nacre.load(tmp_path / "m.nacre")


@pytest.mark.filterwarnings("ignore:Of the")
def test_the_ledger_is_charged_once_and_before_noise(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=5, delta=1e-4)
    found = []

    def noise(sums, scale):
        found.append(ledger.balance("d").spent_epsilon)
        return sums

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", noise)
    account = {"ledger": ledger, "dataset": "d"}
    with pytest.raises(SchemaError):
        buy_lookups(people(), SCHEMA, ["age determined by code"], **account, **BUDGET)
    assert ledger.balance("d").spent_epsilon == 0
    buy_lookups(people(), SCHEMA, FACTS, **account, **BUDGET)
    assert found == [pytest.approx(1)]
    (entry,) = ledger.history("d")
    assert (entry.method, entry.status, len(entry.releases)) == ("look-up tables", "finished", 1)
    with pytest.raises(nacre.BudgetExceeded):
        buy_lookups(people(), SCHEMA, FACTS, **account, epsilon=9, delta=1e-6)
    assert len(found) == 1
