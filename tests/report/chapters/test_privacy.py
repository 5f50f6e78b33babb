"""The chapter of privacy: what an attack shows beside what is guaranteed."""

import dataclasses

import pytest

from nacre.evaluate import Evaluation
from nacre.evaluate.report.chapters import privacy
from nacre.report.builder import fill

GUARANTEE = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "add-remove"}


@pytest.fixture(scope="module")
def attacked(evaluation) -> Evaluation:
    """The evaluation with two more scores, as test rows would give."""
    first, second = evaluation.tables
    one = evaluation.score("copies", first)
    more = [
        dataclasses.replace(one, metric=metric, table=table, value=value, error=0.01)
        for table in (first, second)
        for metric, value in (("membership", 0.5), ("membership-epsilon", 0.0))
    ]
    # Without figures: these are about words.
    results = [score for score in evaluation.results if score.metric != "closest-record"]
    return dataclasses.replace(evaluation, results=(*results, *more))


def written(evaluation: Evaluation) -> str:
    return fill("privacy.html", view=privacy(evaluation))


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (GUARANTEE, "the guarantee allows at most 1."),
        (None, "no guarantee was given to compare it with."),
        ({**GUARANTEE, "epsilon": None}, "there is no guarantee, as the table is NOT PRIVATE."),
    ],
)
def test_the_attack_stands_beside_the_guarantee(guarantee, words, attacked):
    guarantees = {} if guarantee is None else {"other": guarantee}
    page = written(dataclasses.replace(attacked, guarantees=guarantees))
    assert f"the attack shows at least 0.0; {words}" in page
    assert "AUC 0.500 ± 0.01" in page
    assert "Membership inference" in page
    assert "It does not show that a better attack" in page


def test_several_tables_are_named(attacked):
    page = written(attacked)
    assert "<b>other: </b>An attacker" in page
    assert "<b>&lt;script&gt;alert(1)&lt;/script&gt;: </b>An attacker" in page


def test_without_test_rows_there_is_no_attack(outline):
    assert "Membership inference" not in outline.words
