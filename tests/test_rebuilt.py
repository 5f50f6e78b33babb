"""What a certificate lists beside what the file's own settings ask for: any edit is noticed."""

import copy
import dataclasses
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nacre
from nacre.archive import read, write
from nacre.cli import app
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rebuilt import compare
from nacre.schema import Categorical, Integer, Schema

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = Mosaic().small()
SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "code": Categorical(values=("a", "b", "c")),
        "group": Categorical(values=("x", "y")),
        "kind": Categorical(values=("p", "q", "r")),
    },
    label="kind",
)
COST = {"epsilon": 2.0, "delta": 1e-5}


def table(rows=600):
    rng = np.random.default_rng(0)
    code = rng.choice(list("abc"), rows)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "code": code,
            "group": np.where(code == "a", "x", "y"),
            "kind": rng.choice(list("pqr"), rows),
        }
    )


def made(method=SMALL, schema=SCHEMA, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nacre.fit(table(), schema, method=method, **{**COST, **more})


@pytest.fixture(scope="module")
def model():
    return made()


@pytest.fixture(scope="module")
def stepwise():
    return made(nacre.DPGAN().small(), rows=600)


def listing(model, change):
    """The model with other releases in its guarantee."""
    releases = [dict(release.to_dict()) for release in model.guarantee.releases]
    changed = change(releases)
    said = {**model.guarantee.to_dict(), "releases": releases if changed is None else changed}
    return dataclasses.replace(model, guarantee=nacre.vault.Guarantee.from_dict(said))


def test_the_list_of_a_fit_is_that_of_its_plan_in_any_order(model, stepwise):
    for each in (model, stepwise):
        assert compare(each) == compare(listing(each, lambda r: r[::-1]))
        assert str(compare(each)).startswith("They are those that its schema")


EDITS = {
    "dropped": (lambda r: r[1:], "'number of rows' is listed not at all and asked for once"),
    "only one": (lambda r: r[:1], "'histograms' is listed not at all"),
    "twice": (lambda r: [*r, r[0]], "'number of rows' is listed 2 times and asked for once"),
    "more": (lambda r: [*r, r[0] | {"name": "x"}], "'x' is listed once and asked for not at all"),
    "noise": (lambda r: r[1].update(noise=r[1]["noise"] * 10), "'histograms' has noise"),
    "a hair": (lambda r: r[1].update(noise=r[1]["noise"] * (1 + 2e-9)), "'histograms' has noise"),
    "sensitivity": (lambda r: r[1].update(sensitivity=1.0), "'histograms' has sensitivity 1"),
    "size": (lambda r: r[1].update(size=1), "'histograms' has size '1', not"),
    "theorem": (lambda r: r[1].update(theorem="perfect"), "'histograms' has theorem 'perfect'"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_told(model, edit):
    change, words = EDITS[edit]
    found = compare(listing(model, change))
    assert found.refused and words in str(found) and "do not rely on this" in str(found)


def test_another_adjacency_is_noticed(model):
    said = copy.deepcopy(model.guarantee.to_dict()) | {"adjacency": "replace-one"}
    for release in said["releases"]:
        release["adjacency"] = "replace-one"
    claimed = nacre.vault.Guarantee.from_dict(said)
    claimed.verify()
    assert "sensitivity" in str(compare(dataclasses.replace(model, guarantee=claimed)))


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_what_a_schema_was_bought_with_belongs_to_the_list(adjacency):
    fact, price = "group determined by code", {"epsilon": 0.5, "delta": 1e-7}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bought = nacre.buy_lookups(table(), SCHEMA, fact, adjacency=adjacency, **price)
    for method in (SMALL, nacre.DPGAN().small()):
        found = made(method, bought, adjacency=adjacency)
        assert not compare(found).differences
        assert compare(listing(found, lambda r: r[1:])).refused


def test_a_private_draft_belongs_to_the_list():
    types = dict.fromkeys(SCHEMA.names[1:], "categorical") | {"age": "integer"}
    draft = nacre.private_draft(table(), epsilon=1, delta=1e-6, types=types)
    for method in (SMALL, nacre.DPGAN().small()):
        found = made(method, draft, epsilon=4, bad_rows="zero")
        assert not compare(found).differences
        assert compare(listing(found, lambda r: r[1:])).refused


def test_without_privacy_the_list_is_compared_too():
    found = made(epsilon=math.inf, delta=None)
    assert not compare(found).differences
    assert compare(listing(found, lambda r: r[1:])).refused


def test_other_constraints_are_free(model):
    assert not compare(model.with_constraints(["age >= 18 if kind = p"])).differences


@pytest.fixture(scope="module")
def counted():
    return made(nacre.DPGAN().small())


def test_a_rate_after_the_count_is_said_not_to_be_compared(counted):
    found = compare(counted)
    assert not found.differences
    assert "at that ε and δ. Not compared: rate of 'critic', which followed from a" in str(found)


def as_approximate(release):
    """What was reserved, as if it were all that is known."""
    release |= {"mechanism": "approximate", "sensitivity": 0.0, "noise": 0.0, "rate": 1.0}
    release["steps"] = 1


STEP_EDITS = {
    "noise": lambda r: r.update(noise=r["noise"] * 10),
    "a hair of noise": lambda r: r.update(noise=r["noise"] * (1 + 1e-6)),
    "rate": lambda r: r.update(rate=r["rate"] / 10),
    "rate of all rows": lambda r: r.update(rate=1.0, noise=r["noise"] * 1000),
    "one step": lambda r: r.update(steps=1),
    "steps": lambda r: r.update(steps=r["steps"] + 1),
    "sensitivity": lambda r: r.update(sensitivity=r["sensitivity"] * 0.1),
    "mechanism": as_approximate,
    "theorem": lambda r: r.update(theorem="perfect"),
    "epsilon": lambda r: r.update(epsilon=r["epsilon"] * 2),
    "size": lambda r: r.update(size=1),
    "together": lambda r: r.update(epsilon=0.0, delta=0.0),
}


@pytest.mark.parametrize("edit", STEP_EDITS)
def test_steps_after_a_count_are_compared_but_for_their_rate(counted, edit):
    def change(releases):
        STEP_EDITS[edit](releases[-1])

    assert compare(listing(counted, change)).refused


def test_loud_steps_after_a_count_start_no_search(counted, monkeypatch):
    monkeypatch.setattr("nacre.rebuilt.make_plan", searched)
    for edit in ("noise", "one step", "rate", "mechanism"):

        def change(releases, edit=edit):
            STEP_EDITS[edit](releases[-1])

        assert "AssertionError" not in str(compare(listing(counted, change)))


@pytest.mark.parametrize("rows", [1, 40, 10**7])
def test_whatever_rate_followed_is_that_of_an_honest_file(rows, monkeypatch):
    """Also where the count says that there are fewer rows than a batch has."""
    threshold = nacre.vault.Steps.threshold
    monkeypatch.setattr(nacre.vault.Steps, "threshold", lambda self, _: threshold(self, rows))
    found = made(nacre.DPGAN().small())
    monkeypatch.undo()
    assert not compare(found).differences


def test_conditions_that_the_file_alone_says_are_told(model):
    unchecked = dataclasses.replace(model.guarantee, checked=not model.guarantee.checked)
    for each in (model, dataclasses.replace(model, guarantee=unchecked)):
        found = str(compare(each))
        assert "Not compared: whether rows were checked first, and whether sites shared" in found


def test_of_another_version_it_is_said_that_this_one_would_do_otherwise(model):
    for package in ("nacre", "dp-accounting"):
        older = dataclasses.replace(model, versions={**model.versions, package: "0.0.1"})
        assert not compare(older).differences
        found = compare(listing(older, lambda r: r[1:]))
        assert not found.refused
        assert f"was made with {package} 0.0.1; the versions here would" in str(found)


def test_a_private_model_that_does_not_say_what_was_asked_for_is_refused(model, tmp_path):
    model.save(tmp_path / "m.nacre")
    document, arrays = read(tmp_path / "m.nacre")
    for said in (
        {**document, "budget": None},
        {k: v for k, v in document.items() if k != "budget"},
    ):
        write(tmp_path / "m.nacre", said, arrays)
        with pytest.raises(nacre.ArchiveError, match="which epsilon was asked for"):
            nacre.load(tmp_path / "m.nacre")
    open_ = made(epsilon=math.inf, delta=None)
    open_.save(tmp_path / "open.nacre")
    assert nacre.load(tmp_path / "open.nacre").budget is None
    assert compare(dataclasses.replace(model, budget=None)).refused


def test_what_cannot_be_planned(model):
    custom = dataclasses.replace(model, method="Mine")
    assert not compare(custom).refused and "has no method 'Mine'" in str(compare(custom))
    for settings in ({"unheard": 1}, {"pairs": -1}, {"pairs": "x"}, {}):
        changed = dataclasses.replace(model, settings=model.settings | settings)
        assert compare(changed).refused is bool(settings)
    assert compare(dataclasses.replace(model, budget=0.0)).refused
    assert compare(dataclasses.replace(model, budget=1.0)).refused


@pytest.mark.parametrize("said", [{"budget": "1"}, {"budget": True}, {"rows": 0}, {"rows": 1.5}])
def test_budgets_and_rows_that_are_none_are_refused(model, tmp_path, said):
    model.save(tmp_path / "m.nacre")
    document, arrays = read(tmp_path / "m.nacre")
    write(tmp_path / "m.nacre", document | said, arrays)
    with pytest.raises(nacre.ArchiveError, match="is no"):
        nacre.load(tmp_path / "m.nacre")


def test_the_command_refuses_an_edited_list(model, tmp_path):
    path, run = str(tmp_path / "m.nacre"), CliRunner()
    model.save(path)
    done = run.invoke(app, ["show", path, "--verify"])
    assert done.exit_code == 0 and "They are those that its schema" in done.stdout
    listing(model, EDITS["noise"][0]).save(path, replace=True)
    done = run.invoke(app, ["show", path, "--verify"])
    assert done.exit_code == 1 and "'histograms' has noise" in done.stderr
    assert "Verified" not in done.stdout
    said = json.loads(run.invoke(app, ["show", path, "--verify", "--json"]).stdout)
    assert said["verification"]["verified"] is False
    older = dataclasses.replace(model, versions={**model.versions, "nacre": "0.0.1"})
    listing(older, EDITS["noise"][0]).save(path, replace=True)
    done = run.invoke(app, ["show", path, "--verify"])
    assert done.exit_code == 1 and "Install those, and verify again" in done.stderr
    assert "Verified" not in done.stdout and "Not confirmed: the releases" in done.stdout


def found_of(model, path):
    """The exit code, what is said and the JSON of a model that is verified."""
    model.save(path, replace=True)
    done = CliRunner().invoke(app, ["show", str(path), "--verify"])
    again = CliRunner().invoke(app, ["show", str(path), "--verify", "--json"])
    assert again.exit_code == done.exit_code
    return done.exit_code, done.output, json.loads(again.stdout)["verification"]


OUTCOMES = {
    "as it was": ({}, None, "same", "Verified: the releases listed cost"),
    "older": ({"versions": "0.0.1"}, None, "same", "Verified: the releases listed cost"),
    "older and edited": ({"versions": "0.0.1"}, "noise", "differs", "made with nacre 0.0.1;"),
    "edited": ({}, "noise", "differs", "It was edited, or no fit made it"),
    "no such method": ({"method": "Mosaic "}, None, "not compared", "ask who made it"),
    "older, no such method": (
        {"method": "Mosaic ", "versions": "0.0.1"},
        None,
        "not compared",
        "Install nacre 0.0.1, with which",
    ),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_only_the_same_list_is_verified(model, tmp_path, kind):
    said, edit, outcome, words = OUTCOMES[kind]
    if version := said.get("versions"):
        said = {**said, "versions": {**model.versions, "nacre": version}}
    changed = listing(dataclasses.replace(model, **said), EDITS[edit][0] if edit else lambda r: r)
    code, output, found = found_of(changed, tmp_path / "m.nacre")
    assert found["compared"] == outcome and found["verified"] is (outcome == "same")
    assert code == (0 if outcome == "same" else 1) and words in output
    assert ("Verified" in output) is (outcome == "same")
    assert ("Not confirmed: the releases listed cost" in output) is (outcome != "same")


def searched(*_, **__):
    raise AssertionError("a search for noise began")


CRAFTED_SETTINGS = {
    "steps": {"settings": {"critic_steps": 10**6}},
    "batch": {"settings": {"critic_batch": 100}},
    "rows": {"rows": 1000},
    "budget": {"budget": 600.0},
    "a thousandth of the budget": {"budget": 2.01},
    "less budget": {"budget": 1.0},
    "beyond any budget": {"budget": 1e9},
    "claim and budget": {"budget": 600.0, "claim": 600.0},
}


@pytest.mark.parametrize("kind", CRAFTED_SETTINGS)
def test_what_is_free_is_compared_before_noise_is_searched_for(stepwise, monkeypatch, kind):
    """A stranger chooses settings and budget: a search for noise took minutes."""
    said = dict(CRAFTED_SETTINGS[kind])
    guarantee = dataclasses.replace(
        stepwise.guarantee, epsilon=said.pop("claim", stepwise.guarantee.epsilon)
    )
    if settings := said.pop("settings", None):
        said["settings"] = {**stepwise.settings, **settings}
    monkeypatch.setattr("nacre.rebuilt.make_plan", searched)
    assert "AssertionError" in str(compare(stepwise))
    found = compare(dataclasses.replace(stepwise, guarantee=guarantee, **said))
    assert found.refused and "AssertionError" not in str(found)


def test_loud_noise_of_reserved_steps_is_refused_before_a_search(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        price = {"epsilon": 0.5, "delta": 1e-7}
        bought = nacre.buy_lookups(table(), SCHEMA, "group determined by code", **price)
    found = made(nacre.DPGAN().small(), bought, rows=600)
    assert not compare(found).differences

    def edit(releases):
        releases[-1]["noise"] *= 1.1

    monkeypatch.setattr("nacre.rebuilt.make_plan", searched)
    assert "'critic' costs" in str(compare(listing(found, edit)))


@pytest.mark.parametrize(("epsilon", "steps"), [(50.0, 2), (0.01, 50)])
def test_a_search_that_ended_below_the_budget_is_no_edit(epsilon, steps):
    """Where two steps hardly hide anything, it ends at a tenth of the guessed noise."""
    method = dataclasses.replace(nacre.DPGAN().small(), critic_steps=steps, critic_batch=600)
    found = made(method, epsilon=epsilon, rows=600)
    assert (found.guarantee.epsilon < 0.9 * epsilon) is (steps == 2)
    assert not compare(found).differences


CRAFTED = {
    "little noise": ({"noise": 1e-4, "rate": 0.5, "steps": 10}, 1, "cannot be verified"),
    "no noise": ({"noise": 2e-6, "rate": 0.5, "steps": 1}, 1, "cannot be verified"),
    "many steps": ({"rate": 0.5, "steps": 10**8}, 1, "cannot be verified"),
    "reserved": ({"rate": 0.1, "steps": 10**8, "epsilon": 0.01, "delta": 1e-7}, 1, "cannot be"),
    "steps": ({"rate": 0.5, "steps": 10**15}, 2, "has a size, steps or a rate beyond"),
    "size": ({"size": 10**400}, 2, "has a size, steps or a rate beyond"),
    "rate": ({"rate": 5e-324}, 2, "has a size, steps or a rate beyond"),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_crafted_steps_are_refused_at_once(model, tmp_path, kind):
    change, code, words = CRAFTED[kind]
    model.save(tmp_path / "m.nacre")
    document, arrays = read(tmp_path / "m.nacre")
    steps = {"name": "t", "mechanism": "subsampled-gaussian", "theorem": "x", "size": 1}
    steps |= {"adjacency": "add-remove", "sensitivity": 1.0, "noise": 1.0}
    document["guarantee"]["releases"].append(steps | change)
    write(tmp_path / "m.nacre", document, arrays)
    done = CliRunner().invoke(app, ["show", str(tmp_path / "m.nacre"), "--verify"])
    assert done.exit_code == code and words in done.stderr and "report it" not in done.stderr


def test_the_least_delta_is_shown_and_not_verified(model, tmp_path):
    claimed = dataclasses.replace(model.guarantee, delta=1e-320)
    dataclasses.replace(model, guarantee=claimed).save(tmp_path / "m.nacre")
    done = CliRunner().invoke(app, ["show", str(tmp_path / "m.nacre"), "--verify"])
    assert done.exit_code == 1 and "cannot be verified" in done.stderr
