"""evaluate(): the whole road, from tables to scores and words."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

import nacre.evaluate as room
from nacre.evaluate import METRICS, Evaluation, evaluate
from nacre.evaluate.findings.words import percent
from nacre.evaluate.metrics import choose
from nacre.vault import Adjacency, Guarantee

CHEAP = ["tv1", "tv2", "association", "small-groups", "copies", "coverage"]


@pytest.fixture(scope="module")
def two(real, good, broken, held, schema) -> Evaluation:
    return evaluate(
        real,
        {"good": good, "broken": broken},
        schema,
        test=held,
        classifiers=["logistic regression", "decision tree"],
        jobs=1,
    )


def test_scores_are_tidy(two):
    scores = two.scores
    assert isinstance(scores, pd.DataFrame)
    assert list(scores.columns) == [
        "table",
        "metric",
        "part",
        "value",
        "error",
        "reference",
        "goal",
    ]
    assert not scores.duplicated(["table", "metric", "part"]).any()
    assert set(scores["table"]) == {"good", "broken"}
    for metric in two.metrics:
        own = scores[scores["metric"] == metric.name]
        assert own["value"].between(metric.low, metric.high).all(), metric.name
        assert (own["goal"] == metric.goal).all()


def test_quick_computes_what_it_should(two):
    quick = {m.name for m in choose("quick")} - {"r2"}
    assert {m.name for m in two.metrics} == quick
    assert quick == set(two.scores["metric"])


def test_the_better_table_scores_better(two):
    for name in ("tv2", "association", "auc", "average-precision"):
        good, broken = (two.score(name, table) for table in ("good", "broken"))
        sign = 1 if good.goal == "higher" else -1
        assert sign * good.value > sign * broken.value, name


def test_reference_is_what_real_rows_score(two):
    score = two.score("tv2", "good")
    assert score.value == pytest.approx(score.reference, abs=0.02)
    auc = two.score("auc", "good", "logistic regression")
    assert auc.value == pytest.approx(auc.reference, abs=0.02)


def test_findings_say_what_not_to_do(two):
    worst = two.findings["broken"]
    assert worst[0].level == "avoid"
    said = " ".join(f.text for f in worst if f.level == "avoid")
    assert "Do not study how these go together" in said
    assert "Do not train models of income" in said
    assert not [f for f in two.findings["good"] if f.level == "avoid"]
    levels = [f.level for f in worst]
    assert levels == sorted(levels, key=["avoid", "care", "note", "good"].index)


def test_summary_begins_with_confidential(two):
    summary = two.summary()
    assert summary.startswith("Confidential to the data holder")
    assert str(two) == summary
    assert "good:" in summary and "broken:" in summary
    assert summary.index("✗") < summary.index("lower is better")


def test_json_round_trip(two, tmp_path):
    text = two.to_json(tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text()) == json.loads(text)
    content = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert content["confidential"].startswith("Confidential")
    assert len(content["scores"]) == len(two.results)
    assert {m["name"]: m["high"] for m in content["metrics"]}["small-groups"] is None


def test_without_test_rows_some_are_held_out_and_it_says_so(real, good, schema):
    found = evaluate(real, good, schema, metrics=CHEAP)
    comparison = found.comparisons["synthetic"]
    assert len(comparison.real) == 3000
    assert (len(comparison.train), len(comparison.test)) == (2400, 600)
    assert any("20% of the real rows" in note for note in found.notes)


def test_seed_decides_everything(real, good, schema):
    one, same, other = (
        evaluate(real.head(300), good.head(300), schema, metrics=["tv3", "mmd"], seed=s).scores
        for s in (1, 1, 2)
    )
    assert one.equals(same)
    assert not one.equals(other)


def test_all_metrics_are_of_this_table(real, good, held, schema):
    stages = []
    found = evaluate(
        real.head(300),
        good.head(300),
        schema,
        test=held.head(200),
        metrics="all",
        classifiers=["logistic regression", "decision tree"],
        jobs=1,
        on_progress=lambda stage, done: stages.append((stage, done)),
    )
    assert set(found.scores["metric"]) == set(METRICS) - {"r2"}
    assert stages[:2] == [("reading", None), ("evaluating", 0.0)]
    assert stages[-1] == ("evaluating", 1.0)
    assert [done for _, done in stages[1:]] == sorted(done for _, done in stages[1:])


def test_every_metric_says_what_it_is():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.goal in {"lower", "higher"}
        assert metric.low < metric.high
        assert metric.meaning.rstrip()[-1] in ".?"
        assert len(metric.meaning) > 40


def test_a_regression_target(real, good, held, schema):
    real, good, held = (table.head(600) for table in (real, good, held))
    found = evaluate(real, good, schema, test=held, label="wage", metrics=["r2", "auc"], jobs=1)
    assert set(found.scores["metric"]) == {"r2"}
    assert found.score("r2").value > 0.4


def test_without_a_label(real, good, schema):
    found = evaluate(real, good, schema, label=None, metrics=["tv1", "auc"], jobs=1)
    assert found.label is None and set(found.scores["metric"]) == {"tv1"}
    assert any("No label" in note for note in found.notes)
    kept = evaluate(real, good, schema, metrics=["tv1"], jobs=1)
    assert kept.label == "income"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["nonsense"]}, "No such metric: 'nonsense'.*tv1"),
        ({"metrics": []}, "list is empty"),
        ({"label": "salary"}, "label 'salary' is not a column.*age"),
        ({"synthetic": {}}, "No synthetic table"),
        ({"classifiers": ["magic"]}, "No such classifier"),
        ({"synthetic": 7}, "int"),
    ],
)
def test_wrong_requests(change, message, real, good, schema):
    asked = {"synthetic": good, **change}
    with pytest.raises(ValueError, match=f"(?s){message}"):
        evaluate(real, asked.pop("synthetic"), schema, **asked)


def test_too_few_rows(real, good, schema):
    with pytest.raises(ValueError, match="has 3 rows.*At least 10"):
        evaluate(real, good.head(3), schema, metrics=CHEAP)


def test_an_empty_table_says_that_it_has_no_rows(real, good, schema):
    with pytest.raises(ValueError, match="The table 'synthetic' has no rows. Give one"):
        evaluate(real, good.head(0), schema, metrics=CHEAP)


def test_words_and_numbers_agree(two):
    # Verdicts rest on the excess over chance, and that is the number in the sentence.
    columns = next(f for f in two.findings["good"] if f.topic == "Columns")
    measured = [*two.parts("tv1", "good"), *two.parts("tv1-quantiles", "good")]
    worst = max(s.value - s.reference for s in measured)
    assert percent(max(worst, 0.0)) in columns.text
    pairs = next(f for f in two.findings["broken"] if f.topic == "Pairs")
    excess = {s.part: s.value - s.reference for s in two.parts("association", "broken")}
    assert f"off by {max(excess.values()):.2f} beyond chance" in pairs.text
    said = [float(n) for n in re.findall(r"off by ([\d.]+) beyond chance", pairs.text)]
    assert pairs.level == "avoid" and min(said) >= 0.2


def test_means_of_models_say_so(two):
    assert "AUC, mean of 2 " in two.summary()
    meaning = next(m.meaning for m in two.metrics if m.name == "auc")
    assert "the mean of 2 models: logistic regression, decision tree" in meaning
    model = next(f.text for f in two.findings["good"] if f.topic == "Models")
    each = two.parts("auc", "good")
    here, there = max(each, key=lambda s: s.value), max(each, key=lambda s: s.reference)
    assert f"the best of 2 has AUC {here.value:.3f} ({here.part})" in model
    assert f"the best has {there.reference:.3f} ({there.part})" in model


def test_wrong_path_says_which_table(real, schema, tmp_path):
    with pytest.raises(ValueError, match="The table 'synthetic'.*nothing.csv"):
        evaluate(real, tmp_path / "nothing.csv", schema)


def test_no_private_value_in_notes(real, good, schema):
    bad = good.copy()
    bad.loc[0, "sex"] = "SECRET"
    found = evaluate(real, bad, schema, metrics=CHEAP)
    assert any("table 'synthetic'" in note and "1 of 2,500 rows" in note for note in found.notes)
    assert "SECRET" not in found.to_json()


def test_guarantee_from_anything(real, good, schema):
    made = Guarantee(epsilon=2.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    for given in (made, made.to_dict(), {"guarantee": made.to_dict()}, {"synthetic": made}):
        found = evaluate(real, good, schema, metrics=["tv1"], guarantee=given)
        assert found.guarantees["synthetic"]["epsilon"] == 2.0
        assert found.guarantees["synthetic"]["adjacency"] == "add-remove"


def test_no_privacy_is_said_first(real, good, schema):
    found = evaluate(
        real, good, schema, metrics=["tv1"], guarantee={"epsilon": float("inf"), "delta": 1e-6}
    )
    assert found.findings["synthetic"][0].text.startswith("Do not publish this table")
    assert json.loads(found.to_json())["guarantees"]["synthetic"]["epsilon"] is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (1, ValueError, "is an int"),
        ("one.nacre", ValueError, "no file one.nacre"),
        ({"delta": 1e-6}, ValueError, "no epsilon and delta"),
    ],
)
def test_wrong_guarantee(given, error, message, real, good, schema):
    with pytest.raises(error, match=message):
        evaluate(real, good, schema, metrics=["tv1"], guarantee=given)


def test_a_schema_may_be_a_path(real, good, schema, tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text(schema.to_yaml())
    for given in (path, str(path)):
        assert evaluate(real, good, given, metrics=["tv1"]).schema.names == schema.names
    with pytest.raises(
        ValueError, match="a nacre.ImageSchema or the path of a YAML file, got a dict"
    ):
        evaluate(real, good, schema.to_dict(), metrics=["tv1"])


def test_one_guarantee_is_not_taken_for_two_tables(real, good, schema):
    made = Guarantee(epsilon=2.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE)
    with pytest.raises(ValueError, match="One guarantee was given for 2 tables"):
        evaluate(real, {"a": good, "b": good}, schema, metrics=["tv1"], guarantee=made)


def test_the_room_is_also_the_verb(real, good, schema):
    assert isinstance(room(real, good, schema, metrics=["tv1"]), Evaluation)


def test_import_is_light():
    code = (
        "import nacre.evaluate, sys; "
        "print([m for m in ('sklearn', 'matplotlib', 'jax', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_sklearn_it_says_what_to_install(real, good, schema, monkeypatch):
    class Absent:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "sklearn":
                raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    for name in [m for m in sys.modules if m.startswith("sklearn.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'nacre-dp\[evaluate\]'"):
        evaluate(real, good, schema, metrics=["auc"], classifiers=["decision tree"], jobs=1)
    assert evaluate(real, good, schema, metrics=["tv1"]).score("tv1") is not None
