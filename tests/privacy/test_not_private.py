"""Without noise nothing is promised: it is asked for in words, said everywhere, never a number."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nacre
from nacre.archive import read, write
from nacre.cli import app
from nacre.errors import BudgetExceeded, LedgerError
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rows import Stream, TableEncoder
from nacre.vault import Adjacency, Plan, Release, Vault, count_question, epsilon_of
from nacre.vault.guarantee import NOT_PRIVATE

SCHEMA = nacre.Schema(
    {
        "age": nacre.Integer(low=0, high=49),
        "sex": nacre.Categorical(values=("F", "M")),
        "ill": nacre.Boolean(),
    },
    label="ill",
)
QUICK = Mosaic(components=20, fits=1, steps=100)
DOUBT = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")


def people(n=400):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 50, n)
    return pd.DataFrame({"age": age, "sex": rng.choice(["F", "M"], n), "ill": age > 30})


@pytest.fixture(scope="module")
def model():
    return nacre.fit(people(), SCHEMA, method=QUICK, epsilon=math.inf, seed=0)


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "people.nacre"
    model.save(path)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_one_answer_without_noise_is_enough():
    count = count_question(1.0)
    noisy, bare = (
        Plan.of([count], epsilon=epsilon, delta=delta).releases[0]
        for epsilon, delta in ((1.0, 1e-6), (math.inf, None))
    )
    assert noisy.private and not bare.private
    assert epsilon_of([noisy, bare], 1e-6) == epsilon_of([bare, bare], 0.5) == math.inf
    assert Release.from_dict(bare.to_dict()) == bare
    for claim in ({"noise": 1.0}, {"sensitivity": 1.0}, {"epsilon": 1.0}, {"delta": 1e-9}):
        with pytest.raises(ValueError, match="cannot claim any"):
            Release.from_dict(bare.to_dict() | claim)


def test_no_plan_with_a_number_answers_without_noise():
    count = count_question(1.0)
    plan = Plan.of([count], epsilon=1.0, delta=1e-6)
    (asked,) = plan.asked
    bare = dataclasses.replace(asked, release=asked.release.without_noise())
    vault = Vault(Stream(TableEncoder(SCHEMA), people()), dataclasses.replace(plan, asked=(bare,)))
    with pytest.raises(BudgetExceeded):
        vault.count(count)
    assert not vault.releases


def test_it_has_to_be_asked_for():
    for cost in ({"epsilon": math.inf, "delta": 1e-6}, {"epsilon": 1.0}):
        with pytest.raises(ValueError, match="delta"):
            nacre.fit(people(), SCHEMA, **cost)
        with pytest.raises(ValueError, match="delta"):
            nacre.plan(SCHEMA, **cost)
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        nacre.private_draft(people(), epsilon=math.inf, delta=1e-6, types={"age": "integer"})


def test_no_ledger_takes_it_and_no_row_is_read_before(tmp_path):
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3, delta=1e-4)
    for account in ({"ledger": ledger, "dataset": "people"}, {"dataset": "people"}):
        with pytest.raises(LedgerError, match="cannot be charged to a ledger"):
            nacre.fit(tmp_path / "none.csv", SCHEMA, epsilon=math.inf, **account)
    with pytest.raises(LedgerError, match="without privacy"):
        ledger.reserve(
            "people", epsilon=math.inf, delta=1.0, adjacency=Adjacency.ADD_REMOVE, method="Mosaic"
        )
    assert not ledger.history("people")


def test_every_form_says_so_and_shows_no_number(model, saved):
    guarantee = model.guarantee
    assert guarantee.epsilon == math.inf and guarantee.delta == 1 and not guarantee.private
    assert str(guarantee) == NOT_PRIVATE and NOT_PRIVATE in repr(model)
    assert "Nothing is promised" in " ".join(guarantee.assumptions)
    text = json.dumps(model.certificate(), allow_nan=False)
    said = json.loads(text)["guarantee"]
    assert said["claim"] == NOT_PRIVATE and said["epsilon"] is said["delta"] is None
    assert not any("epsilon" in release for release in said["releases"])
    shown = run("show", saved)
    assert shown.exit_code == 0 and NOT_PRIVATE in shown.stdout
    assert "ε =" not in shown.output and "δ =" not in shown.output
    assert json.loads(run("show", saved, "--json").stdout)["guarantee"] == said


def test_there_is_nothing_to_verify(model, saved):
    with pytest.raises(ValueError, match="no guarantee to verify"):
        model.guarantee.verify()
    done = run("show", saved, "--verify")
    assert done.exit_code == 1 and "no guarantee to verify" in done.stderr
    assert "Verified" not in done.output
    found = json.loads(run("show", saved, "--verify", "--json").stdout)["verification"]
    assert found["verified"] is False and found["epsilon"] is None


def test_a_file_keeps_it_and_warns(model, saved):
    with pytest.warns(UserWarning, match=NOT_PRIVATE):
        again = nacre.load(saved)
    assert again.certificate() == model.certificate()
    pd.testing.assert_frame_equal(again.sample(20, seed=1), model.sample(20, seed=1))


@pytest.mark.parametrize("only", [False, True])
def test_a_file_cannot_be_made_to_claim_a_number(saved, tmp_path, only):
    document, arrays = read(saved)
    document.pop("nacre")
    document["guarantee"] |= {"epsilon": 1.0} if only else {"epsilon": 1.0, "delta": 1e-6}
    write(tmp_path / "edited.nacre", document, arrays)
    with pytest.raises(nacre.ArchiveError, match="damaged or was edited"):
        nacre.load(tmp_path / "edited.nacre")


@DOUBT
def test_nothing_of_it_is_published(model, saved, tmp_path):
    with pytest.raises(ValueError, match="safe to publish"):
        nacre.publish(model)
    done = run("publish", saved, "-o", tmp_path / "public.html")
    assert done.exit_code == 2 and NOT_PRIVATE in done.stderr
    assert not (tmp_path / "public.html").exists()
    # Exact counts are no measurement that a page could show.
    assert model.measurements == ()
    private = nacre.fit(people(), SCHEMA, method=QUICK, epsilon=1.0, delta=1e-6)
    assert private.measurements
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        nacre.publish(private, rows=10, data=people(), epsilon=math.inf, delta=1e-6)


def test_reports_to_the_holder_say_so(model):
    page = nacre.evaluate(
        people(), model.sample(300, seed=0), SCHEMA, metrics=["tv1"], guarantee=model
    )
    assert "NOT PRIVATE" in page.summary()
    html = page.to_html()
    assert html.count("NOT PRIVATE") >= 3
    assert "ε = ∞" not in html and "Differential privacy." not in html
    assert "The synthetic table may be, with its guarantee" not in html


def shares(table):
    """Of every pair of age (in tens), sex and illness."""
    codes = [table["age"] // 10, table["sex"] == "F", table["ill"]]
    columns = [np.asarray(code, np.float64) for code in codes]
    return [
        np.histogram2d(columns[i], columns[j], bins=[np.arange(6)] * 2)[0] / len(table)
        for i, j in ((0, 1), (0, 2), (1, 2))
    ]


def test_it_is_no_worse_than_with_noise(model):
    real = shares(people())
    private = nacre.fit(people(), SCHEMA, method=QUICK, epsilon=0.2, delta=1e-6, seed=0)

    def distance(made):
        drawn = shares(made.sample(4000, seed=1))
        return np.mean([abs(a - b).sum() / 2 for a, b in zip(real, drawn, strict=True)])

    assert distance(model) < 0.05
    assert distance(model) < distance(private)
