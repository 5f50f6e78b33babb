"""Any so many parts make up a secret; fewer say nothing."""

import itertools
import secrets

import pytest

from nacre.errors import NacreError
from nacre.sites.masked import shamir

SECRET = bytes(range(32))


def test_any_threshold_of_parts_make_up_the_secret():
    parts = dict(enumerate(shamir.split(SECRET, 6, 4), start=1))
    for chosen in itertools.combinations(parts, 4):
        assert shamir.combine({place: parts[place] for place in chosen}, 32) == SECRET
    assert shamir.combine(parts, 32) == SECRET


def test_fewer_parts_fit_every_secret_as_well():
    """Of t - 1 parts and any other secret there is exactly one polynomial: so they tell nothing."""
    parts = dict(enumerate(shamir.split(SECRET, 5, 3), start=1))
    other = secrets.token_bytes(32)
    known = {0: other.rjust(shamir.BYTES, b"\0"), 1: parts[1], 2: parts[2]}
    # The value at place 3 of the polynomial through these, by moving every place by 3.
    moved = {place - 3: part for place, part in known.items()}
    third = shamir.combine(moved, shamir.BYTES)
    assert shamir.combine({1: parts[1], 2: parts[2], 3: third}, 32) == other
    assert third != parts[3]


def test_parts_are_drawn_anew_and_look_like_nothing():
    first, second = (shamir.split(SECRET, 3, 2) for _ in range(2))
    assert not set(first) & set(second)
    assert all(len(part) == shamir.BYTES and SECRET not in part for part in first)


def test_a_known_answer():
    # 7 + 5 x + 3 x^2 at 1 and 2.
    assert int.from_bytes(shamir.part_at(1, b"\7", [5, 3]), "big") == 15
    assert int.from_bytes(shamir.part_at(2, b"\7", [5, 3]), "big") == 29
    assert pow(3, shamir.PRIME - 1, shamir.PRIME) == 1


def test_parts_that_do_not_fit_are_noticed():
    parts = dict(enumerate(shamir.split(SECRET, 3, 3), start=1))
    parts[2] = bytes(shamir.BYTES)
    with pytest.raises(NacreError, match="do not fit"):
        shamir.combine(parts, 32)
    for number, threshold in ((2, 3), (2, 0)):
        with pytest.raises(NacreError):
            shamir.split(SECRET, number, threshold)
