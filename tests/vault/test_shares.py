"""Noise in shares: the lemma of docs/privacy.md, scales, the charge, and what is refused."""

import dataclasses
import math

import numpy as np
import pytest
from tests.engines.asking import CELLS, ENCODER, QUESTIONS, TOWNS, cells
from tests.engines.conftest import made

from nacre.errors import NacreError
from nacre.rows import Stream
from nacre.vault import Guarantee, Plan, Release, epsilon_of, shares
from nacre.vault.accountant import SLACK_EPSILON
from nacre.vault.doors.grid import Grid
from nacre.vault.parties import MOST_SITES, Parties
from nacre.vault.release import SHARED
from nacre.vault.rounds import Asked, Exact, RoundVault

PARTIES = Parties(sites=10, dropouts=2, colluding=1)
PLAIN = Plan.of([CELLS], epsilon=1.0, delta=1e-6)
PLAN = shares.shared(PLAIN, PARTIES)
LEFT = 8  # of the sites


@pytest.fixture(scope="module")
def asked():
    """What is asked, and its exact sums."""
    with pytest.raises(Asked) as caught:
        RoundVault(ENCODER, PLAN, ()).sum(CELLS, cells)
    found = caught.value
    sums = found.exact.over(Stream(ENCODER, made(300)), found.public)
    return found, Exact(found.program, *sums)


def discrete(scale, reach):
    k = np.arange(-reach, reach + 1)
    weights = np.exp(-(k**2) / (2 * scale**2))
    return weights / weights.sum()


