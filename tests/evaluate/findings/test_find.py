"""What is said of a table, from its scores."""

import re

import numpy as np
import pytest

from nacre.evaluate import Score
from nacre.evaluate.findings.find import find
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.scores.part import SizeBand
from nacre.evaluate.tables.pairs import Pair


def test_lost_values_are_found(compare, real):
    comparison = compare(real, real[real["job"] != "a"])
    said = [f.text for f in find("s", [], comparison, None)]
    assert any("job = a (0% instead of " in text for text in said)


def score(metric, part, value, reference):
    return Score(
        table="s",
        metric=metric,
        part=part,
        value=value,
        error=None,
        reference=reference,
        goal="lower",
    )


def test_a_bad_pair_does_not_hide_doubtful_ones(compare, real):
    scores = [
        score("association", Pair("age", "wage"), 0.5, 0.0),
        score("association", Pair("age", "size"), 0.15, 0.0),
    ]
    said = {f.level: f.text for f in find("s", scores, compare(real, real), None)}
    assert "age with wage" in said["avoid"] and "age with size" not in said["avoid"]
    assert "age with size" in said["care"]


def test_models_are_judged_by_the_best_on_either_side(compare, real):
    # The best on real rows need not be the best on synthetic ones.
    scores = [score("auc", "boosting", 0.60, 0.66), score("auc", "logistic", 0.63, 0.64)]
    found = [f for f in find("s", scores, compare(real, real), None) if f.topic == "Models"]
    assert [f.level for f in found] == ["care"]
    assert "AUC 0.630 (logistic); trained on real rows the best has 0.660 (boosting)" in (
        found[0].text
    )


@pytest.mark.parametrize(
    ("metric", "here", "there", "level"),
    [
        ("auc", 0.53, 0.54, "note"),
        ("auc", 0.4, 0.55, "note"),
        ("auc", 0.56, 0.57, "good"),
        ("auc", 0.9, 1.0, "avoid"),
        ("r2", -0.02, 0.0, "note"),
        ("r2", -0.5, -0.01, "note"),
        ("r2", 0.03, 0.04, "good"),
    ],
)
def test_what_real_rows_cannot_predict_is_no_praise(compare, real, metric, here, there, level):
    scores = [score(metric, "boosting", here, there)]
    (found,) = (f for f in find("s", scores, compare(real, real), None) if f.topic == "Models")
    assert found.level == level
    assert ("cannot be predicted from these columns, even with real" in found.text) == (
        level == "note"
    )


def test_a_label_that_a_column_gives_away_is_no_praise(compare, real):
    scores = [score("auc", "boosting", 1.0, 1.0)]
    (found,) = (f for f in find("s", scores, compare(real, real), None) if f.topic == "Models")
    assert found.level == "note" and "Some column gives income away" in found.text


def test_values_that_come_too_rarely_are_named(compare, real):
    fewer = real[(real["sex"] != "Female") | (np.arange(len(real)) % 3 == 0)]
    said = [f.text for f in find("s", [], compare(real, fewer), None) if f.topic == "Values"]
    assert re.search(r"sex = Female \(\d+% instead of 4\d%\)", said[0])
    assert not [f for f in find("s", [], compare(real, real), None) if f.topic == "Values"]


def test_a_value_that_is_made_up_spoils_a_column(compare, real):
    often, some = real.copy(), real.copy()
    often.loc[often.index % 3 == 0, "job"] = "a"
    some.loc[some.index % 50 == 0, "job"] = "a"
    levels = [
        {f.level for f in find("s", [], compare(real, made), None) if f.topic == "Values"}
        for made in (often, some)
    ]
    assert levels[0] == {"avoid"} and "avoid" not in levels[1]


def test_finding_marks():
    assert Finding("avoid", "Pairs", "x").mark != Finding("good", "Pairs", "x").mark


def test_the_size_from_which_groups_are_right(compare, real):
    bands = [SizeBand(0.001, 0.003), SizeBand(0.003, 0.01), SizeBand(0.1, 1.0)]
    comparison = compare(real, real)

    def said(*errors: float) -> Finding:
        scores = [score("small-groups", b, e, None) for b, e in zip(bands, errors, strict=True)]
        found = find("s", scores, comparison, None)
        return next(f for f in found if f.topic == "Groups")

    assert said(0.05, 0.05, 0.01).level == "good"
    third = said(0.5, 0.05, 0.01)
    assert third.level == "good" and "smaller than about 0.3% of the rows" in third.text
    tenth = said(0.5, 0.2, 0.05)
    assert tenth.level == "avoid" and "Do not count groups smaller than about 10%" in tenth.text
    assert "even those of 10% to 100% of rows" in said(0.5, 0.4, 0.3).text
