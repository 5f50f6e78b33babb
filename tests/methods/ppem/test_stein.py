"""The per-row Stein statistic: known answers, its null distribution, and its derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from nacre.evaluate.lmdp.stein import stein_kernel
from nacre.methods.ppem.stein import Anchors, Statistic, score_of, stein_value


def value(x, y, bandwidth):
    """v of one row for one anchor, under a standard normal density."""
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    return float(
        stein_value(jnp.asarray(x), jnp.asarray(-x), Anchors(y[None], -y[None]), bandwidth)
    )


def test_known_answers():
    assert value([0.3], [-0.5], 1.0) == pytest.approx(-0.312244085942, abs=1e-6)
    assert value([0.3, -0.2], [-0.5, 0.4], 1.5) == pytest.approx(0.013543336321, abs=1e-6)


def test_the_score_is_minus_the_gradient_of_the_energy():
    score = score_of(lambda x: 0.5 * jnp.sum(x**2))
    np.testing.assert_allclose(score(jnp.asarray([1.0, -2.0])), [-1.0, 2.0])


def test_many_anchors_are_the_mean_of_single_ones():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=2), rng.normal(size=(5, 2))
    mean = np.mean([stein_kernel(x[None], each[None], lambda p: -p, 1.2) for each in y])
    found = stein_value(jnp.asarray(x), jnp.asarray(-x), Anchors(y, -y), 1.2)
    assert float(found) == pytest.approx(mean, abs=1e-6)


@pytest.fixture(scope="module")
def values():
    """v of 256 rows in 1,000 batches, for rows of the density and for rows of another."""
    rng = np.random.default_rng(0)
    y = rng.normal(0.5, 1.2, size=(32, 1)).astype(np.float32)  # whatever the generator makes
    of = jax.jit(jax.vmap(lambda x: stein_value(x, -x, Anchors(y, -y), 1.0)))
    rows = rng.normal(size=(1000 * 256, 1)).astype(np.float32)
    return [np.asarray(of(rows + shift)).reshape(1000, 256) for shift in (0.0, 0.3)]


@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_s_is_chi_squared_under_the_null_noise_and_all(values, noise):
    statistic = Statistic(2.0, 256, noise, (3.841459,), 10.0)
    w = np.clip(values[0] / 2.0, -1, 1)
    noisy = np.random.default_rng(1).normal(0, 1, (1000, 2)) * noise
    sums = np.stack([w.sum(1), (w**2).sum(1)], axis=1) + noisy
    found = np.asarray(statistic.value(jnp.asarray(sums)))
    assert np.mean(found > 3.841459) == pytest.approx(0.05, abs=0.025)
    if not noise:
        assert kstest(found, "chi2", args=(1,)).pvalue > 1e-3


def test_anchors_have_more_power_than_pairs(values):
    # The same rows, paired: the paper's statistic.
    rng = np.random.default_rng(0)
    rows = rng.normal(0.3, 1, size=(1000, 256))
    u = stein_kernel(
        rows[:, ::2].reshape(-1, 1), rows[:, 1::2].reshape(-1, 1), lambda p: -p, 1.0
    ).reshape(1000, -1)
    pairs = np.mean(127 * u.sum(1) ** 2 / (128 * (u**2).sum(1)) > 3.841459)
    w = np.clip(values[1] / 2.0, -1, 1)
    anchors = np.mean(255 * w.sum(1) ** 2 / (256 * (w**2).sum(1)) > 3.841459)
    assert anchors > 0.7 > 0.3 > pairs


def test_slopes_are_the_derivatives_of_the_penalty():
    statistic = Statistic(2.0, 64, 1.5, (3.84, 3.84, 3.84), 10.0)

    def penalty(sums):
        return jnp.sum(10.0 * jnp.maximum(3.84 - statistic.value(sums), 0.0))

    # Inactive, as S is large enough; active; active with too few squares to count.
    sums = jnp.asarray([[30.0, 20.0], [4.0, 12.0], [-0.5, 0.2]])
    by_total, by_squares = statistic.slopes(sums)
    wanted = jax.grad(penalty)(sums)
    np.testing.assert_allclose(by_total, wanted[:, 0], rtol=1e-5)
    np.testing.assert_allclose(by_squares, wanted[:, 1], rtol=1e-5)
    assert by_total[0] == 0 and by_total[1] < 0 < by_squares[1]