@pytest.mark.parametrize("scale", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_sum_of_discrete_gaussians_is_nearly_one(scale, number):
    """Within the factors of the lemma at every integer that has any weight; and not exactly."""
    reach = int(20 * scale)
    found = discrete(scale, reach)
    for _ in range(number - 1):
        found = np.convolve(found, discrete(scale, reach))
    wanted = discrete(scale * math.sqrt(number), len(found) // 2)
    bound = 7 * sum(math.exp(-2 * math.pi**2 * scale**2 * k / (k + 1)) for k in range(1, number))
    seen = wanted > 1e-10
    ratio = np.abs(np.log(found[seen] / wanted[seen]))
    assert ratio.max() <= bound
    assert ratio.max() > (bound / 4 if number == 2 else 1e-9)  # it is not exactly one


def test_the_slack_covers_noise_in_shares_of_as_many_sites_as_are_allowed():
    for size in (1, 100, 4_000_000):
        scale = max(shares.LEAST_SCALE, 2.0**24 * math.sqrt(size / MOST_SITES))
        # In logarithms, as the number itself is too small to be written.
        log = math.log(2 * size * 7 * MOST_SITES) - math.pi**2 * scale**2
        assert log < -1e9 < math.log(SLACK_EPSILON)


def test_shares_of_the_honest_make_up_the_planned_noise(asked):
    grid = Grid.of(CELLS, PLAN.find(CELLS).release, asked[0].exact)
    scale = shares.share_scale(grid, PARTIES)
    assert scale * math.sqrt(PARTIES.shares) == pytest.approx(grid.scale, rel=1e-9)
    assert scale * math.sqrt(PARTIES.shares) >= grid.scale
    assert PARTIES.shares == 7


def test_eight_shares_give_the_pooled_integers_and_the_accounted_noise(asked):
    found, exact = asked
    nothing = Exact(exact.program, exact.sums * 0, exact.counts * 0)
    off = []
    for _ in range(100):
        words = sum(
            shares.noisy_share(PLAN, found, exact if place == 0 else nothing, lambda: None)
            for place in range(LEFT)
        )
        answer = shares.total(PLAN, found, words.astype(np.int64), LEFT)
        off.append((answer.values - exact.sums).ravel() / answer.noise[0])
    planned = PLAN.find(CELLS).release.noise
    assert answer.noise[0] == pytest.approx(planned * math.sqrt(LEFT / 7), rel=1e-6)
    spread, number = np.std(off), np.size(off)
    assert number == 800 and abs(spread - 1) < 5 / math.sqrt(2 * number)
    assert abs(np.mean(off)) < 5 / math.sqrt(number)
    with pytest.raises(NacreError, match="fewer sites"):
        shares.total(PLAN, found, words.astype(np.int64), 7)


def test_charged_before_noise_is_drawn_and_never_from_a_seed(asked, monkeypatch):
    found, exact = asked
    log = []
    real = shares.add_discrete_gaussian

    def drawn(*given):
        log.append("noise")
        return real(*given)

    monkeypatch.setattr(shares, "add_discrete_gaussian", drawn)
    twice = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        twice.append(shares.noisy_share(PLAN, found, exact, lambda: log.append("charge")))
    assert log == ["charge", "noise"] * 2
    assert (twice[0] != twice[1]).mean() > 0.9


def test_nothing_is_drawn_if_the_charge_is_refused(asked, monkeypatch):
    monkeypatch.setattr(shares, "add_discrete_gaussian", lambda *_: pytest.fail("noise was drawn"))

    def refuse():
        raise NacreError("no budget")

    with pytest.raises(NacreError, match="no budget"):
        shares.noisy_share(PLAN, *asked, refuse)
    with pytest.raises(NacreError, match="no noise in shares"):
        shares.noisy_share(PLAIN, *asked, lambda: None)


def test_huge_sums_of_a_site_are_clamped_so_that_the_total_does_not_wrap(asked):
    found, exact = asked
    far = Exact(exact.program, np.full_like(exact.sums, 2**60), exact.counts)
    words = shares.noisy_share(PLAN, found, far, lambda: None)
    assert np.abs(words.astype(np.int64).astype(float)).max() < 1.01 * 2**62 / PARTIES.sites


def test_the_release_and_the_guarantee_name_the_sites():
    (release,) = PLAN.releases
    assert release.mechanism == SHARED and release.parties == PARTIES
    assert epsilon_of([release], 1e-6) == epsilon_of(PLAIN.releases, 1e-6) <= 1
    assert Release.from_dict(release.to_dict()) == release
    guarantee = Guarantee(epsilon=1.0, delta=1e-6, adjacency=PLAN.adjacency, releases=PLAN.releases)
    guarantee.verify()
    assert "noise of 10 sites of which 2 may drop out and 1 collude" in str(guarantee)
    assert any("at most 1 work together" in said for said in guarantee.assumptions)
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    for changed in ({"sites": 0}, {"colluding": 0}, {"dropouts": 9}, {"mechanism": "gaussian"}):
        with pytest.raises(NacreError):
            dataclasses.replace(release, **changed)
    assert "sites" not in PLAIN.releases[0].to_dict()


def test_what_is_expected_is_the_error_of_all_shares():
    plain, more = PLAIN.asked[0].expected, PLAN.asked[0].expected
    ratio = math.sqrt(PARTIES.sites / PARTIES.shares)
    known = [(plain.error, more.error), (plain.count_error, more.count_error)]
    for one, other in known:
        assert (one is None and other is None) or other == pytest.approx(one * ratio)


def test_sites_with_another_grid_or_noise_know_it(asked):
    louder = shares.shared(Plan.of([CELLS], epsilon=0.9, delta=1e-6), PARTIES)
    fewer = shares.shared(PLAIN, Parties(sites=9, dropouts=2, colluding=1))
    found = {shares.fingerprint(plan, asked[0]) for plan in (PLAN, louder, fewer)}
    assert len(found) == 3 and shares.fingerprint(PLAN, asked[0]) in found


def test_choices_and_noiseless_plans_have_no_shares():
    with pytest.raises(NacreError, match="a choice needs exact ones"):
        shares.shared(Plan.of([CELLS, TOWNS], epsilon=1.0, delta=1e-6), PARTIES)
    with pytest.raises(NacreError, match="needs an epsilon"):
        shares.shared(Plan.of(QUESTIONS, epsilon=math.inf, delta=None), PARTIES)
