"""Fresh frequencies: of norm one whatever they are, and on average the kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.kernel import GaussianKernels
from nacre.embed.spectrum import PairSpectrum, RowSpectrum, waves

COLUMNS = np.array([0, 1, 2, 2, 2, 3, 3])
PAIRS = PairSpectrum(COLUMNS, 2, 0.7, (2.0, 120.0))


@pytest.mark.parametrize("spectrum", [PAIRS, RowSpectrum(7, (1.5, 0.4))], ids=["pairs", "rows"])
def test_every_row_has_norm_one(spectrum):
    frequencies = jax.jit(spectrum.draw, static_argnums=0)(9, jax.random.key(0))
    rows = np.stack([np.zeros(7), np.ones(7), np.linspace(0, 1, 7)])
    found = jax.jit(jax.vmap(waves, (None, 0)))(frequencies, rows)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_frequencies_on_rows_give_the_mean_of_the_kernels():
    kernels = GaussianKernels((1.5, 0.4))
    spectrum = RowSpectrum(3, kernels.bandwidths)
    x, w = jnp.array([0.2, 0.9, 0.4]), jnp.array([0.5, 0.3, 0.6])

    @jax.jit
    def both(key):
        frequencies = spectrum.draw(200_000, key)
        return waves(frequencies, x) @ waves(frequencies, w), kernels(x, w)

    found, wanted = both(jax.random.key(1))
    assert found == pytest.approx(float(wanted), abs=0.01)


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
