"""Bounds hold as often as they claim, come close to the truth, and show a known leak."""

import numpy as np
import pytest

from nacre.audit.bounds import counted, lower_end, most_shown, shifted, tradeoff, upper_end
from nacre.audit.one_run import one_run, p_value
from nacre.vault import gaussian_delta
from nacre.vault.gaussian_dp import gaussian_epsilon, gaussian_mu

DELTA = 1e-5
MU = gaussian_mu(1.0, DELTA)


def worlds(mu, runs, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=runs), rng.normal(mu, 1, runs)


@pytest.mark.parametrize("bound", [counted, tradeoff, shifted])
def test_a_sound_gaussian_is_hardly_ever_refuted(bound):
    """At 80% confidence at most 20 of 100 audits may exceed the truth; here of exactly mu."""
    audits = [bound(*worlds(MU, 300, seed), delta=DELTA, confidence=0.8) for seed in range(100)]
    assert sum(found.refutes(1.0) for found in audits) <= 30  # 20 and 2.5 deviations


def test_the_shift_and_the_curve_come_close_to_the_truth():
    one, two = worlds(1.0, 20_000, 7)
    true = gaussian_epsilon(1.0, DELTA)
    assert 0.93 < shifted(one, two, delta=DELTA).epsilon / true <= 1
    assert 0.85 < tradeoff(one, two, delta=DELTA).epsilon / true <= 1


def test_counting_shows_what_the_events_show():
    """Two outcomes with odds e^2: the bound is below 2, and not far below."""
    rng, rate = np.random.default_rng(3), 1 / (1 + np.exp(-2.0))
    one, two = rng.random(20_000) > rate, rng.random(20_000) < rate
    assert 1.9 < counted(one, two, delta=0.0).epsilon <= 2.0


def test_a_leak_is_shown_as_far_as_runs_allow():
    found = counted(np.zeros(200), np.ones(200), delta=DELTA)
    assert found.epsilon == pytest.approx(most_shown(200, delta=DELTA))
    assert 3 < found.epsilon < 4
    assert found.runs == 400


def test_a_leak_that_is_seen_in_the_other_order_only():
    """Without the canary a score is sometimes low; with it never.  High scores tell nothing."""
    one = np.where(np.arange(2000) % 10 < 3, -1.0, 0.0)
    assert counted(one, np.zeros(2000), delta=DELTA).epsilon > 3


@pytest.mark.parametrize("bound", [counted, tradeoff, shifted])
def test_no_difference_shows_nothing(bound):
    same = np.random.default_rng(0).normal(size=500)
    assert bound(same, same, delta=DELTA).epsilon < 0.05


@pytest.mark.parametrize("scores", [[1.0, 2.0], [1.0, np.nan, 2.0, 3.0, 4.0]])
def test_scores_that_mean_nothing_are_refused(scores):
    with pytest.raises(ValueError, match="at least four|not a finite"):
        counted(scores, np.zeros(10), delta=DELTA)


def test_clopper_and_pearson_against_the_tails_of_the_binomial():
    from scipy.stats import binom

    for hits in (1, 7, 19):
        assert binom.sf(hits - 1, 20, lower_end(hits, 20, 0.05)) == pytest.approx(0.05)
        assert binom.cdf(hits, 20, upper_end(hits, 20, 0.05)) == pytest.approx(0.05)
    assert (lower_end(0, 20, 0.05), upper_end(20, 20, 0.05)) == (0.0, 1.0)


# -- one run ----------------------------------------------------------------------------------


def canaries(mu, count, seed):
    rng = np.random.default_rng(seed)
    included = rng.random(count) < 0.5
    return rng.normal(size=count) + mu * included, included


def test_one_run_does_not_refute_a_sound_release():
    audits = [one_run(*canaries(MU, 200, s), delta=DELTA, confidence=0.8) for s in range(30)]
    assert sum(found.refutes(1.0) for found in audits) <= 11


def test_one_run_shows_a_leak():
    assert one_run(*canaries(6.0, 1000, 1), delta=DELTA).epsilon > 4
    assert one_run(*canaries(0.0, 1000, 1), delta=DELTA).epsilon < 0.3


def test_the_p_value_of_randomized_response_is_the_binomial_tail():
    """Randomized response reaches the theorem at delta 0; delta only adds to it."""
    rng, rate = np.random.default_rng(5), 1 / (1 + np.exp(-1.0))
    right = rng.binomial(100, rate, 20_000)
    for v in (60, 75, 85):
        assert (right >= v).mean() == pytest.approx(p_value(100, 100, v, 1.0, 0.0), abs=0.012)
        assert p_value(100, 100, v, 1.0, 1e-4) >= p_value(100, 100, v, 1.0, 0.0)


def test_the_price_of_delta_in_one_run_is_needed():
    """A release that publishes everything with chance delta is (0, delta)-private."""
    count, delta = 50, 0.01
    # With chance 2 m delta / m of one canary right beyond guessing, as the theorem allows.
    assert p_value(count, count, count, 0.0, delta) >= delta
    assert p_value(count, count, count, 0.0, 0.0) < 1e-14


def test_the_curve_is_that_of_the_accountant():
    epsilon = tradeoff(*worlds(2.0, 4000, 2), delta=DELTA)
    assert gaussian_delta(epsilon.mu, epsilon.epsilon) == pytest.approx(DELTA, rel=1e-6)
