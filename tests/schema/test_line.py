"""Where distances end, against brute force."""

import itertools

import numpy as np
import pytest

from nacre.schema import Line

CASES = [
    Line(
        first=first,
        step=step,
        ticks=9,
        anchor_first=3,
        anchor_step=anchor_step,
        anchor_ticks=7,
        anchor_nullable=True,
        up=up,
        gap=gap,
    )
    for first, step, anchor_step, up, gap in itertools.product(
        (-4, 0, 5), (1, 3), (1, 2, 5), (1, -1), (0, 1)
    )
]


def ends(line, start, distance):
    return start + line.up * distance


@pytest.mark.parametrize("line", CASES)
def test_reach_holds_every_distance_that_ends_in_bounds_and_no_other(line):
    every = np.arange(60)
    for start in range(-25, 40):
        low, high = line.reach(np.array([start]))
        inside = [d for d in every if 0 <= ends(line, start, d) <= line.ticks]
        assert inside == [d for d in every if low[0] <= d <= high[0]]


@pytest.mark.parametrize("line", CASES)
def test_anchors_are_those_from_which_one_of_the_distances_is_in_bounds(line):
    anchors = np.arange(line.anchor_ticks + 1)
    starts = line.nearest(anchors)
    for low, high in itertools.combinations_with_replacement(range(14), 2):
        first, last = line.anchors(np.array([low]), np.array([high]))
        wanted = [
            any(0 <= ends(line, start, d) <= line.ticks for d in range(low, high + 1))
            for start in starts
        ]
        assert ((anchors >= first) & (anchors <= last)).tolist() == wanted


def test_a_range_of_sixty_bits_overflows_nowhere():
    most = 2**60
    line = Line(0, 1, most, 0, 1, most, False, -1, 1)
    assert line.exact
    first, last = line.anchors(np.array([most - 2]), np.array([most - 1]))
    assert (int(first[0]), int(last[0])) == (most - 1, most)
