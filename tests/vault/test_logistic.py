"""Private logistic regression on Adult, by running the very code of docs/logistic.md."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from nacre.rows import Stream

PAGE = Path(__file__).parents[2] / "docs" / "logistic.md"


@pytest.fixture(scope="module")
def page():
    """What the page's code defines."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec("\n".join(code), names)
    return names


def matrix(page, table):
    rows = Stream(page["encoder"], table).whole().rows
    x = jax.vmap(page["features"])(jax.tree.map(jnp.asarray, rows))
    return np.asarray(x), rows.codes[:, page["label"]]


def test_area_under_the_curve_is_within_a_hundredth(page):
    (x, y), (x_test, y_test) = matrix(page, page["train"]), matrix(page, page["test"])
    plain = LogisticRegression(C=10, max_iter=300).fit(x, y).decision_function(x_test)
    private = x_test @ np.asarray(page["mean"])
    reference = roc_auc_score(y_test, plain)
    assert reference > 0.9
    assert roc_auc_score(y_test, private) > reference - 0.01


def test_the_whole_budget_is_spent_and_no_more(page):
    (release,) = page["guarantee"].releases
    assert release.steps == page["STEPS"]
    assert release.rate == pytest.approx(page["BATCH"] / 32_000, abs=2**-31)
    assert 0.98 < page["guarantee"].recompute() <= 1
    page["guarantee"].verify()
    assert str(page["guarantee"]).endswith("δ = 1e-05), add-remove, per row, 1 release")
