"""What a reader has to know: what was not measured stands before what was."""

import json

import pytest

from nacre.evaluate import METRICS, evaluate
from nacre.evaluate.notes import silence


def test_few_metrics_are_told_before_all_findings(real, good, schema):
    found = evaluate(real, good, schema, metrics=["tv1", "tv2"], jobs=1)
    assert found.silent.startswith("Not everything was measured")
    assert "Associations" in found.silent and "AUC" in found.silent
    assert "Single columns" not in found.silent
    summary, page = found.summary(), found.to_html()
    first = found.findings["synthetic"][0].text
    assert summary.index(found.silent) < summary.index(first)
    assert page.index("Not everything was measured") < page.index('<section id="overall">')
    assert "Not everything was measured" in found._repr_html_()
    assert json.loads(found.to_json())["silent"] == found.silent


def test_what_cannot_be_measured_is_not_asked_for(real, good, schema):
    found = evaluate(real, good, schema, label=None, metrics=["tv1"], jobs=1)
    assert "AUC" not in found.silent and "Associations" in found.silent


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ([], ""),
        (["mmd"], 'Only the quick metrics were measured; `metrics="all"` measures 1 more: '),
        (["tv2", "mmd"], 'Pairs of columns, and 1 more that `metrics="all"` has.'),
        (["tv2"], "Pairs of columns."),
    ],
)
def test_silence_in_words(left, words):
    said = silence(METRICS[name] for name in left)
    assert words in said and bool(said) == bool(left)
