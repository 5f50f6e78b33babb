"""The sensitivity that a bound implies, case by case."""

import math

import pytest

from nacre.rows import Label
from nacre.vault import Adjacency, Bound, Segment

Y = Label("y", 2)
ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE


def bound(*segments, **more):
    return Bound(segments=tuple(Segment(size=1, **s) for s in segments), **more)


@pytest.mark.parametrize(
    ("given", "add", "replace"),
    [
        (bound({"norm": 3.0}), 9, 36),
        (bound({"norm": 3.0, "signed": False}), 9, 18),
        (bound({"norm": 3.0, "weight": 0.5}), 2.25, 9),
        (bound({"norm": 1.0}, {"norm": 2.0, "signed": False}), 5, 12),
        # Unlabeled: a count moves only when a good row becomes a bad one.
        (bound({"norm": 1.0}, count=1.0), 2, 4),
        (bound({"norm": 1.0}, count=3.0), 10, 10),
        (bound(count=1.0), 1, 1),
        # By label: counts are free up to the norm of signed features.
        (bound({"norm": 1.0}, by=Y, count=1.0), 2, 4),
        (bound({"norm": 1.0}, by=Y, count=2.0), 5, 10),
        (bound({"norm": 1.0, "signed": False}, by=Y, count=0.5), 1.25, 2.5),
        (bound(by=Y, count=1.0), 1, 2),
    ],
)
def test_squared_sensitivity(given, add, replace):
    assert given.sensitivity(ADD) ** 2 == pytest.approx(add, rel=1e-12)
    assert given.sensitivity(REPLACE) ** 2 == pytest.approx(replace, rel=1e-12)


def test_dp_merf_and_pearl_as_published_here():
    columns = 5
    mixed = bound({"norm": 1.0}, {"norm": 1.0, "signed": False}, by=Y, count=0.25)
    assert mixed.sensitivity(ADD) ** 2 == pytest.approx(2 + 0.25**2)
    assert mixed.sensitivity(REPLACE) ** 2 == pytest.approx(4 + 2 * columns / columns)
    pairs, weight = 1000, 20.0
    pearl = bound({"norm": math.sqrt(pairs)}, by=Y, count=weight)
    assert pearl.sensitivity(ADD) ** 2 == pytest.approx(pairs + weight**2)
    assert pearl.sensitivity(REPLACE) ** 2 == pytest.approx(4 * pairs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Segment(size=0, norm=1.0),
        lambda: Segment(size=1, norm=0.0),
        lambda: Segment(size=1, norm=math.inf),
        lambda: Segment(size=1, norm=math.nan),
        lambda: Segment(size=1, norm=1.0, weight=-1.0),
        lambda: Bound(segments=()),
        lambda: Bound(segments=(Segment(size=1, norm=1.0),), count=-1.0),
        lambda: Bound(segments=(Segment(size=1, norm=1.0),), count=math.nan),
    ],
)
def test_bounds_that_make_no_sense(make):
    with pytest.raises(ValueError):
        make()


def test_places_of_segments():
    given = Bound(segments=(Segment(size=2, norm=1.0), Segment(size=5, norm=1.0)))
    assert given.size == 7
    assert given.offsets == (0, 2, 7)
