"""Tests of a learnt density: known answers, levels, power, and the paper's own study, smaller."""

import numpy as np
import pytest
from bench.lmdp import ALTERNATIVE, MIXTURE, score, study
from scipy.stats import kstest

from nacre.evaluate.lmdp.fssd import fssd_test, stein_features
from nacre.evaluate.lmdp.stein import ksd, ksd_linear, ksd_normalized, stein_kernel, stein_matrix


def normal_score(x):
    return -x


def test_the_stein_kernels_known_answers():
    u = stein_kernel(np.array([[0.3]]), np.array([[-0.5]]), normal_score, 1.0)
    assert u[0] == pytest.approx(-0.312244085942)
    u = stein_kernel(np.array([[0.3, -0.2]]), np.array([[-0.5, 0.4]]), normal_score, 1.5)
    assert u[0] == pytest.approx(0.013543336321)


def test_the_stein_kernel_is_derivatives_of_the_gaussian_one():
    # u = s(x)s(y)k + s(x) dk/dy + s(y) dk/dx + d²k/dxdy, by finite differences.
    h, step = 1.3, 1e-4

    def k(x, y):
        return np.exp(-((x - y) ** 2) / (2 * h**2))

    x, y = 0.7, -0.2
    dx = (k(x + step, y) - k(x - step, y)) / (2 * step)
    dy = (k(x, y + step) - k(x, y - step)) / (2 * step)
    both = (
        k(x + step, y + step)
        - k(x + step, y - step)
        - k(x - step, y + step)
        + k(x - step, y - step)
    ) / (4 * step**2)
    expected = x * y * k(x, y) - x * dy - y * dx + both
    found = stein_kernel(np.array([[x]]), np.array([[y]]), normal_score, h)[0]
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_matrix_holds_the_kernel_of_every_pair():
    x = np.random.default_rng(0).normal(size=(6, 3))
    found = stein_matrix(x, normal_score, 1.4)
    for i in range(6):
        np.testing.assert_allclose(
            found[i], stein_kernel(np.tile(x[i], (6, 1)), x, normal_score, 1.4), atol=1e-12
        )


def test_s_is_chi_squared_under_the_null():
    found = []
    for seed in range(300):
        x = np.random.default_rng(seed).normal(size=(400, 2))
        found.append(ksd_normalized(x, normal_score, bandwidth=1.0))
    statistics, p = np.array(found).T
    assert kstest(statistics, "chi2", args=(1,)).pvalue > 0.01
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.04)


@pytest.mark.parametrize("name", ["ksd", "linear", "fssd"])
def test_the_others_have_their_level_and_more_power_than_s(name):
    rejected = {0.0: 0, 0.25: 0}
    for shift in rejected:
        for seed in range(60):
            rng = np.random.default_rng(seed)
            x = rng.normal(shift, 1, size=(200, 2))
            if name == "ksd":
                p = ksd(x, normal_score, rng=rng, bandwidth=1.5, bootstraps=99)[1]
            elif name == "linear":
                p = ksd_linear(x, normal_score, bandwidth=1.5)[1]
            else:
                p = fssd_test(x, normal_score, rng=rng, bandwidth=1.5)[1]
            rejected[shift] += p <= 0.05
    assert rejected[0.0] <= 9  # three expected
    assert rejected[0.25] >= {"ksd": 40, "linear": 4, "fssd": 18}[name]


def test_fssd_features_have_mean_zero_under_the_density():
    x = np.random.default_rng(0).normal(size=(200_000, 2))
    tau = stein_features(x, -x, np.array([[0.3, 0.1], [-1.0, 2.0]]), 1.2)
    assert np.abs(tau.mean(0)).max() < 5 * (tau.std(0) / np.sqrt(len(tau))).max()
    assert np.abs(stein_features(x + 0.5, -(x + 0.5), np.zeros((1, 2)), 1.2).mean(0)).min() > 0.05


@pytest.mark.parametrize("call", [ksd_linear, ksd_normalized])
def test_rows_that_are_all_alike(call):
    statistic, p = call(np.zeros((10, 1)), lambda x: np.zeros_like(x), bandwidth=1.0)
    assert np.isfinite(statistic) and 0 <= p <= 1


def test_too_few_rows_for_fssd_say_so():
    with pytest.raises(ValueError, match="rows are needed"):
        fssd_test(np.zeros((5, 1)), normal_score, rng=np.random.default_rng(0))


def test_the_mixtures_score_is_the_gradient_of_its_log_density():
    x, step = np.array([2.0, 5.0, 9.0]), 1e-5
    slope = (MIXTURE.log_density(x + step) - MIXTURE.log_density(x - step)) / (2 * step)
    np.testing.assert_allclose(score(x, MIXTURE), slope, rtol=1e-4)


def test_the_papers_study_smaller():
    # The paper: 10,000 sets of 128 rows. `python -m bench lmdp` runs that.
    found = study(MIXTURE, ALTERNATIVE, draws=600, rows=128, seed=0, places=4)
    assert found["type I"]["normalized"] <= 0.06  # at level 5%
    assert found["type I"]["linear"] <= 0.08
    assert found["power"]["linear"] > found["power"]["normalized"] > 0.05
