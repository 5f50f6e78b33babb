"""One row more changes nothing that is said in the clear: noise, rates, steps, the whole record."""

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.rows import Label
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency, Bound, Keys, Program, Segment, Steps, Sum
from nacre.vault.doors import sum as sum_door

SCHEMA = Schema(columns={"a": Integer(low=0, high=9), "y": Categorical(values=("p", "q"))})
KEYS = Keys(name="values", column="y", epsilon=0.05, delta=1e-7)
BOUND = Bound(segments=(Segment(size=1, norm=1.0),), by=Label("y", 2), count=0.5)

SUM = Sum(name="sums", share=0.5, bound=BOUND)
STEPS = Steps(name="training", share=0.5, steps=5, batch=100, size=1, rows=200)
PROGRAM = Program(
    state=jnp.zeros(1),
    prepare=lambda state, key: state,
    per_row=(lambda s, e, row, k: row.numbers / 9.0,),
    update=lambda state, sums, key: sums[0],
)


def table(count):
    return pa.table({"a": np.arange(count) % 10, "y": ["p"] * count})


def everything(count, adjacency, monkeypatch):
    """All releases of a life in the vault, the scales of its noise and what progress was told."""
    scales, told = [], []
    monkeypatch.setattr(
        sum_door, "add_discrete_gaussian", lambda sums, scale: scales.append(scale) or sums
    )
    vault = open_vault(
        table(count),
        SCHEMA,
        KEYS,
        SUM,
        STEPS,
        adjacency=adjacency,
        scale=0.1,
        on_progress=lambda *what: told.append(what),
    )
    vault.keys(KEYS)
    sums = vault.sum(SUM, lambda row: row.numbers / 9.0)
    vault.train(STEPS, PROGRAM, key=jax.random.key(0))
    said = vault.guarantee().to_dict()
    return said, scales, told, sums.noise, sums.count_noise


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_record_is_the_same_for_one_row_more(adjacency, monkeypatch):
    first = everything(200, adjacency, monkeypatch)
    assert len(first[0]["releases"]) == 3
    assert everything(201, adjacency, monkeypatch) == first
