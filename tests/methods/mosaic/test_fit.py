"""The fit: closed-form moments are those of samples, and fitting stops where noise begins."""

import numpy as np
import pytest

from nacre.histograms.draw import draw_bins, pick
from nacre.methods.mosaic.fit import FEW, LONG, block_bounds, fit_mixtures
from nacre.methods.mosaic.misfit import Targets
from nacre.methods.mosaic.mixture import Logits, mixture, pair_moments
from nacre.methods.mosaic.sparse import Sparse
from nacre.methods.mosaic.spectrum import Spectrum, waves

BLOCKS = block_bounds([3, 4, 2])
OWNER = np.zeros((9, 3), np.float32)
for _column, (_start, _end) in enumerate(BLOCKS):
    OWNER[_start:_end, _column] = 1


def random_mixture(seed=0, components=5, classes=2):
    rng = np.random.default_rng(seed)
    bins = rng.normal(0, 1.5, (components, 9))
    label = rng.normal(0, 1.5, (components, classes))
    return mixture(Logits(bins, label, rng.normal(0, 1, components)), OWNER)


def draw(p, w, n, rng):
    component, label = np.divmod(pick(w, n, rng), w.shape[1])
    bins = [draw_bins(p[:, start:end], component, rng) for start, end in BLOCKS]
    return np.stack(bins, 1), label


def test_probabilities_add_up_to_one():
    p, w = random_mixture()
    assert p @ OWNER == pytest.approx(np.ones((5, 3)), abs=1e-5)
    assert w.sum() == pytest.approx(1, abs=1e-5)


def test_closed_form_moments_are_those_of_samples():
    p, w = random_mixture()
    bins, label = draw(p, w, 200_000, np.random.default_rng(1))
    moments = pair_moments(p, w)
    for i in range(3):
        for j in range(i + 1, 3):
            (a, b), (c, d) = BLOCKS[i], BLOCKS[j]
            for y in range(2):
                found = np.zeros((b - a, d - c))
                np.add.at(found, (bins[label == y, i], bins[label == y, j]), 1 / len(bins))
                assert found == pytest.approx(moments[y, a:b, c:d], abs=4e-3)


BASES = [waves(3, 3), waves(3, 4), waves(0, 2)]


def targets(p, w, noise, seed=2, pooled=False):
    rng = np.random.default_rng(seed)
    moments = pair_moments(p, w.sum(1, keepdims=True) if pooled else w)
    error = np.triu(rng.normal(0, noise, moments.shape))
    measured = 1 - OWNER @ OWNER.T
    return Targets(
        pairs=moments + error + error.transpose(0, 2, 1),
        pair_precision=measured / noise**2,
        histograms=(w.T @ p).astype(np.float64) + rng.normal(0, noise, (2, 9)),
        single_precision=np.full(9, noise**-2.0),
        blocks=BLOCKS,
        sparse=Sparse(np.zeros((9, 9)), np.zeros((3, 3)), np.zeros((3, 3))),
        spectrum=Spectrum.of(BASES, 1 - np.eye(3), len(moments)),
    )


SETTINGS = {"fits": 2, "components": 20, "rate": 0.05, "stop": 1.0}


@pytest.mark.parametrize("pooled", [False, True])
def test_the_fit_comes_close_to_the_truth(pooled):
    p, w = random_mixture()
    wanted = targets(p, w, 1e-3, pooled=pooled)
    q, v = fit_mixtures(wanted, steps=400, rng=np.random.default_rng(0), **SETTINGS)
    assert q.shape == (40, 9) and v.shape == (40, 2)
    assert v.sum() == pytest.approx(1, abs=1e-5)
    sides = (w.sum(1, keepdims=True), v.sum(1, keepdims=True)) if pooled else (w, v)
    truth, found = (pair_moments(a, b) for a, b in zip((p, q), sides, strict=True))
    measured = wanted.pair_precision > 0
    assert np.abs(truth - found)[:, measured].mean() < 2e-3
    assert v.T @ q == pytest.approx(w.T @ p, abs=5e-3)


def test_the_fit_stops_where_noise_begins():
    p, w = random_mixture()
    done = []
    fit_mixtures(
        targets(p, w, 0.1),
        steps=2000,
        rng=np.random.default_rng(0),
        on_progress=done.append,
        **SETTINGS,
    )
    assert len(done) < 10, "such noise hides everything beyond a few steps"


def test_where_noise_is_small_fewer_fits_go_on():
    p, w = random_mixture()
    settings = {**SETTINGS, "fits": FEW + 2, "components": 4}
    for noise, fits in ((1e-7, FEW), (0.1, FEW + 2)):
        wanted = targets(p, w, noise)
        q, v = fit_mixtures(wanted, steps=LONG + 20, rng=np.random.default_rng(0), **settings)
        assert len(q) == len(v) == 4 * fits
        assert v.sum() == pytest.approx(1, abs=1e-5)


def test_one_strong_link_among_many_columns_is_met():
    """The misfit of all tables together is that of noise long before this one's is."""
    sizes, noise = [4] * 20, 0.0029
    blocks, rng = block_bounds(sizes), np.random.default_rng(3)
    places, columns = blocks[-1][1], len(sizes)
    moments = np.full((places, places), 1 / 16)
    moments[:4, 4:8] = moments[4:8, :4] = 1 / 16 + 0.03 * (np.eye(4) - 0.25)
    error = np.triu(rng.normal(0, noise, moments.shape))
    owner = np.kron(np.eye(columns), np.ones((4, 1)))
    wanted = Targets(
        pairs=(moments + error + error.T)[None],
        pair_precision=(1 - owner @ owner.T) / noise**2,
        histograms=np.full((1, places), 0.25),
        single_precision=np.full(places, noise**-2.0),
        blocks=blocks,
        sparse=Sparse(np.zeros((places, places)), *np.zeros((2, columns, columns))),
        spectrum=Spectrum.of([waves(0, size) for size in sizes], 1 - np.eye(columns), 1),
    )
    q, v = fit_mixtures(wanted, steps=1200, rng=np.random.default_rng(0), **SETTINGS)
    found = pair_moments(q, v)[0]
    together = np.trace(found[:4, 4:8])
    assert together > 0.295, "0.34 in truth, 0.25 if the two were independent"
    assert np.abs(found[8:12, 12:16] - 1 / 16).max() < 3 * noise
