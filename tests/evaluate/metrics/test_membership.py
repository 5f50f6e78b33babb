"""Membership inference: it finds copies, accuses nobody of fresh rows, and bounds epsilon."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn import metrics as sk

from nacre.evaluate import METRICS, evaluate
from nacre.evaluate.metrics.attack import Attack, epsilon_shown
from nacre.evaluate.metrics.membership import attacks


def value(name, comparison):
    return next(iter(METRICS[name].compute(comparison)))


def gaussian(shift, n=1000, seed=0):
    rng = np.random.default_rng(seed)
    return Attack("a", rng.normal(shift, 1, n), rng.normal(0, 1, n))


def test_area_is_sklearns():
    rng = np.random.default_rng(0)
    attack = Attack("a", rng.integers(2, 9, 300), rng.integers(0, 7, 200))  # with ties
    truth = np.repeat([1, 0], [300, 200])
    expected = sk.roc_auc_score(truth, np.concatenate([attack.members, attack.strangers]))
    assert attack.area()[0] == pytest.approx(expected)


def test_the_error_of_the_area_is_how_much_it_varies():
    found = [gaussian(0.5, 200, seed).area() for seed in range(300)]
    assert np.std([a for a, _ in found]) == pytest.approx(np.mean([e for _, e in found]), rel=0.15)
    assert np.mean([a for a, _ in found]) == pytest.approx(norm.cdf(0.5 / 2**0.5), abs=0.005)


def test_members_found_is_the_roc_curve():
    attack = gaussian(2, 400)
    truth = np.repeat([1, 0], 400)
    scores = np.concatenate([attack.members, attack.strangers])
    rates = sk.roc_curve(truth, scores, drop_intermediate=False)
    for rate in (0.01, 0.1, 0.5):
        expected = rates[1][rates[0] <= rate + 1e-9].max()
        assert attack.found_at(rate)[0] == pytest.approx(expected, abs=1e-9)
    assert attack.found_at(0.01)[0] == pytest.approx(norm.cdf(2 - norm.ppf(0.99)), abs=0.12)


def test_equal_scores_are_settled_by_a_coin():
    same = Attack("a", np.zeros(50), np.zeros(50))
    assert same.area()[0] == 0.5
    assert same.found_at(0.01)[0] == pytest.approx(0.01)
    assert epsilon_shown([same]) == 0


def test_epsilon_is_clopper_and_pearsons():
    # Every guess of the second half is right: 50 of 50.
    perfect = Attack("a", np.arange(100, 200.0), np.arange(100.0))
    low = binomtest(50, 50).proportion_ci(0.90, method="exact").low  # one-sided 95%
    assert epsilon_shown([perfect]) == pytest.approx(np.log(low / (1 - low)))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_epsilon_is_a_lower_bound_of_randomized_response(epsilon):
    # Each row's bit is told truthfully with probability e^ε/(1 + e^ε): exactly ε-DP.
    shown = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        said = rng.random((2, 2000)) < np.exp(epsilon) / (1 + np.exp(epsilon))
        shown.append(epsilon_shown([Attack("a", said[0] * 1.0, ~said[1] * 1.0)]))
    # 5% may be wrong; 12 of 100 are beyond chance (p < 0.003).
    assert np.mean(np.array(shown) > epsilon) < 0.12
    assert np.mean(shown) > 0.8 * epsilon - 0.1


def test_copies_are_told_from_strangers(compare, real, held):
    found = compare(real, real, test=held)
    area, members = value("membership", found), value("membership-found", found)
    assert area.value > 0.97
    assert members.value > 0.9
    assert value("membership-epsilon", found).value > 3


def test_fresh_rows_betray_nobody(compare, real, make_frame, held):
    found = compare(real, make_frame(3000, seed=21), test=held)
    area, members = value("membership", found), value("membership-found", found)
    assert abs(area.value - 0.5) < 3 * area.error
    assert members.value < 0.01 + 4 * max(members.error, 0.004)
    assert value("membership-epsilon", found).value < 0.3


def test_half_of_the_table_copied_is_half_as_bad(compare, real, make_frame, held):
    import pandas as pd

    mixed = pd.concat([real.head(1500), make_frame(1500, seed=22)])
    assert value("membership", compare(real, mixed, test=held)).value == pytest.approx(
        0.75, abs=0.06
    )


def test_the_larger_attack_is_reported(compare, real, good):
    comparison = compare(real, good)
    each = [attack.area()[0] for attack in attacks(comparison)]
    assert len(each) == 2
    assert value("membership", comparison).value == max(each)


def test_without_test_rows_it_is_left_out_and_says_so(real, good, held, schema):
    names = ["tv1", "membership", "closer-to-training"]
    without = evaluate(real, good, schema, metrics=names)
    assert [m.name for m in without.metrics] == ["tv1"]
    assert any("left out without a test table: Closer to training" in n for n in without.notes)
    within = evaluate(real, good, schema, metrics=names, test=held)
    assert within.score("membership") is not None


def test_a_refuted_guarantee_is_said_first(real, held, schema):
    found = evaluate(
        real,
        real,
        schema,
        test=held,
        metrics=["tv1", "membership", "membership-epsilon"],
        guarantee={"epsilon": 1.0, "delta": 1e-6},
    )
    first, second = found.findings["synthetic"][:2]
    assert first.level == "avoid" and "where 1 is guaranteed" in first.text
    assert "told from other real rows" in second.text


def test_rows_of_another_kind_refute_nothing(schema, make_frame):
    import pandas as pd

    def later(n, seed):
        frame = make_frame(n, seed=seed)
        return frame.assign(age=np.clip(frame["age"] + 25, 17, 90))

    # The synthetic rows owe nothing to any row; only the test rows differ from the training rows.
    real, fresh = make_frame(3000, seed=31), make_frame(3000, seed=32)
    names = ["membership", "membership-epsilon"]
    found = evaluate(real, fresh, schema, test=later(3000, 33), metrics=names)
    assert found.score("membership").value > 0.6
    assert found.score("membership-epsilon").value == 0
    # Where they are a random part, copies are found out as before.
    both = pd.concat([real, fresh]).sample(frac=1, random_state=0)
    copied = evaluate(both[:3000], both[:3000], schema, test=both[3000:], metrics=names)
    assert copied.score("membership-epsilon").value > 3
