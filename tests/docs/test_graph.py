"""The picture of the rooms is that of today, and has no circle."""

import graphlib
from importlib import util

import pytest

from .pages import DOCS

spec = util.spec_from_file_location("graph_of_rooms", DOCS / "graph.py")
graph = util.module_from_spec(spec)
spec.loader.exec_module(graph)


def test_the_picture_is_that_of_today():
    assert graph.page() == graph.PAGE.read_text(encoding="utf-8"), "run `make graph`"


def test_a_circle_is_noticed():
    with pytest.raises(graphlib.CycleError):
        graph.reduced({"a": {"b"}, "b": {"a"}})
    assert graph.reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})["a"] == {"b"}
