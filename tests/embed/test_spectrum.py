"""Fresh frequencies: of norm one whatever they are, and on average the kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.kernel import GaussianKernels
from nacre.embed.spectrum import PairSpectrum, RowSpectrum, soft_waves, waves

COLUMNS = np.array([0, 1, 2, 2, 2, 3, 3])
PAIRS = PairSpectrum(COLUMNS, 2, 0.7, (2.0, 120.0))


@pytest.mark.parametrize("spectrum", [PAIRS, RowSpectrum(7, (1.5, 0.4))], ids=["pairs", "rows"])
def test_every_row_has_norm_one(spectrum):
    frequencies = spectrum.draw(9, jax.random.key(0))
    for row in (jnp.zeros(7), jnp.ones(7), jnp.linspace(0, 1, 7)):
        assert jnp.linalg.norm(waves(frequencies, row)) == pytest.approx(1, abs=1e-6)


def test_frequencies_on_rows_give_the_mean_of_the_kernels():
    kernels = GaussianKernels((1.5, 0.4))
    frequencies = RowSpectrum(3, kernels.bandwidths).draw(200_000, jax.random.key(1))
    x, w = jnp.array([0.2, 0.9, 0.4]), jnp.array([0.5, 0.3, 0.6])
    assert waves(frequencies, x) @ waves(frequencies, w) == pytest.approx(
        float(kernels(x, w)), abs=0.01
    )


def test_frequencies_on_pairs_touch_one_or_two_columns_evenly():
    frequencies = np.asarray(PAIRS.draw(20_000, jax.random.key(2)))
    touched = np.stack([(frequencies[:, c == COLUMNS] != 0).any(1) for c in range(4)], 1)
    number = touched.sum(1)
    assert set(number) == {1, 2}
    assert (number == 2).mean() == pytest.approx(0.7, abs=0.02)
    np.testing.assert_allclose(touched.mean(0), 1.7 / 4, atol=0.02)
    assert np.abs(frequencies[:, 2:]).max() <= np.pi + 1e-6
    assert np.abs(frequencies[:, :2]).max() > 120


def test_one_column_is_enough():
    frequencies = PairSpectrum(np.array([0]), 1, 0.7, (2.0, 4.0)).draw(5, jax.random.key(3))
    assert (frequencies != 0).all()


def test_generated_rows_have_the_same_waves_and_the_slope_of_another_category():
    frequencies = PAIRS.draw(30, jax.random.key(4))
    row = jnp.array([0.3, 0.8, 0, 1, 0, 1, 0], jnp.float32)
    other = row.at[2:5].set(jnp.array([1.0, 0, 0]))
    starts = (2, 5, 7)
    np.testing.assert_allclose(
        soft_waves(frequencies, row, starts), waves(frequencies, row), atol=1e-5
    )
    _, slope = jax.jvp(lambda x: soft_waves(frequencies, x, starts), (row,), (other - row,))
    change = waves(frequencies, other) - waves(frequencies, row)
    np.testing.assert_allclose(slope, change, atol=1e-5)
    _, plain = jax.jvp(lambda x: waves(frequencies, x), (row,), (other - row,))
    assert np.abs(plain - change).max() > 0.1
