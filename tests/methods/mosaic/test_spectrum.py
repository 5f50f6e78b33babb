"""Groups of coefficients: orthonormal bases, and what noise explains of them."""

import numpy as np
import pytest

from nacre.methods.mosaic.misfit import group_sums
from nacre.methods.mosaic.spectrum import Spectrum

BINS, ORDERED = [5, 4, 3], [5, 3, 0]
MEASURED = 1 - np.eye(3)


def sums(errors):
    spectrum = Spectrum.of(ORDERED, BINS, MEASURED, len(errors))
    turned = spectrum.basis.T @ errors @ spectrum.basis
    contrasts = np.einsum("cde,cf->fde", turned, spectrum.classes)
    return spectrum, group_sums(contrasts, spectrum.class_groups, spectrum.groups)


def test_no_square_is_lost_or_counted_twice():
    errors = np.random.default_rng(0).normal(size=(2, 12, 12))
    _, found = sums(errors)
    assert found.sum() == pytest.approx((errors**2).sum())


def test_noise_alone_rarely_exceeds_what_it_explains_and_a_wave_does():
    rng, owner = np.random.default_rng(1), np.repeat(np.arange(3), BINS)
    measured = owner[:, None] != owner
    noise = rng.normal(size=(2, 12, 12)) * measured
    spectrum, found = sums(noise)
    used = spectrum.most > 0
    assert (found[used] > spectrum.most[used]).mean() < 0.2
    wave = np.zeros((2, 12, 12))
    wave[:, :5, 5:8] = 2 * np.outer(np.linspace(-1, 1, 5), [-1, 0, 1])
    _, found = sums(noise + wave)
    slowest = (0, 1, 5)  # the mean of the classes, the first cosines of both numbers
    assert found[slowest] > 3 * spectrum.most[slowest]
