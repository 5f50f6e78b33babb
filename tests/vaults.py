"""A vault on a table, for tests: opened on the questions that will be asked of it."""

import numpy as np

from nacre.rows import Block, Row, Stream, TableEncoder
from nacre.vault import Plan, Vault


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
):
    """A vault on `data` whose plan is these questions."""
    plan = Plan.of(questions, epsilon=epsilon, delta=delta, adjacency=adjacency, rows=rows)
    stream = Stream(TableEncoder.of(schema), data)
    return Vault(stream, plan, charge=charge, on_progress=on_progress)


def block_of(encoded):
    """Encoded rows as functions of one row see them."""
    shifts = np.array([number.shift for number in encoded.layout.numbers], np.int64)
    rows = Row((encoded.ticks >> shifts).astype(np.int32), encoded.codes.astype(np.int32))
    return Block(rows, encoded.valid)
