"""What releases cost: known answers, composition, calibration."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from nacre.vault import accountant
from nacre.vault.accountant import calibrate, epsilon_of, total_mu
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import gaussian_delta, gaussian_epsilon, gaussian_mu
from nacre.vault.release import Release

DELTA = 1e-5
ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE


def gaussian(noise, sensitivity=1.0, adjacency=ADD):
    return Release(
        name="sum",
        mechanism="gaussian",
        theorem="",
        adjacency=adjacency,
        size=1,
        sensitivity=sensitivity,
        noise=noise,
    )


def stepwise(rate, noise, steps, adjacency=ADD):
    return Release(
        name="training",
        mechanism="subsampled-gaussian",
        theorem="",
        adjacency=adjacency,
        size=1,
        sensitivity=1.0,
        noise=noise,
        rate=rate,
        steps=steps,
    )


def approximate(epsilon, delta=0.0, adjacency=ADD):
    return Release(
        name="keys",
        mechanism="approximate",
        theorem="",
        adjacency=adjacency,
        size=1,
        epsilon=epsilon,
        delta=delta,
    )


@pytest.mark.parametrize(
    ("epsilon", "multiplier"),
    [
        (0.2, 16.304133),
        (0.5, 7.031827),
        (1, 3.730631634813),
        (2, 1.993812),
        (5, 0.891868),
        (10, 0.499889),
    ],
)
def test_noise_of_one_gaussian(epsilon, multiplier):
    assert 1 / gaussian_mu(epsilon, DELTA) == pytest.approx(multiplier, abs=6e-7)
    assert gaussian_epsilon(1 / multiplier, DELTA) == pytest.approx(epsilon, rel=2e-6)


def test_mu_at_epsilon_one():
    assert gaussian_mu(1, DELTA) == pytest.approx(0.268051123211, rel=1e-11)


@pytest.mark.parametrize(
    ("mu", "epsilon"), [(0.5, 1.993091404415), (1, 4.377178095681), (2, 9.997256146434)]
)
def test_epsilon_of_mu(mu, epsilon):
    assert gaussian_epsilon(mu, DELTA) == pytest.approx(epsilon, rel=1e-11)


@pytest.mark.parametrize(
    ("mu", "delta"), [(0.5, 0.006829594983), (1, 0.126936737507), (2, 0.509861660055)]
)
def test_delta_of_mu(mu, delta):
    assert gaussian_delta(mu, 1) == pytest.approx(delta, rel=1e-9)


def test_the_textbook_noise_is_not_private_at_large_epsilon():
    def textbook(epsilon):
        return gaussian_delta(epsilon / math.sqrt(2 * math.log(1.25 / DELTA)), epsilon)

    assert textbook(10) == pytest.approx(2.2653743648e-05, rel=1e-9)
    assert textbook(8.4197) < DELTA < textbook(8.4198)
    assert textbook(1) < DELTA / 10  # and wasteful where it is proved


@settings(deadline=None, max_examples=60)
@given(st.floats(1e-4, 20), st.floats(-18, -1))
def test_mu_epsilon_and_delta_agree(epsilon, exponent):
    delta = 10.0**exponent
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(mu, epsilon) <= delta
    assert gaussian_delta(mu * 1.0001, epsilon) > delta
    assert gaussian_epsilon(mu, delta) <= epsilon * (1 + 1e-9)


def test_delta_is_the_best_likelihood_ratio_test():
    # By definition delta(epsilon) = sup_S P(S) - e^epsilon Q(S), here by integration.
    mu, epsilon = 0.7, 1.2
    x = np.linspace(-12, 12, 400_001)
    gain = np.maximum(norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x), 0)
    assert np.trapezoid(gain, x) == pytest.approx(gaussian_delta(mu, epsilon), rel=1e-6)


def test_gaussians_compose_by_squares_and_adjacency_is_already_inside():
    three = [gaussian(3.0), gaussian(8.0, 2.0), gaussian(5.0)]
    mu = math.sqrt(1 / 9 + 1 / 16 + 1 / 25)
    assert total_mu(three) == pytest.approx(mu, rel=1e-14)
    assert epsilon_of(three, DELTA) == pytest.approx(gaussian_epsilon(mu, DELTA), abs=1e-7)
    other = [gaussian(3.0, adjacency=REPLACE)]
    assert epsilon_of(other, DELTA, REPLACE) == epsilon_of([gaussian(3.0)], DELTA)


def test_the_discretization_is_charged():
    exact = gaussian_epsilon(1 / 3, DELTA)
    assert exact + 0.9e-8 < epsilon_of([gaussian(3.0)], DELTA) < exact + 1e-6
    many = [gaussian(30.0)] * 100
    assert epsilon_of(many, DELTA) > exact + 0.9e-6


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "epsilon"),
    [(250 / 60000, 1.3, 3600, 0.8530), (0.01, 4, 10000, 0.9469), (0.001, 1.95, 200000, 0.9121)],
)
def test_known_answers_of_subsampled_gaussians(rate, noise, steps, epsilon):
    assert epsilon_of([stepwise(rate, noise, steps)], DELTA) == pytest.approx(epsilon, abs=2e-4)


def test_a_fourth_known_answer():
    assert epsilon_of([stepwise(0.01, 5.75, 20000)], DELTA) == pytest.approx(0.9198, abs=2e-4)


def test_full_batches_are_plain_gaussians():
    found = epsilon_of([stepwise(1.0, 20.0, 4)], DELTA)
    truth = gaussian_epsilon(0.1, DELTA)
    assert truth * (1 - 1e-9) <= found <= truth * 1.003


def test_mixtures_compose_in_one_distribution():
    one, many = gaussian(8.0), stepwise(0.01, 4, 2000)
    together = epsilon_of([one, many], DELTA)
    assert together > max(epsilon_of([one], DELTA), epsilon_of([many], DELTA))
    assert together < epsilon_of([one], DELTA / 2) + epsilon_of([many], DELTA / 2)


def test_replacing_a_row_is_removing_one_and_adding_another():
    found = epsilon_of([stepwise(0.01, 4, 2000, REPLACE)], DELTA, REPLACE)
    half = found / 2
    # (e, d) add-remove is (2e, (1 + exp(e)) d) replace-one, so at this d it must be e-private.
    share = DELTA / (1 + math.exp(half))
    assert epsilon_of([stepwise(0.01, 4, 2000)], share) == pytest.approx(half, rel=1e-4)
    assert found > 2 * epsilon_of([stepwise(0.01, 4, 2000)], DELTA)


def test_approximate_releases_add():
    two = [approximate(0.3, 1e-6), approximate(0.2, 2e-6)]
    assert epsilon_of(two, DELTA) == pytest.approx(0.5, rel=1e-12)
    assert epsilon_of(two, 2.9e-6) == math.inf
    mixed = epsilon_of([*two, gaussian(4.0)], DELTA)
    assert mixed == pytest.approx(0.5 + gaussian_epsilon(0.25, DELTA - 3e-6), abs=1e-6)
    assert epsilon_of([*two, gaussian(4.0)], 3e-6) == math.inf


def test_nothing_costs_nothing():
    assert epsilon_of([], DELTA) == 0


def test_releases_of_different_adjacency_do_not_compose():
    with pytest.raises(ValueError, match="another adjacency"):
        epsilon_of([gaussian(3.0), gaussian(3.0, adjacency=REPLACE)], DELTA)


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "laplace"},
        {"noise": 0.0},
        {"noise": -1.0},
        {"noise": math.nan},
        {"noise": math.inf},
        {"sensitivity": 0.0},
        {"rate": 0.0},
        {"rate": 1.5},
        {"rate": 0.5},
        {"steps": 0},
        {"steps": 2},
        {"steps": math.nan},
        {"steps": True},
        {"delta": 1.0},
        {"epsilon": -0.1},
        {"adjacency": "sideways"},
    ],
)
def test_releases_that_make_no_sense(change):
    with pytest.raises(ValueError):
        Release.from_dict(gaussian(3.0).to_dict() | change)


def test_release_round_trip():
    for release in (gaussian(3.0), stepwise(0.1, 2.0, 7, REPLACE), approximate(0.1, 1e-7)):
        assert Release.from_dict(release.to_dict()) == release


def test_calibration_finds_the_least_noise():
    for guess in (0.5, 3.7, 10.0):
        found = calibrate(lambda m: epsilon_of([gaussian(m)], DELTA), 1.0, guess=guess)
        assert 3.7306 <= found <= 3.7306 * 1.002
    with pytest.raises(ValueError, match="used the budget up"):
        calibrate(lambda m: 2.0, 1.0, guess=1.0)
    assert calibrate(lambda m: 0.0, 1.0, guess=1.0) > 0  # ends where any noise would do


def test_a_hopeless_release_is_infinite_not_an_error(monkeypatch):
    class Hopeless:
        events = ((0.5, 1.0, 1000),)

        def get_epsilon(self, delta):
            return 800.0  # exp(800) is beyond floating point

    monkeypatch.setattr(accountant, "_distribution", lambda releases: Hopeless())
    assert epsilon_of([stepwise(1.0, 0.5, 1000, REPLACE)], DELTA, REPLACE) > 1000


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "renyi", "exact"),
    [
        (250 / 60000, 1.3, 3600, 0.9422, 0.8530),
        (0.01, 4, 10000, 1.03549, 0.9469),
        (0.001, 1.95, 200000, 0.994389, 0.9121),
        (0.01, 5.75, 20000, 1.005523, 0.9198),
    ],
)
def test_renyi_accounting_is_an_upper_bound_on_ours(rate, noise, steps, renyi, exact):
    import dp_accounting
    from dp_accounting.rdp import rdp_privacy_accountant

    renyi_accountant = rdp_privacy_accountant.RdpAccountant()
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    renyi_accountant.compose(event, steps)
    assert renyi_accountant.get_epsilon(DELTA) == pytest.approx(renyi, rel=2e-3)
    assert exact < renyi


def test_renyi_divergences_of_the_subsampled_gaussian():
    import dp_accounting
    from dp_accounting.rdp import rdp_privacy_accountant

    renyi_accountant = rdp_privacy_accountant.RdpAccountant(orders=[2, 20])
    event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(4))
    renyi_accountant.compose(event)
    assert renyi_accountant._rdp == pytest.approx([6.449425094e-06, 6.526312957e-05], rel=1e-6)


@pytest.mark.parametrize(("multiplier", "rate", "steps"), [(1.5, 0.25, 5), (0.4, 0.05, 60)])
def test_a_coarse_distribution_costs_more_and_hardly_more(multiplier, rate, steps, monkeypatch):
    asked = accountant._Composition(((multiplier, rate, steps),))
    assert accountant._interval(asked) > 5e-4
    coarse = asked.get_epsilon(1e-6)
    monkeypatch.setattr(accountant, "_interval", lambda _: 1e-4)
    accountant._composed.cache_clear()
    fine = accountant._composed(asked).get_epsilon(1e-6)
    accountant._composed.cache_clear()
    assert fine <= coarse <= fine + 4e-5 * max(1, 1 / multiplier**2)


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"),
    [(1e-4, 0.5, 10), (2e-6, 0.5, 1), (1.0, 0.5, 10**8), (1e3, 0.5, 10**9), (0.3, 0.5, 10**5)],
)
def test_a_distribution_beyond_memory_is_not_worked_out(multiplier, rate, steps, monkeypatch):
    """Such a release costs more than anything: a stranger's file filled 37 GB with one step."""
    monkeypatch.setattr(accountant, "_composed", worked_out)
    release = stepwise(rate, multiplier, steps)
    assert math.isinf(epsilon_of([release], DELTA))
    assert math.isinf(epsilon_of([dataclasses.replace(release, epsilon=0.1, delta=1e-7)], DELTA))


