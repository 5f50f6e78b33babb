"""A vault on a table, for tests: opened on the questions that will be asked of it."""

import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np

from nacre.rows import Block, Row, Source, Stream, TableEncoder
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency, Expected, Plan, Vault
from nacre.vault.exact_sum import ExactSum
from nacre.vault.plan import Planned


def open_vault(
    data,
    schema,
    *questions,
    epsilon=1.0,
    delta=1e-5,
    adjacency="add-remove",
    rows=None,
    charge=None,
    on_progress=None,
    scale=None,
):
    """A vault on `data` whose plan is these questions.

    With a `scale` there is no search for the largest that the budget allows, which for step-wise
    training takes a while.
    """
    if scale is None:
        plan = Plan.of(
            questions,
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            rows=rows,
            unit=schema.unit,
        )
    else:
        adjacency = Adjacency(adjacency)
        asked = [(question, question.release(scale, adjacency)) for question in questions]
        plan = Plan(
            epsilon=epsilon,
            delta=delta,
            adjacency=adjacency,
            asked=tuple(Planned(question=q, release=r, expected=Expected()) for q, r in asked),
            unit=schema.unit,
        )
    stream = Stream(TableEncoder.of(schema), data)
    return Vault(stream, plan, charge=charge, on_progress=on_progress)


def block_of(encoded):
    """Encoded rows as functions of one row see them."""
    shifts = np.array([number.shift for number in encoded.layout.numbers], np.int64)
    rows = Row((encoded.ticks >> shifts).astype(np.int32), encoded.codes.astype(np.int32))
    return Block(rows, encoded.valid)


def compiled_sum(features, bound, encoder):
    """The exact sum over blocks, before noise, compiled once for all tables."""
    exact = ExactSum(features, bound, encoder)
    step = jax.jit(functools.partial(exact._block, exact.features.constants, []))

    def run(blocks):
        with jax.enable_x64(True):
            classes = bound.classes
            totals = jnp.zeros((classes, bound.size), jnp.int64), jnp.zeros(classes, jnp.int64)
            for block in blocks:
                totals = step(*totals, block.rows, block.valid)
            return [np.asarray(total) for total in totals]

    return run


class _Ready:
    """An encoder of rows that are encoded already."""

    unit = None

    def __init__(self, encoder):
        self.shape = encoder.shape

    def open(self, parts):
        batches = [SimpleNamespace(num_rows=len(part), part=part) for part in parts]
        return Source("parts", "arrow", (), None, lambda _: iter(batches))

    def encode(self, batch):
        return block_of(batch.part)


def stream_of(encoder, parts):
    """A stream of rows that are encoded already, in as many parts as a source has batches."""
    return Stream(_Ready(encoder), parts)


def plain_encoder(numbers, codes=0, size=4):
    """An encoder of so many whole numbers up to 2^16 and categories of `size` values."""
    columns = {f"a{i}": Integer(low=0, high=65536) for i in range(numbers)}
    values = tuple(f"v{i}" for i in range(size))
    columns |= {f"c{i}": Categorical(values=values) for i in range(codes)}
    return TableEncoder(Schema(columns))
