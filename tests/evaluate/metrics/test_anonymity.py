"""Singling out, linkability and inference: high for copies, nothing for rows of the population."""

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.evaluate.metrics.anonymity import excess

NAMES = ["singling-out", "linkability", "inference"]
SCHEMA = nacre.Schema(
    {
        **{f"n{i}": nacre.Integer(low=0, high=1000) for i in range(4)},
        **{f"c{i}": nacre.Categorical(values=tuple("abcdefgh")) for i in range(4)},
    }
)


def people(seed, rows=400):
    rng = np.random.default_rng(seed)
    numbers = {f"n{i}": rng.integers(0, 1001, rows) for i in range(4)}
    return pd.DataFrame(numbers | {f"c{i}": rng.choice(list("abcdefgh"), rows) for i in range(4)})


@pytest.fixture(scope="module")
def found():
    train, test, strangers = (people(seed) for seed in range(3))
    return nacre.evaluate(
        train, {"copies": train, "strangers": strangers}, SCHEMA, test=test, metrics=NAMES
    )


@pytest.mark.parametrize("metric", NAMES)
def test_copies_are_attacked_and_strangers_are_not(metric, found):
    copied, drawn = (found.score(metric, table) for table in ("copies", "strangers"))
    assert copied.value - 4 * copied.error > 0.1
    assert abs(drawn.value) <= 4 * drawn.error + 0.01


def test_the_report_says_so_in_words(found):
    told = [finding.text for finding in found.findings["copies"]]
    assert any("single out" in text for text in told)
    assert not any("beyond what the same attack" in f.text for f in found.findings["strangers"])
    page = found.to_html()
    assert "As regulators count it" in page
    assert "That attacks fail proves nothing" in page


def test_a_control_that_always_succeeds_leaves_nothing_to_show():
    assert excess([True, True], [True, True]) == (0.0, 0.0)
    assert excess([True] * 10, [False] * 10) == (1.0, 0.0)
