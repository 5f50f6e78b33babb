"""The misfit: its derivatives are those of finite differences, in both stages."""

import dataclasses

import numpy as np
import pytest

from nacre.methods.mosaic.misfit import Misfit, Targets
from nacre.methods.mosaic.mixture import Logits, mixture, pair_moments, to_logits
from nacre.methods.mosaic.sparse import Sparse
from nacre.methods.mosaic.spectrum import Spectrum, waves

SIZES, CLASSES, COMPONENTS = [3, 4, 2], 3, 4
PLACES = sum(SIZES)
BLOCKS = ((0, 3), (3, 7), (7, 9))


def logits(seed):
    rng = np.random.default_rng(seed)
    flat = rng.normal(0, 1, COMPONENTS * (PLACES + CLASSES + 1))
    return flat, Logits.within(flat, COMPONENTS, PLACES, CLASSES)


def targets(pooled, noise=0.05, whole=False):
    bases = [waves(*each) for each in zip([3, 3, 0], SIZES, strict=True)]
    empty = np.zeros((PLACES, PLACES))
    empty[0, 3:5] = empty[3:5, 0] = 1
    most, precision = np.zeros((3, 3)), np.zeros((3, 3))
    most[0, 1] = most[1, 0] = 0.01
    precision[0, 1] = precision[1, 0] = 50.0**2
    found = Targets(
        pairs=np.zeros((1, PLACES, PLACES)),
        pair_precision=np.zeros((PLACES, PLACES)),
        histograms=np.zeros((CLASSES, PLACES)),
        single_precision=np.full(PLACES, noise**-2),
        blocks=BLOCKS,
        sparse=Sparse(empty, most, precision),
        spectrum=Spectrum.of(bases, 1 - np.eye(3), 1 if pooled else CLASSES),
    )
    p, w = mixture(logits(5)[1], found.owner)
    measured = 1 - found.owner @ found.owner.T
    return dataclasses.replace(
        found,
        pairs=pair_moments(p, w.sum(1, keepdims=True) if pooled else w),
        pair_precision=measured / noise**2,
        whole_precision=3 * measured / noise**2 if whole else None,
        histograms=w.T @ p,
    )


@pytest.mark.parametrize("counted", ["by class", "over all classes", "both"])
@pytest.mark.parametrize("surely", [False, True])
def test_derivatives_are_those_of_finite_differences(counted, surely):
    wanted = targets(counted == "over all classes", whole=counted == "both")
    misfit = Misfit.of(wanted, np.float64)
    flat, parts = logits(0)
    p, w = mixture(parts, misfit.owner)
    found = misfit(p, w, surely=surely)
    slopes = to_logits(p, w, found.by_p, found.by_w, misfit.owner)
    slope = np.concatenate([part.ravel() for part in slopes])

    def value(at):
        moved = mixture(Logits.within(at, COMPONENTS, PLACES, CLASSES), misfit.owner)
        return misfit(*moved, surely=surely).value

    step = 1e-5
    for place in range(len(flat)):
        way = step * (np.arange(len(flat)) == place)
        expected = (value(flat + way) - value(flat - way)) / (2 * step)
        assert slope[place] == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert np.abs(slope).max() > 1, "a slope of nothing would be right everywhere"


def test_a_table_that_is_met_has_no_misfit_of_pairs():
    wanted = targets(False)
    misfit = Misfit.of(wanted, np.float64)
    p, w = mixture(logits(5)[1], misfit.owner)
    assert misfit(p, w, surely=False).pairs == pytest.approx(0, abs=1e-12)
    assert misfit(p, w, surely=True).pairs == pytest.approx(0, abs=1e-6)
