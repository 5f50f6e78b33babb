"""Strong links go on inside bins, and nothing else does."""

import numpy as np
import pytest

from nacre.histograms.inside import Scale, linked_places, positions

ROWS = 20_000


@pytest.mark.parametrize("correlation", [0.98, -0.9, 0.0])
def test_rows_of_a_gaussian_are_found_again_from_their_bins(correlation):
    rng = np.random.default_rng(0)
    cut, noise = rng.normal(size=(2, ROWS))
    other = correlation * cut + np.sqrt(1 - correlation**2) * noise
    scale = Scale.of(np.full(5, 0.2), 5)
    real = [cut, other]
    bins = [np.searchsorted(scale.edges[1:-1], value) for value in real]
    matrix = np.array([[1, correlation], [correlation, 1]])
    made = positions([scale, scale], bins, matrix, rng)
    last = (bins[0] == 4) & (bins[1] == (4 if correlation >= 0 else 0))
    ranks = [np.argsort(np.argsort(value[last])) for value in real]
    wanted = np.corrcoef(*ranks)[0, 1]
    assert abs(np.corrcoef(made[0][last], made[1][last])[0, 1] - wanted) < 0.1
    for place in made:
        assert abs(place.mean() - 0.5) < 0.02 and 0 <= place.min() <= place.max() <= 1


def test_only_strongly_linked_numbers_have_places():
    """Eight components along a line; the third number is the same in all of them."""
    line = np.kron(np.eye(4), np.full((2, 1), 1.0))
    components = {0: line, 1: line[:, ::-1], 2: np.full((8, 3), 1 / 3)}
    rng = np.random.default_rng(0)
    bins = {0: np.repeat(np.arange(4), 500), 1: np.repeat(np.arange(4)[::-1], 500)}
    bins[2] = np.full(2000, 2)  # of which the last bin is 'missing'
    ordered = {0: 4, 1: 4, 2: 2}
    found = linked_places(components, ordered, np.ones(8), bins, rng)
    assert set(found) == {0, 1}
    first = bins[0] == 0
    assert np.corrcoef(found[0][first], found[1][first])[0, 1] < -0.8
    assert linked_places({2: components[2]}, ordered, np.ones(8), bins, rng) == {}
