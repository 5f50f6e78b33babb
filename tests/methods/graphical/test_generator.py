"""The graphical generator: draws follow the network, files that lie are refused."""

import copy
import dataclasses
import tracemalloc

import numpy as np
import pytest

from nacre.methods.graphical.generator import GraphicalGenerator
from nacre.methods.graphical.tree import Network, Tree, onto
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    {
        "a": Integer(low=0, high=5),
        "b": Categorical(values=("x", "y", "z")),
        "c": Categorical(values=("u", "v")),
        "y": Categorical(values=("no", "yes")),
    },
    label="y",
)
LAYOUT, ENCODER = SCHEMA.layout, TableEncoder(SCHEMA)
LABEL = LAYOUT.code("y")


@pytest.fixture
def generator():
    """Columns a (6 cells in 3 bins), b, c in a chain c - b - a, two classes."""
    rng = np.random.default_rng(2)
    tree = Tree.of([(0, 1), (1, 2)], [((0, 1), (1, 2))])
    sizes = (3, 3, 2)
    logs = [rng.normal(size=(2, *(sizes[column] for column in c))) for c in tree.cliques]
    inside = np.concatenate([np.full((2, 6), 0.5), np.ones((2, 5))], axis=1)
    inside[0, :2] = 0.9, 0.1
    return GraphicalGenerator(
        network=Network.of(tree, logs),
        bins=np.array([0, 0, 1, 1, 2, 2, 0, 1, 2, 0, 1]),
        inside=inside.astype(np.float32),
        counts=np.ones((2, 11), np.float32),
        noise=np.array([3.0, 2.0, 1.0]),
        sizes=(6, 3, 2),
        most=512,
        label=LABEL,
        layout=LAYOUT,
    )


def draw(generator, n=40_000, fixed=None):
    found = generator.given(fixed or {}).sample(n, np.random.default_rng(1))
    codes = {name: found.codes[:, LAYOUT.code(name)] for name in "bcy"}
    return found.ticks[:, 0], codes


def test_draws_follow_the_network(generator):
    ticks, codes = draw(generator)
    counts = np.zeros((2, 3, 3))
    np.add.at(counts, (codes["y"], ticks // 2, codes["b"]), 1)
    expected = generator.network.pairs()[0, 1]
    assert np.abs(counts / counts.sum() - expected).max() < 0.006
    far = np.zeros((2, 3, 2))
    np.add.at(far, (codes["y"], ticks // 2, codes["c"]), 1)
    assert np.abs(far / far.sum() - generator.network.pairs()[0, 2]).max() < 0.006
    # Cells inside bins by class.
    low = (ticks < 2) & (codes["y"] == 0)
    assert (ticks[low] == 0).mean() == pytest.approx(0.9, abs=0.02)


def test_conditions_hold_by_bayes_rule(generator):
    place = {name: LAYOUT.code(name) for name in "bcy"}
    ticks, codes = draw(generator, fixed={place["c"]: 1, place["y"]: 0})
    assert set(codes["c"]) == {1}
    assert set(codes["y"]) == {0}
    joint = generator.network.pairs()[0, 2][0, :, 1]
    expected = joint / joint.sum()
    assert np.abs(np.bincount(ticks // 2, minlength=3) / len(ticks) - expected).max() < 0.006
    _, given_b = draw(generator, fixed={place["b"]: 2})
    table = onto(generator.network.marginals()[0], generator.network.tree.cliques[0], (1,))[:, 2]
    assert given_b["y"].mean() == pytest.approx(table[1] / table.sum(), abs=0.006)


def test_impossible_conditions_are_refused(generator):
    generator.network.weights[:] = 1, 0
    with pytest.raises(ValueError, match="no probability"):
        draw(generator, n=5, fixed={LABEL: 1})


def test_state_and_back(generator):
    config, arrays = generator.state()
    again = GraphicalGenerator.restore(config, arrays, ENCODER)
    for one, other in zip(draw(generator, n=200), draw(again, n=200), strict=True):
        np.testing.assert_equal(one, other)
    names = [measurement.column for measurement in again.measured()]
    assert sorted(names) == ["a", "b", "c", "y"]


def damaged(config, arrays, what):
    config, arrays = copy.deepcopy(config), {k: v.copy() for k, v in arrays.items()}
    tree = config["network"]["tree"]
    match what:
        case "negative":
            arrays["network.tables.0"] -= 1
        case "not a distribution":
            arrays["network.tables.1"] *= 2
        case "nan":
            arrays["network.weights"][0] = np.nan
        case "no weight":
            arrays["network.weights"][:] = 0
        case "wrong shape":
            arrays["network.tables.0"] = arrays["network.tables.0"][:, :2]
        case "bins":
            arrays["bins"][3] = 7
        case "inside":
            arrays["inside"][:] = 1
        case "loop":
            tree["parents"][0] = 1
        case "column twice":
            tree["cliques"][1] = [0, 1]
        case "column missing":
            tree["cliques"], tree["parents"] = tree["cliques"][:1], [None]
            config["network"]["tables"] = config["network"]["tables"][:1]
        case "unknown column":
            tree["cliques"][1][1] = 9
        case "noise":
            arrays["noise"][1] = 0.0
        case "few cells" | "many cells":
            config["most"] = 3 if what == "few cells" else 10**12
        case "far bin":
            arrays["bins"][3] = 1 << 40
        case "long clique":
            tree["cliques"][1] = list(range(200_000))
        case "classes twice":
            arrays["network.weights"] = np.ones((2, 3))
        case "tall and empty":
            arrays["network.tables.1"] = np.zeros((1 << 24, 0, 2))
    return config, arrays


@pytest.mark.parametrize(
    "what",
    [
        *("negative", "not a distribution", "nan", "no weight", "wrong shape", "bins", "inside"),
        *("loop", "column twice", "column missing", "unknown column", "noise"),
        *("few cells", "many cells", "far bin", "long clique", "classes twice", "tall and empty"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(generator, what):
    config, arrays = damaged(*generator.state(), what)
    tracemalloc.start()
    with pytest.raises((ValueError, IndexError)):
        GraphicalGenerator.restore(config, arrays, ENCODER)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 25


def test_another_layout_is_refused(generator):
    with pytest.raises(ValueError, match="another layout"):
        draw(dataclasses.replace(generator, layout=SCHEMA.select(["a", "y"]).layout), n=1)
    more = Schema(SCHEMA.columns | {"y": Categorical(values=("no", "yes", "maybe"))}, label="y")
    with pytest.raises(ValueError, match="another layout"):
        draw(dataclasses.replace(generator, layout=more.layout), n=1)
