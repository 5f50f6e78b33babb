"""What tables of pairs say of a bin, shared among its cells."""

import numpy as np
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.agreement import agreed, shared_out
from nacre.methods.mosaic.learn import Pairs
from nacre.schema import Boolean, Integer, Schema

GROUP = np.array([0, 0, 1, 1, 1, 1, 1, 2, 2])
FILLED = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0], bool)
NOISE = 10.0


def test_what_noise_explains_goes_to_cells_that_surely_hold_rows():
    change = np.array([[30.0, 20.0, 8.0], [-30.0, -90.0, -8.0]])
    found = shared_out(change, GROUP, FILLED, NOISE)
    assert found[0] == pytest.approx([15, 15, 0, 20, 0, 0, 0, 4, 4])
    assert found[1] == pytest.approx([-15, -15, 0, -90, 0, 0, 0, -4, -4])


def test_a_spike_does_not_get_the_rows_of_the_thin_tail_beside_it():
    found = shared_out(np.array([[500.0, 725.0, 0.0]]), GROUP, FILLED, NOISE)[0]
    assert found[3] == pytest.approx(25)  # two and a half deviations
    assert found[2:7].sum() == pytest.approx(725)
    assert found[4] > found[5] > found[6] > 0  # tails fall
    assert found[:2] == pytest.approx([250, 250])  # there is no other cell


def test_denoised_counts_agree_with_pairs_however_far_noise_took_the_released_ones():
    """What is not surely filled was denoised already: its noise is not to be taken off twice."""
    columns = table_columns(Schema({"x": Integer(low=0, high=9), "b": Boolean()}).layout, None, 512)
    truth = np.array([[900.0, *[10.0] * 9]])
    filled = np.arange(10) == 0
    noise = np.array([30.0, 1.0])
    histograms = Histograms(
        columns,
        [truth, np.array([[495.0, 495.0]])],
        [truth + np.where(filled, 0, 40), np.array([[495.0, 495.0]])],
        [truth, np.array([[495.0, 495.0]])],
        [filled, np.ones(2, bool)],
        np.array([990.0]),
        noise,
    )
    groups = [np.minimum(np.arange(10), 1), np.arange(2)]
    table = np.array([[[450.0, 450.0], [45.0, 45.0]]])
    found = agreed(histograms, Pairs((0, 1), groups, {(0, 1): table}, {(0, 1): 1.0}))
    assert found.cleaned[0] == pytest.approx(truth, abs=3)
