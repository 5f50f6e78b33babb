"""The report's chapter of privacy: what an attack shows beside what is guaranteed."""

import pytest

from nacre.evaluate import evaluate
from nacre.report.chapters.privacy import privacy

NAMES = ["membership", "membership-epsilon", "copies"]
GUARANTEE = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "add-remove"}


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (GUARANTEE, "the guarantee allows at most 1."),
        (None, "no guarantee was given to compare it with."),
        ({**GUARANTEE, "epsilon": None}, "there is no guarantee (ε = ∞)."),
    ],
)
def test_the_attack_stands_beside_the_guarantee(guarantee, words, real, good, held, schema):
    found = evaluate(real, good, schema, test=held, metrics=NAMES, guarantee=guarantee)
    page = privacy(found)
    assert f"the attack shows at least 0.0; {words}" in page
    assert "Membership inference" in page
    assert "It does not show that a better attack" in page


def test_without_test_rows_there_is_no_attack(real, good, schema):
    assert "Membership inference" not in privacy(evaluate(real, good, schema, metrics=NAMES))


def test_several_tables_are_named(real, good, held, schema):
    found = evaluate(real, {"a": good, "b": good}, schema, test=held, metrics=NAMES)
    page = privacy(found)
    assert "<b>a: </b>An attacker" in page and "<b>b: </b>An attacker" in page
