"""MST and AIM: what they choose, what they keep, and what they say before they start."""

import sys

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.ledger import Ledger
from nacre.methods.aim import AIM
from nacre.methods.graphical.fit import Graphical, Measured
from nacre.methods.graphical.learn import branches
from nacre.methods.mst import MST
from nacre.schema import Boolean, Categorical, Schema

NAMES = ("a", "b", "c", "d")
VALUES = ("0", "1", "2")
SCHEMA = Schema({name: Categorical(values=VALUES) for name in NAMES} | {"y": Boolean()}, label="y")


def table(n=4000, seed=0):
    """b follows a, d follows c, and y says which of b and d is shifted."""
    rng = np.random.default_rng(seed)
    a, c = rng.integers(0, 3, (2, n))
    y = rng.random(n) < 0.4
    b = np.where(rng.random(n) < 0.9, (a + y) % 3, rng.integers(0, 3, n))
    d = np.where(rng.random(n) < 0.9, c, rng.integers(0, 3, n))
    columns = {name: value.astype(str) for name, value in zip(NAMES, (a, b, c, d), strict=True)}
    return pd.DataFrame(columns | {"y": y})


def variation(one, other, columns):
    shares = [frame.value_counts(columns, normalize=True) for frame in (one, other)]
    return 0.5 * shares[0].sub(shares[1], fill_value=0).abs().sum()


@pytest.fixture(scope="module")
def fitted():
    real = table()
    found = {}
    for name, method in {"aim": AIM(rounds=2, each_column=1.0), "mst": MST()}.items():
        model = nacre.fit(real, SCHEMA, method=method, epsilon=20, delta=1e-6, seed=0)
        found[name] = model.sample(20_000, seed=0)
    return real, found


def test_aim_keeps_pairs_by_class(fitted):
    real, found = fitted
    assert variation(real, found["aim"], ["a", "b", "y"]) < 0.03
    assert variation(real, found["aim"], ["c", "d", "y"]) < 0.03
    assert variation(real, found["aim"], ["a", "c"]) < 0.04


def test_mst_keeps_the_strongest_pairs(fitted):
    real, found = fitted
    assert variation(real, found["mst"], ["a", "b"]) < 0.03
    assert variation(real, found["mst"], ["c", "d"]) < 0.03
    # A tree of pairs cannot hold what only three columns together say.
    assert variation(real, found["mst"], ["a", "b", "y"]) > 0.1


def test_a_tree_has_no_cycle_and_joins_everything():
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert branches(pairs, []) == list(range(6))
    assert branches(pairs, [0]) == [1, 2, 3, 4, 5]
    assert branches(pairs, [0, 3]) == [2, 4, 5]
    assert branches(pairs, [0, 3, 5]) == []


def test_exact_counts_are_met():
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(2 * 3 * 4)).reshape(2, 3, 4)
    graphical = Graphical([3, 4, 2], 2)
    measured = [
        Measured((0, 1), 1000 * joint, np.array(1.0)),
        Measured((2,), 1000 * np.outer(joint.sum((1, 2)), [0.25, 0.75]), np.array(1.0)),
    ]
    network = graphical.network(graphical.estimate(measured, 1000.0, steps=500))
    pairs = network.pairs()
    np.testing.assert_allclose(pairs[0, 1], joint, atol=2e-3)
    np.testing.assert_allclose(pairs[1, 2], joint.sum(1)[:, :, None] * [0.25, 0.75], atol=2e-3)


def test_the_model_stays_within_its_size():
    graphical = Graphical([20] * 4, 1)
    chain, cycle = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert graphical.megabytes(chain) == pytest.approx(3 * 400 * 8 / 2**20)
    assert graphical.megabytes(cycle) == pytest.approx(2 * 8000 * 8 / 2**20)


def test_a_size_that_nothing_fits_into_still_measures_something():
    method = AIM(rounds=1, megabytes=1e-9, steps=5, each_column=0.5)
    model = nacre.fit(table(200), SCHEMA, method=method, epsilon=1, delta=1e-6)
    assert len(model.guarantee.releases) == 3
    assert len(model.sample(10)) == 10


def test_columns_that_are_not_paired_follow_from_the_label():
    method = AIM(columns=2, rounds=1, steps=5)
    model = nacre.fit(table(), SCHEMA, method=method, epsilon=20, delta=1e-6)
    assert model.guarantee.releases[1].size == 1
    assert variation(table(), model.sample(20_000, seed=1), ["b", "y"]) < 0.05


def test_a_budget_of_the_gaussian_rule_takes_choices(tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("table", epsilon=1, delta=1e-6, composition="gaussian")
    method = MST(steps=5)
    cost = {"delta": 1e-6, "ledger": ledger, "dataset": "table"}
    nacre.fit(table(300), SCHEMA, method=method, epsilon=0.7, **cost)
    # Added up, 0.7 and 0.6 would be too much; their squares are not.
    nacre.fit(table(300), SCHEMA, method=method, epsilon=0.6, **cost)
    assert [entry.mu is not None for entry in ledger.history("table")] == [True, True]
    with pytest.raises(nacre.BudgetExceeded):
        nacre.fit(table(300), SCHEMA, method=method, epsilon=0.6, **cost)


def test_the_plan_tells_choices_from_numbers():
    said = str(nacre.plan(SCHEMA, method=AIM(rounds=2), epsilon=1, delta=1e-6))
    assert "choices of pairs: 10 choices among 6" in said


def test_without_mbi_nothing_is_spent_and_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(ImportError, match=r"pip install 'nacre-dp\[marginals\]'"):
        nacre.fit(table(50), SCHEMA, method="aim", epsilon=1, delta=1e-6)


def test_settings_that_leave_nothing_for_the_counts_are_refused():
    for method in (AIM, MST):
        with pytest.raises(ValueError, match="first and choosing"):
            method(first=0.9, choosing=0.2)