def worked_out(composition):
    raise AssertionError("it was worked out")


def test_so_many_releases_beside_steps_are_not_worked_out(monkeypatch):
    monkeypatch.setattr(accountant, "_composed", worked_out)
    many = [gaussian(100.0 + place) for place in range(accountant.MOST_EVENTS)]
    assert math.isinf(epsilon_of([*many, stepwise(0.01, 9.0, 10)], DELTA))
    assert math.isfinite(epsilon_of(many, DELTA))


def reserved(count, delta=1e-9, epsilon=0.5, steps=1000):
    """Step-wise releases that each have a cost of their own, as a stranger may list them."""
    own = {"epsilon": epsilon, "delta": delta}
    each = (stepwise(0.01, 2.0 + 1e-6 * place, steps) for place in range(count))
    return [dataclasses.replace(release, **own) for release in each]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    "many",
    [
        {"count": 10_000},  # hours, at 50 ms each
        {"count": accountant.MOST_EVENTS + 1, "steps": 10},
        {"count": 5, "steps": accountant.MOST_STEPS // 4},
        {"count": 2, "delta": DELTA},  # more than all of delta
    ],
)
def test_releases_with_costs_of_their_own_are_bounded_together(many, adjacency, monkeypatch):
    monkeypatch.setattr(accountant, "_composed", worked_out)
    listed = [dataclasses.replace(r, adjacency=adjacency) for r in reserved(**many)]
    assert math.isinf(epsilon_of(listed, DELTA, adjacency))


