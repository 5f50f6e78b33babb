"""fit(): what it refuses before anything is spent, and what it passes on."""

import warnings

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.fit import fit
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.pearl import PEARL
from nacre.schema import Boolean, Integer, Schema, SchemaError

SCHEMA = Schema({"age": Integer(low=0, high=99), "member": Boolean()}, label="member")
QUICK = PEARL(frequencies=16, blocks=2, components=4, steps=10)


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(0, 100, n), "member": rng.random(n) < 0.4})


@pytest.fixture(scope="module")
def model():
    return run()


def run(data=None, schema=SCHEMA, **changes):
    # Of a column and a label Mosaic is two histograms, and there is nothing to train.
    settings = {"method": Mosaic(), "epsilon": 1.0, "delta": 1e-6}
    return fit(people() if data is None else data, schema, **{**settings, **changes})


@pytest.mark.parametrize("epsilon", [0, -1, 1e-5, 701, float("nan"), -float("inf")])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be a positive number.*1 is usual"):
        run(epsilon=epsilon)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2, float("nan")])
def test_delta_must_lie_between_zero_and_one(delta):
    with pytest.raises(ValueError, match="delta must lie strictly between"):
        run(delta=delta)


def test_a_delta_for_which_nothing_is_proved_is_refused():
    with pytest.raises(ValueError, match=r"delta must be above 1e-20, got 1e-21"):
        run(delta=1e-21)


@pytest.mark.parametrize("delta", [0.01, 0.5])
def test_a_delta_that_promises_next_to_nothing_is_refused(delta):
    with pytest.raises(ValueError, match=r"delta must be below 0\.01"):
        run(delta=delta)
    with pytest.raises(ValueError, match=r"delta must be below 0\.01"):
        nacre.plan(SCHEMA, epsilon=1, delta=delta)


@pytest.mark.parametrize("wrong", ["a", None, True, [1]])
def test_a_budget_that_is_no_number_is_told(wrong):
    with pytest.raises(ValueError, match="epsilon must be a number"):
        run(epsilon=wrong)
    with pytest.raises(ValueError, match="delta must be a number"):
        run(delta=wrong)


def test_no_default_for_the_budget():
    with pytest.raises(TypeError, match="epsilon"):
        fit(people(), SCHEMA, delta=1e-6)


def test_a_delta_not_below_one_over_the_rows_is_warned_about():
    with pytest.warns(UserWarning, match="is not below 1/300"):
        run(delta=0.005)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(delta=1e-4)


def test_a_drafted_schema_is_refused_until_reviewed():
    drafted = Schema(SCHEMA.columns, label="member", provenance="data")
    with pytest.raises(SchemaError, match="reviewed: true"):
        run(schema=drafted)
    run(schema=Schema(SCHEMA.columns, label="member", provenance="data", reviewed=True))


def test_few_rows_are_warned_about_by_whose_number_it_is():
    with pytest.warns(UserWarning, match=r"20 rows \(by the holder's check\) are few"):
        run(people(20))
    with pytest.warns(UserWarning, match=r"20 rows \(as given\) are few"):
        run(rows=20)
    with pytest.warns(UserWarning, match=r"20 rows \(as given\) are few"):
        nacre.plan(SCHEMA, epsilon=1, delta=1e-6, rows=20)
    with pytest.warns(UserWarning, match="is not below 1/2000"):
        nacre.plan(SCHEMA, epsilon=1, delta=1e-3, rows=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(people(20), bad_rows="zero")  # nothing public says how many there are
        nacre.plan(SCHEMA, epsilon=1, delta=1e-6, rows=2000)


def test_an_interrupted_fit_says_what_stays_charged(tmp_path):
    def interrupt(stage, done):
        if (stage, done) == ("histograms", 1.0):
            raise KeyboardInterrupt

    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3, delta=1e-4)
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(ledger=ledger, dataset="people", on_progress=interrupt)
    assert stopped.value.__notes__ == [
        "Entry 1 of the ledger (ε = 1, δ = 1e-06 for 'people') stays charged."
    ]
    assert [entry.status for entry in ledger.history("people")] == ["reserved"]
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(on_progress=interrupt)
    assert stopped.value.__notes__ == ["Nothing was charged to a ledger."]


