"""Neighbors in closed form, and the classifiers' settings."""

import numpy as np
import pytest

from nacre.evaluate.images.metrics.classifiers import SETTINGS
from nacre.evaluate.images.neighbors import nearest, radii, share_filled, share_inside
from nacre.evaluate.tables.classifiers import PUBLISHED, available, make


def line(*places):
    return np.array(places, float)[:, None]


def test_balls_on_a_line(monkeypatch):
    real = line(0, 1, 3, 10)
    assert radii(real, 1).tolist() == [1, 1, 2, 7]
    assert radii(real, 2).tolist() == [3, 2, 3, 9]
    assert radii(real, 9).tolist() == [10, 9, 7, 10]  # no more neighbors than there are
    points = line(-1.5, 0.5, 4, 30)
    inside = (
        share_inside(points, real, radii(real, 1)),
        share_filled(points, real, radii(real, 1)),
    )
    monkeypatch.setattr("nacre.evaluate.images.neighbors._ROWS", 2)
    again = (share_inside(points, real, radii(real, 1)), share_filled(points, real, radii(real, 1)))
    assert inside == again == (0.5, 1.0)
    assert share_filled(line(10), real, radii(real, 1)) == 0.25
    assert nearest(points, real).tolist() == [1.5, 0.5, 1, 20]


def test_a_point_in_the_middle_is_precise_and_covers_little():
    # All at the mean: inside the real ones' reach, and surrounding none of them.
    real = np.random.default_rng(0).normal(size=(400, 5))
    middle = np.random.default_rng(1).normal(0, 1e-3, (400, 5))
    assert share_inside(middle, real, radii(real, 3)) == 1
    assert share_inside(real, middle, radii(middle, 3)) == 0
    assert share_filled(middle, real, radii(real, 5)) < 0.2
    fresh = np.random.default_rng(2).normal(size=(400, 5))
    assert share_inside(real, fresh, radii(fresh, 3)) > 0.6
    assert share_filled(fresh, real, radii(real, 5)) > 0.85


@pytest.mark.parametrize("name", available(PUBLISHED))
def test_each_classifier_takes_its_settings(name):
    said = SETTINGS.get(name, {})
    model = make(name, seed=0, **said)
    assert {key: model.get_params()[key] for key in said} == said
    assert set(SETTINGS) <= set(PUBLISHED)
