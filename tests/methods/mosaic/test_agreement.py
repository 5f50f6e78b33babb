"""What tables of pairs say of a bin, shared among its cells."""

import numpy as np
import pytest

from nacre.methods.mosaic.agreement import shared_out

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