@pytest.mark.parametrize("n", [2.5, -1, "3", None, True])
def test_only_whole_numbers_of_rows_are_drawn(n, model):
    with pytest.raises(ValueError, match="Give a whole number that is not negative"):
        model.sample(n)


def test_models_and_schemas_are_one_line_at_a_prompt(model):
    assert repr(SCHEMA) == "<Schema of 2 columns: 'age', 'member'; label 'member'>"
    assert repr(model).startswith("<Mosaic model, (ε = 1, δ = 1e-06)")


def test_tables_of_no_or_one_row_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        run(people(0))
    with pytest.raises(ValueError, match="has 1 row;"):
        run(people(1))


def test_with_bad_rows_zero_nothing_depends_on_how_many_rows_there_are():
    for n in (0, 1):
        model = run(people(n), bad_rows="zero")
        assert len(model.sample(5)) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "magic"}, "There is no method 'magic'. Choose one of: auto, "),
        ({"bad_rows": "skip"}, "bad_rows must be"),
        ({"rows": 0}, "rows must be a positive whole number"),
        ({"label": "income"}, "label 'income' is not a column"),
        ({"adjacency": "neighbor"}, "neighbor"),
        ({"rows": 2.5}, "rows must be a positive whole number"),
        ({"seed": "a"}, "seed must be a whole number"),
        ({"method": PEARL}, r"PEARL is a class: give PEARL\(\)"),
        ({"method": 5}, "method must be a name"),
        (
            {"schema": {"columns": {}}},
            "schema must be a nacre.Schema, a nacre.ImageSchema or the path",
        ),
        ({"dataset": "people"}, "--ledger budget.db"),
        ({"ledger": "x.db"}, "--dataset NAME"),
    ],
)
def test_wrong_arguments_are_told(changes, message):
    with pytest.raises(ValueError, match=message):
        run(**changes)


def test_a_label_with_very_many_values_is_refused_before_anything_is_spent():
    values = tuple(f"v{i}" for i in range(10_000))
    schema = Schema(
        {"age": Integer(low=0, high=99), "code": nacre.Categorical(values=values)}, label="code"
    )
    frame = pd.DataFrame({"age": [1, 2, 3], "code": ["v1", "v2", "v3"]})
    with pytest.raises(ValueError, match="would release"):
        fit(frame, schema, method=PEARL(), epsilon=1, delta=1e-6)


def test_progress_is_told():
    told = []
    run(method=QUICK, on_progress=lambda stage, done: told.append((stage, done)))
    assert ("characteristic function", None) in told
    assert told[-1] == ("fitting the generator", 1.0)


def test_auto_says_what_it_picked_and_why():
    plan = nacre.plan(SCHEMA, epsilon=1, delta=1e-6)
    assert plan.method
    assert "automatically" in plan.reason


def test_a_plan_reads_no_rows_and_tells_errors():
    plan = nacre.plan(SCHEMA, method=QUICK, epsilon=1, delta=1e-6, rows=1000)
    (planned,) = plan.asked
    assert planned.expected.count_error == pytest.approx(
        planned.release.noise / planned.question.bound.count
    )
    assert planned.expected.error == pytest.approx(
        planned.release.noise / planned.question.unit / 1000
    )
    assert "a count of rows will be off by about" in str(plan)
    assert plan.to_dict()["releases"][0]["share"] == 1.0


def test_rules_between_columns_are_kept(model):
    old = model.sample(200, keep=lambda t: [value >= 50 for value in t["age"].to_pylist()])
    assert len(old) == 200
    assert (old["age"] >= 50).all()
    with pytest.raises(ValueError, match="hardly ever"):
        model.sample(10, keep=lambda t: [False] * t.num_rows)