def test_points_and_work_are_those_of_all_distributions(monkeypatch):
    one = accountant._compositions(reserved(1), [], [])
    points = accountant._points(one[0])
    for limit in ("MOST_POINTS", "MOST_WORK"):
        monkeypatch.setattr(accountant, limit, 2.5 * points)
        for count in (2, 3):
            several = accountant._compositions(reserved(count), [], [])
            assert accountant._computable(several) is (count == 2)
        monkeypatch.setattr(accountant, limit, math.inf)


def test_the_first_infinite_cost_ends_the_sum(monkeypatch):
    asked = []

    def too_much(composition):
        asked.append(composition)
        return Costly()

    class Costly:
        def get_epsilon(self, delta):
            return 1000.0

    monkeypatch.setattr(accountant, "_composed", too_much)
    assert math.isinf(epsilon_of(reserved(20, epsilon=0.7071), DELTA)) and len(asked) == 1


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"),
    [
        (0.0138, 2.0**-32, 1),  # the least noise that a search of a fit comes to
        (0.02, 1.0, 1),  # epsilon = 1500
        (0.1, 0.5, 10),
        (0.5, 0.5, 1000),
        (1e3, 0.5, 10**6),
        (0.3, 1e-4, 10**6),
    ],
)
def test_what_a_fit_may_ask_for_is_worked_out(multiplier, rate, steps):
    assert accountant._computable([accountant._Composition(((multiplier, rate, steps),))])


def test_as_many_steps_as_settings_allow_are_worked_out_beside_sums():
    """A setting allows 10^6 steps, some methods train two parts, and sums come before them."""
    events = ((2e3, None, 1), (1e3, 1e-3, 10**6), (1e3, 1e-3, 10**6))
    assert accountant._computable([accountant._Composition(events)])


@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 700.0])
@pytest.mark.parametrize("delta", [2e-20, 1e-6, 9e-3])
@pytest.mark.parametrize(("rate", "steps"), [(1.0, 1), (0.5, 10**4), (1e-3, 10**6), (1e-8, 10)])
def test_no_budget_of_a_fit_leads_beyond(epsilon, delta, rate, steps):
    guess = accountant.subsampled_guess(gaussian_mu(epsilon, delta), rate, steps)
    for multiplier in (guess, guess if epsilon == 700 else guess / 2):
        assert accountant._computable([accountant._Composition(((multiplier, rate, steps),))])


def test_many_steps_have_the_finest_distribution():
    assert accountant._interval(accountant._Composition(((1.3, 0.004, 3600),))) == 1e-4
