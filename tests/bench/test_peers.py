"""The public encoding that peers are given, and what happens without them."""

import importlib.util

import numpy as np
import pyarrow as pa
import pytest
from bench.protocol import Split

from bench import peers
from nacre.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=90),
        "children": Integer(low=0, high=3),
        "sex": Categorical(values=("f", "m")),
    },
    label="sex",
)
TABLE = pa.table(
    {
        "age": np.arange(91),
        "children": np.arange(91) % 4,
        "sex": np.where(np.arange(91) % 2 == 0, "f", "m"),
    }
)


def test_restored_values_fall_into_the_bins_they_came_from():
    rows = peers.discretize(TABLE, SCHEMA)
    assert set(rows["number 0"]) == set(range(peers.BINS))
    again = peers.restore(rows, SCHEMA, np.random.default_rng(0))
    assert peers.discretize(again, SCHEMA).equals(rows)
    assert again["children"].to_pylist() == TABLE["children"].to_pylist()
    assert again["sex"].to_pylist() == TABLE["sex"].to_pylist()
    assert again["age"].to_pylist() != TABLE["age"].to_pylist()


@pytest.mark.skipif(importlib.util.find_spec("snsynth") is not None, reason="it is installed")
def test_a_missing_peer_says_what_to_install():
    split = Split(TABLE, TABLE, SCHEMA)
    with pytest.raises(SystemExit, match="smartnoise-mst is not installed.*smartnoise-synth"):
        peers.run("smartnoise-mst", split, 1.0, 1e-5, 0)


def test_unknown_peers_are_refused():
    with pytest.raises(SystemExit, match="Unknown: magic"):
        peers.main(["--against", "magic"])
