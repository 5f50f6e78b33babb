"""Persons of one row and of fifty, and how far one of them moves an answer."""

import numpy as np
import pyarrow as pa

from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency

ROWS = 5
COLUMNS = {
    "a": Integer(low=0, high=65536),
    "b": Integer(low=0, high=65536),
    "label": Categorical(values=("u", "v", "w", "x", "y")),
}
SCHEMA = Schema(COLUMNS, unit={"column": "who", "rows": ROWS})
ALONE = Schema(COLUMNS)


def rows_of(who, numbers, labels):
    numbers = np.atleast_2d(numbers)
    return {
        "who": np.full(len(numbers), who),
        "a": numbers[:, 0],
        "b": numbers[:, 1],
        "label": np.broadcast_to(np.asarray(labels), len(numbers)),
    }


def table(*parts):
    return pa.table({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


RNG = np.random.default_rng(0)
OTHERS = [
    rows_of(
        who, RNG.integers(0, 65537, (1 + who % ROWS, 2)), RNG.choice(["u", "v"], 1 + who % ROWS)
    )
    for who in range(20)
]
UP, DOWN, SIDE = [65536, 65536], [0, 0], [65536, 0]
PERSONS = {
    "one row": rows_of(99, UP, "u"),
    "fifty like it": rows_of(99, [UP] * 50, "u"),
    "fifty the other way": rows_of(99, [DOWN] * 50, "v"),
    "fifty to the side": rows_of(99, [SIDE] * 50, "w"),
    "fifty to the other": rows_of(99, [SIDE[::-1]] * 50, "w"),
    "of all kinds": rows_of(99, [UP, DOWN, SIDE] * 4, ["u", "v", "w"] * 4),
    "with bad rows": rows_of(99, [UP] * 4, ["u", "nobody knows", "u", "u"]),
    "bad rows only": rows_of(99, [UP] * 7, "nobody knows"),
}


def furthest(vectors, start, adjacency):
    """The largest move between neighbors: from no person to one, or from one to another."""
    if adjacency is Adjacency.ADD_REMOVE:
        return max(np.linalg.norm(each - start) for each in vectors)
    return max(np.linalg.norm(one - other) for one in vectors for other in vectors)
