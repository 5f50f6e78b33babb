"""The discrete Gaussian: its distribution, its grid, and the lemma that charges its slack."""

import math

import jax
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare, norm

from nacre.vault.accountant import SLACK_DELTA, SLACK_EPSILON
from nacre.vault.gaussian_dp import gaussian_delta
from nacre.vault.noise import add_discrete_gaussian, grid_bits, system_key


def test_small_noise_has_the_right_probabilities():
    scale, count = 3.0, 10_000
    drawn = add_discrete_gaussian(np.zeros(count, np.int64), scale)
    values = np.arange(-9, 10)
    weights = np.exp(-(values**2) / (2 * scale**2))
    wanted = weights / np.exp(-(np.arange(-60, 61) ** 2) / (2 * scale**2)).sum()
    found = np.array([(drawn == value).sum() for value in values])
    inside = wanted.sum()
    # False alarms: one in a million.
    assert chisquare(found, wanted / inside * found.sum()).pvalue > 1e-6
    assert abs(found.sum() / count - inside) < 5 * math.sqrt(inside * (1 - inside) / count)


def test_large_noise_is_gaussian_with_the_declared_scale():
    scale, count = 1e9 + 0.5, 10_000
    drawn = add_discrete_gaussian(np.full((4, count // 4), 12345), scale).ravel() - 12345
    assert len(np.unique(drawn)) > 0.999 * count
    assert drawn.std() / scale == pytest.approx(1, abs=5 / math.sqrt(2 * count))
    assert abs(drawn.mean()) < 5 * scale / math.sqrt(count)
    found, _ = np.histogram(norm.cdf(drawn / scale), bins=50, range=(0, 1))
    assert chisquare(found).pvalue > 1e-6
    assert len(np.unique(drawn % 2)) == 2  # the grid is not coarser than it says


def test_noise_cannot_be_drawn_again():
    zeros = np.zeros(50, np.int64)
    np.random.seed(0)  # noqa: NPY002
    first = add_discrete_gaussian(zeros, 1e6)
    np.random.seed(0)  # noqa: NPY002
    assert (first != add_discrete_gaussian(zeros, 1e6)).mean() > 0.9
    words = np.concatenate([jax.random.key_data(system_key()) for _ in range(5)])
    assert words.shape == (10, 2) and len(np.unique(words)) == 20
    assert jax.random.key_impl(system_key()) == "threefry2x32"


def test_sums_at_the_end_of_64_bits_are_clamped():
    far = np.array([2**63 - 1, -(2**63)], np.int64)
    noisy = add_discrete_gaussian(far, 1000.0)
    assert np.abs(noisy.astype(object) - np.array([2**62, -(2**62)], object)).max() < 20_000


@pytest.mark.parametrize("noise", [1e-9, 0.3, 1.0, 77.7, 1e9])
@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_the_grid_is_fine_enough(noise, size):
    assert noise * 2 ** grid_bits(noise, size) >= 2**16 * math.sqrt(size)


# -- the lemma of docs/privacy.md ---------------------------------------------------------------


def discrete_delta(step, mu, epsilon):
    """delta of one discrete Gaussian whose sensitivity is `step` grid units."""
    scale = step / mu
    k = np.arange(-int(40 * scale) - step, int(40 * scale) + step + 1)
    log = -(k**2) / (2 * scale**2)
    here = np.exp(log - logsumexp(log))
    there = np.exp(-((k - step) ** 2) / (2 * scale**2) - logsumexp(log))
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum())


@pytest.mark.parametrize(("step", "excess"), [(1, 0.035), (16, 0.00012)])
def test_a_coarse_grid_really_costs_more(step, excess):
    mu = 0.268051123211
    found = discrete_delta(step, mu, 1.0) / gaussian_delta(mu, 1.0) - 1
    assert found == pytest.approx(excess, rel=0.1)


@pytest.mark.parametrize("scale", [2.0, 5.0, 50.0])
def test_the_rounded_and_the_discrete_gaussian_are_as_close_as_proved(scale):
    # k >= 0 only, by symmetry; the survival function keeps relative precision in the tail.
    k = np.arange(0, int(12 * scale))
    below, above = norm.logsf((k - 0.5) / scale), norm.logsf((k + 0.5) / scale)
    rounded = below + np.log1p(-np.exp(above - below))
    every = np.arange(-int(40 * scale), int(40 * scale) + 1)
    discrete = -(k**2) / (2 * scale**2) - logsumexp(-(every**2) / (2 * scale**2))
    ratio = rounded - discrete
    assert (ratio >= -1 / (24 * scale**2) - 1e-10).all()
    assert (ratio <= k**2 / (8 * scale**4) + 1e-10).all()
    assert ratio[0] == pytest.approx(-1 / (24 * scale**2), rel=0.1)  # the first bound is tight


@pytest.mark.parametrize("bits", [16, 24])
def test_the_slack_covers_what_is_proved(bits):
    """At 2^16 sqrt(D) for epsilon up to 30, and at the vault's own 2^24 up to 800."""
    largest, tail = {16: (30, 100.0), 24: (800, 900.0)}[bits]
    for size in (1, 100, 10**7):
        square = 2.0 ** (2 * bits) * size
        lower = size / (24 * square)
        radius = math.sqrt(2 * size + 3 * tail) + 0.5 * math.sqrt(size / square)
        upper = radius**2 / (8 * square) + size * 3 * math.exp(-min(700, 2 * math.pi**2 * square))
        assert lower + upper < SLACK_EPSILON
        log_extra = largest + lower - tail
        assert math.expm1(lower) + math.exp(log_extra + 20 * math.log(10)) < SLACK_DELTA
