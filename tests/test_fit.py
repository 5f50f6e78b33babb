"""fit(): what it refuses before anything is spent, and what it passes on."""

import warnings

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.fit import fit
from nacre.methods import PEARL
from nacre.schema import Boolean, Integer, Schema, SchemaError

SCHEMA = Schema({"age": Integer(low=0, high=99), "member": Boolean()}, label="member")
QUICK = PEARL(frequencies=16, blocks=2, components=4, steps=10)


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(0, 100, n), "member": rng.random(n) < 0.4})


def run(data=None, schema=SCHEMA, **changes):
    settings = {"method": QUICK, "epsilon": 1.0, "delta": 1e-6}
    return fit(people() if data is None else data, schema, **{**settings, **changes})


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_epsilon_must_be_positive(epsilon):
    with pytest.raises(ValueError, match="epsilon must be a positive number"):
        run(epsilon=epsilon)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2, float("nan")])
def test_delta_must_lie_between_zero_and_one(delta):
    with pytest.raises(ValueError, match="delta must lie strictly between"):
        run(delta=delta)


def test_no_default_for_the_budget():
    with pytest.raises(TypeError, match="epsilon"):
        fit(people(), SCHEMA, delta=1e-6)


def test_a_delta_not_below_one_over_the_rows_is_warned_about():
    with pytest.warns(UserWarning, match="is not below 1/300"):
        run(delta=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(delta=1e-4)


def test_a_drafted_schema_is_refused_until_reviewed():
    drafted = Schema(SCHEMA.columns, label="member", provenance="data")
    with pytest.raises(SchemaError, match="reviewed: true"):
        run(schema=drafted)
    run(schema=Schema(SCHEMA.columns, label="member", provenance="data", reviewed=True))


def test_tables_of_no_or_one_row_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        run(people(0))
    with pytest.raises(ValueError, match="has 1 row;"):
        run(people(1))


def test_with_bad_rows_zero_nothing_depends_on_how_many_rows_there_are():
    for n in (0, 1, 2):
        model = run(people(n), bad_rows="zero")
        assert len(model.sample(5)) == 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "magic"}, "There is no method 'magic'. Choose one of: auto, "),
        ({"bad_rows": "skip"}, "bad_rows must be"),
        ({"rows": 0}, "rows must be a positive number"),
        ({"label": "income"}, "label 'income' is not a column"),
        ({"adjacency": "neighbor"}, "neighbor"),
        ({"dataset": "people"}, "give `ledger` too"),
        ({"ledger": "x.db"}, "give its name as `dataset`"),
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
    run(on_progress=lambda stage, done: told.append((stage, done)))
    assert ("characteristic function", None) in told
    assert told[-1] == ("fitting the generator", 1.0)


def test_auto_says_what_it_picked_and_why():
    plan = nacre.plan(SCHEMA, epsilon=1, delta=1e-6)
    assert plan.method
    assert "automatically" in plan.reason


def test_a_plan_reads_no_rows_and_tells_errors():
    plan = nacre.plan(SCHEMA, method=QUICK, epsilon=1, delta=1e-6, rows=1000)
    (planned,) = plan.releases
    assert planned.count_error == pytest.approx(
        planned.release.noise / (0.25 * 16385 * 4), rel=0.01
    )
    assert "a count of rows will be off by about" in str(plan)
    assert plan.to_dict()["releases"][0]["share"] == 1.0


def test_rules_between_columns_are_kept():
    model = run()
    old = model.sample(200, keep=lambda t: [value >= 50 for value in t["age"].to_pylist()])
    assert len(old) == 200
    assert (old["age"] >= 50).all()
    with pytest.raises(ValueError, match="hardly ever"):
        model.sample(10, keep=lambda t: [False] * t.num_rows)
