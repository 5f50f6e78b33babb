"""The arithmetic of both composition rules, against known answers and by search."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from nacre.ledger.budget import (
    Balance,
    Budget,
    BudgetExceeded,
    Charge,
    Composition,
    LedgerError,
    admit,
    balance,
)
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import gaussian_delta

MU = 0.268051123211  # Gaussian DP at epsilon 1, delta 1e-5
HERE = Adjacency.ADD_REMOVE


def budget(composition, epsilon=1.0, delta=1e-5):
    return Budget(
        dataset="census",
        epsilon=epsilon,
        delta=delta,
        adjacency=HERE,
        composition=Composition(composition),
    )


def charge(epsilon=1.0, delta=1e-5, mu=None, releases=1):
    return Charge(epsilon=epsilon, delta=delta, mu=mu, releases=releases, adjacency=HERE)


def fits(limit, charges, one):
    try:
        admit(limit, charges, one)
    except BudgetExceeded:
        return False
    return True


def test_ten_tenths_are_one_and_not_a_bit_more():
    tenth = charge(epsilon=0.1, delta=1e-6)
    assert fits(budget("add"), [tenth] * 9, tenth)
    assert not fits(budget("add"), [tenth] * 10, charge(epsilon=1e-6, delta=0))
    assert not fits(budget("add"), [tenth] * 10, charge(epsilon=1e-30, delta=1e-12))


def test_delta_is_a_budget_of_its_own():
    assert not fits(budget("add"), [], charge(epsilon=0.01, delta=1.1e-5))
    assert fits(budget("add", delta=0), [], charge(delta=0))
    assert not fits(budget("add", delta=0), [], charge(epsilon=0.1, delta=1e-300))


def test_one_gaussian_may_take_the_whole_budget():
    assert fits(budget("gaussian"), [], charge(mu=MU * (1 - 1e-7)))
    assert not fits(budget("gaussian"), [], charge(mu=MU * (1 + 1e-7)))


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [(0.2, 16.304133), (0.5, 7.031827), (1, 3.730631634813), (2, 1.993812), (5, 0.891868)],
)
def test_known_noise_scales_just_fit(epsilon, sigma):
    limit = budget("gaussian", epsilon=epsilon)
    assert fits(limit, [], charge(mu=1 / (sigma * (1 + 2e-6))))
    assert not fits(limit, [], charge(mu=1 / (sigma * (1 - 2e-6))))


def test_squares_of_mu_add_up():
    part = charge(epsilon=0.5, mu=MU / 4 * (1 - 1e-6))
    assert fits(budget("gaussian"), [part] * 15, part)
    assert not fits(budget("gaussian"), [part] * 16, charge(mu=MU * 1e-2))
    # The claimed epsilons sum to 8: plain addition would have stopped after two.
    assert not fits(budget("add"), [part] * 2, part)


def test_the_slack_of_discrete_noise_is_charged():
    almost = MU * (1 - 1e-7)
    assert fits(budget("gaussian"), [], charge(mu=almost, releases=1))
    assert not fits(budget("gaussian"), [], charge(mu=almost, releases=1000))
    assert not fits(budget("gaussian", epsilon=1e-8), [], charge(mu=1e-9, releases=2))


def test_gaussian_budgets_take_gaussian_fits_only():
    with pytest.raises(LedgerError, match="opened with composition='gaussian'"):
        admit(budget("gaussian"), [], charge(epsilon=0.1))


def test_adjacencies_do_not_mix():
    other = Charge(epsilon=0.1, delta=0, adjacency=Adjacency.REPLACE_ONE)
    with pytest.raises(LedgerError, match="add-remove adjacency, this fit uses replace-one"):
        admit(budget("add"), [], other)


def test_add_balance():
    now = balance(budget("add", epsilon=3), [charge(epsilon=0.5, delta=1e-6)] * 3)
    assert isinstance(now, Balance)
    assert (now.spent_epsilon, now.left_epsilon) == (1.5, 1.5)
    assert now.spent_delta == pytest.approx(3e-6) and now.left_delta == pytest.approx(7e-6)
    assert now.entries == 3 and now.spent_mu is None and now.left_mu is None


def test_gaussian_balance():
    fresh = balance(budget("gaussian"), [])
    assert (fresh.spent_epsilon, fresh.spent_delta, fresh.spent_mu) == (0, 0, 0)
    assert fresh.left_mu == pytest.approx(MU, rel=1e-6)
    assert fresh.left_epsilon == pytest.approx(1, rel=1e-6)

    half = balance(budget("gaussian"), [charge(mu=0.6 * MU)])
    assert half.left_mu == pytest.approx(0.8 * MU, rel=1e-6)
    # At the budget's delta, by the textbook formula.
    for mu, epsilon in ((half.spent_mu, half.spent_epsilon), (half.left_mu, half.left_epsilon)):
        first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        delta = norm.cdf(first) - math.exp(epsilon) * norm.cdf(second)
        assert delta == pytest.approx(1e-5, rel=1e-4)

    full = balance(budget("gaussian"), [charge(mu=MU * (1 - 1e-7))])
    assert full.left_mu < 1e-3 * MU and full.spent_epsilon == pytest.approx(1, rel=1e-6)


@settings(deadline=None, max_examples=60)
@given(
    epsilon=st.floats(0.05, 20),
    delta=st.floats(1e-12, 1e-2),
    shares=st.lists(st.floats(0.01, 0.9), min_size=1, max_size=20),
    composition=st.sampled_from(Composition),
)
def test_what_is_left_fits_and_the_budget_holds(epsilon, delta, shares, composition):
    limit = budget(composition, epsilon=epsilon, delta=delta)
    taken = []
    for share in shares:
        now = balance(limit, taken)
        if not (now.left_epsilon > 1e-4 * epsilon and now.left_delta > 0):
            break
        mu = None if now.left_mu is None else share * now.left_mu
        one = charge(epsilon=share * now.left_epsilon, delta=share * now.left_delta, mu=mu)
        admit(limit, taken, one)
        taken.append(one)
    if composition is Composition.ADD:
        assert math.fsum(c.epsilon for c in taken) <= epsilon * (1 + 1e-9)
        assert math.fsum(c.delta for c in taken) <= delta * (1 + 1e-9)
    else:
        total = math.sqrt(sum(c.mu**2 for c in taken))
        assert gaussian_delta(total, epsilon) <= delta * (1 + 1e-9)
        twice = charge(mu=1.01 * balance(limit, taken).left_mu + 1e-6)
        assert not fits(limit, taken, twice)
