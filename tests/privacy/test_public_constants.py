"""One row more changes nothing that is said in the clear: noise, rates, steps, the whole record."""

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency, Bound, Segment, Vault
from nacre.vault import vault as vault_module
from nacre.vault.doors.steps import Stage

SCHEMA = Schema(columns={"a": Integer(low=0, high=9), "y": Categorical(values=("p", "q"))})
BOUND = Bound(segments=(Segment(size=1, norm=1.0),), by="y", count=0.5)


def table(count):
    return pa.table({"a": np.arange(count) % 10, "y": ["p"] * count})


def everything(count, adjacency, monkeypatch):
    """All releases of a life in the vault, the scales of its noise and what progress was told."""
    scales, told = [], []
    monkeypatch.setattr(
        vault_module, "add_discrete_gaussian", lambda sums, scale: scales.append(scale) or sums
    )
    vault = Vault(
        table(count),
        SCHEMA,
        epsilon=2.0,
        delta=1e-5,
        adjacency=adjacency,
        on_progress=lambda *what: told.append(what),
    )
    vault.keys("y", epsilon=0.05, delta=1e-7)
    sums = vault.sum(lambda row: row.numbers / 65536.0, BOUND, share=0.1, name="sums")
    vault.train(
        prepare=lambda state, key: state,
        stages=[Stage(per_row=lambda s, e, row, k: row.numbers / 65536.0, clip=1.0)],
        update=lambda state, sums, key: sums[0],
        state=jnp.zeros(1),
        steps=50,
        batch=100,
        rows=200,
        share=0.1,
        name="training",
        key=jax.random.key(0),
    )
    said = vault.guarantee().to_dict()
    return said, scales, told, sums.noise, sums.count_noise


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_record_is_the_same_for_one_row_more(adjacency, monkeypatch):
    first = everything(200, adjacency, monkeypatch)
    assert len(first[0]["releases"]) == 3
    assert everything(201, adjacency, monkeypatch) == first
