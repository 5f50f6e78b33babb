"""Groups of coefficients: orthonormal bases, and what noise explains of them."""

import numpy as np
import pytest

from nacre.methods.mosaic.misfit import group_sums
from nacre.methods.mosaic.spectrum import Spectrum, contrasts, waves

BINS, ORDERED = [5, 4, 3], [5, 3, 0]
MEASURED = 1 - np.eye(3)


def sums(errors):
    bases = [waves(*each) for each in zip(ORDERED, BINS, strict=True)]
    spectrum = Spectrum.of(bases, MEASURED, len(errors))
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


def test_what_the_slowest_waves_leave_of_a_spike_is_told_by_itself():
    spikes = np.array([False, False, True, False, False, True, False, False])
    basis, group = waves(7, 8, (), spikes)
    assert basis.T @ basis == pytest.approx(np.eye(8))
    plain, slow = waves(7, 8)
    assert basis[:, :2] == pytest.approx(plain[:, :2]) and group[:2].tolist() == slow[:2].tolist()
    for spike in (2, 5):
        alone = np.eye(8)[spike] - basis[:, :2] @ basis[spike, :2]
        alone /= np.linalg.norm(alone)
        told = basis[:, np.isin(group, group[np.abs(basis.T @ alone) > 0.95])]
        assert told.shape[1] == 1, "no other coefficient is judged with it"
    assert basis[:7, -1] == pytest.approx(np.zeros(7)), "gaps are by themselves, as before"
    assert np.array_equal(np.unique(group), np.arange(group.max() + 1))
    none, same = waves(7, 8, (), np.zeros(8, bool))
    assert (none == plain).all() and (same == slow).all()


def test_contrasts_of_families_come_before_those_of_their_members():
    groups = np.array([0, 1, 0, 2, 2, 1, 0])
    chapters = np.array([0, 1, 0, 0, 0, 1, 0])  # of groups 0 and 2, and of group 1
    basis, group = waves(0, 7, [groups, chapters])
    assert basis.T @ basis == pytest.approx(np.eye(7))
    assert basis[:, 0] == pytest.approx(np.full(7, 7**-0.5))
    assert group.tolist() == [0, 1, 2, 3, 3, 3, 3]
    # What is the same in all members of a group is told by its own contrasts alone.
    by_group = basis.T @ np.array([3.0, -1, 4])[groups]
    assert np.abs(by_group[group == 3]).max() < 1e-9 < np.abs(by_group[group == 2]).min()
    by_chapter = basis.T @ np.array([3.0, -1])[chapters]
    assert np.abs(by_chapter[group > 1]).max() < 1e-9 < np.abs(by_chapter[1])


def test_families_that_say_nothing_leave_the_contrasts_as_they_were():
    basis, group = waves(0, 5)
    assert (basis == contrasts(5)).all() and group.tolist() == [0, 1, 1, 1, 1]
    for nothing in (np.zeros(5, np.int64), np.arange(5)):
        found, place = waves(0, 5, [nothing])
        assert place.tolist() == [0, 1, 1, 1, 1]
        assert found @ found.T == pytest.approx(np.eye(5))
