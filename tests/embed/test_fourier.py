"""Frequencies touch the columns they should, and features equal plain cosines and sines."""

import jax
import numpy as np
import pytest

from nacre.embed.fourier import FourierFeatures, draw_frequencies, feature_norm
from nacre.exact import AMPLITUDE, MOST_TURNS, UNIT_BITS
from nacre.rows import Row
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(
    numbers=(Number("a", 100), Number("b", 2**40)),
    codes=(Code("c", 3), Code("d", 300), Code("y", 2)),
)

MOST = np.array([number.positions for number in LAYOUT.numbers])


def run(features, row):
    with jax.enable_x64(True):
        return np.asarray(features(row), np.float64)


def draw(**changes):
    settings = {
        "width": 60,
        "blocks": 2,
        "columns": [0, 1, 2, 3],
        "orders": ((1, 0.25), (2, 0.75)),
        "scales": (2.0, 50.0),
        "rng": np.random.default_rng(0),
    }
    return draw_frequencies(LAYOUT, **{**settings, **changes})


def test_each_frequency_touches_its_support_only():
    drawn = draw()
    assert drawn.count == 120
    assert ((drawn.support >= 0).sum(1) == np.r_[np.ones(15), np.full(45, 2)]).all()
    for row, support in enumerate(drawn.support):
        for column in range(5):
            part = drawn.matrix[:, row, drawn.offsets[column] : drawn.offsets[column + 1]]
            assert (part != 0).any() == (column in support)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_there_may_be_fewer_frequencies_than_orders(width):
    assert len(draw(width=width).support) == width


def test_the_label_is_never_touched():
    assert (draw().support != 4).all()


def test_a_target_is_in_every_other_pair():
    support = draw(focus=1).support[15:]
    assert (support[::2] == 1).any(axis=1).all()
    assert (np.diff(support, axis=1) > 0).all()


def test_features_are_cosines_and_sines_of_the_rounded_frequencies():
    features = FourierFeatures(draw())
    rng = np.random.default_rng(1)
    for _ in range(5):
        codes = np.array([rng.integers(3), rng.integers(300), rng.integers(2)])
        numbers = rng.integers(0, MOST + 1)
        found = run(features, Row(numbers.astype(np.int32), codes.astype(np.int32)))
        hot = [np.eye(size)[code] for size, code in zip((3, 300, 2), codes, strict=True)]
        # The features see the numbers on a grid of 2^-11 of their range.
        x = np.concatenate([np.floor(numbers / MOST * 2**UNIT_BITS + 0.5) / 2**UNIT_BITS, *hot])
        angles = features.frequencies.matrix.reshape(120, -1) @ x
        np.testing.assert_allclose(found[:120] / AMPLITUDE, np.sin(angles), atol=3e-4)
        np.testing.assert_allclose(found[120:] / AMPLITUDE, np.cos(angles), atol=3e-4)
        assert np.sum(found**2) <= feature_norm(120) ** 2


def test_the_bound_is_reached():
    # A bound that is never reached is wasted noise.
    features = FourierFeatures(draw())
    zero = Row(np.zeros(2, np.int32), np.zeros(3, np.int32))
    norm = np.linalg.norm(run(features, zero))
    assert norm == pytest.approx(feature_norm(120), rel=2e-4)


def test_frequencies_too_large_to_sum_exactly_are_shortened():
    long = draw(scales=(1e6, 1e7))
    found = FourierFeatures(long).frequencies.matrix
    # No longer than exact phases can hold, in the same direction.
    assert np.abs(found).max() <= 2 * np.pi * MOST_TURNS
    for short, wanted in zip(found.reshape(120, -1), long.matrix.reshape(120, -1), strict=True):
        assert short @ wanted >= 0.999 * np.linalg.norm(short) * np.linalg.norm(wanted)
