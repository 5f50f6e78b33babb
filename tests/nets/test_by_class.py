"""One network a class: each draws its own class, and strangers' files are refused."""

import types

import numpy as np
import pytest

from nacre.errors import NacreError
from nacre.nets.by_class import NetworksByClass
from nacre.nets.trained import finished, paper_layers, table_network
from nacre.nets.vector import RowVector
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(numbers=(Number("a", 1000),), codes=(Code("y", 2), Code("c", 3)))
ENCODER = types.SimpleNamespace(layout=LAYOUT)


@pytest.fixture(scope="module")
def generator():
    rng = np.random.default_rng(0)
    vector = RowVector(LAYOUT, label=0)
    shares = np.array([0.25, 0.75])
    parts = []
    for place in range(2):
        part = finished(table_network(vector, paper_layers(vector, 4), 4, rng), shares, rng)
        part.arrays[-1]["bias"] = np.array([9.0 if place else -9.0, 0, 0, 0], np.float32)
        parts.append(part)
    return NetworksByClass(parts=tuple(parts))


def test_each_class_is_drawn_by_its_own_network(generator):
    drawn = generator.sample(400, np.random.default_rng(1))
    y = drawn.codes[:, 0]
    assert y.sum() == 300
    assert drawn.ticks[y == 0].max() < 100 and drawn.ticks[y == 1].min() > 900


def test_given_its_label_it_draws_no_other(generator):
    only = generator.given({0: 0})
    assert not only.sample(50, np.random.default_rng(2)).codes[:, 0].any()
    assert generator.given({1: 2}) is None


def test_it_comes_back_from_plain_data_and_nothing_else_does(generator):
    config, arrays = generator.state()
    again = NetworksByClass.restore(config, arrays, ENCODER)
    one, two = (g.sample(30, np.random.default_rng(3)) for g in (generator, again))
    np.testing.assert_array_equal(one.ticks, two.ticks)
    for parts in ([], config["parts"][:1], config["parts"] * 2):
        with pytest.raises((NacreError, KeyError)):
            NetworksByClass.restore({"parts": parts}, arrays, ENCODER)
