"""The picture of the rooms is that of today, and has no circle."""

import graphlib

import pytest

from docs import graph


def test_the_picture_is_that_of_today():
    assert graph.page() == graph.PAGE.read_text(encoding="utf-8"), "run `make graph`"


def test_a_circle_is_noticed():
    with pytest.raises(graphlib.CycleError):
        graph.reduced({"a": {"b"}, "b": {"a"}})
    assert graph.reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})["a"] == {"b"}
