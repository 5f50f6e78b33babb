"""Two neighboring tables that an attacker knows, and does not know which of them was used."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.rows import AbstractEncoder, ImageEncoder, Stream, TableEncoder
from nacre.rows.image import as_arrays
from nacre.schema import Categorical, ImageSchema, Integer, Real, Schema
from nacre.vault import Adjacency

ROWS = 20
"""Ordinary rows beside the canary: few, so that a run is cheap; ε promises as much for few."""

TABLE = Schema(
    {
        "age": Integer(low=0, high=100),
        "wage": Real(low=0, high=1000, decimals=2),
        "sex": Categorical(values=("Female", "Male")),
        "job": Categorical(values=("a", "b", "c", "d")),
        "income": Categorical(values=("<=50K", ">50K")),
    },
    label="income",
)
IMAGES = ImageSchema(height=8, width=8, classes=("0", "1"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """Rows that are in both tables, and those that are in one of them only.

    Attributes:
        encoder: of the rows; its schema is simulated, so all of it is public.
        ordinary: rows that both tables have, one dictionary each.
        canary: the row that the second table has.
        other: the row in its place in the first table under replace-one; None under add-remove.
    """

    encoder: AbstractEncoder
    ordinary: tuple[dict[str, Any], ...]
    canary: dict[str, Any]
    other: dict[str, Any] | None = None

    @property
    def adjacency(self) -> Adjacency:
        """Under which the two tables are neighbors."""
        return Adjacency.ADD_REMOVE if self.other is None else Adjacency.REPLACE_ONE

    def rows(self, *, present: bool) -> tuple[dict[str, Any], ...]:
        """All rows of a world."""
        if present:
            return (*self.ordinary, self.canary)
        return self.ordinary if self.other is None else (*self.ordinary, self.other)

    def stream(self, *, present: bool) -> Stream:
        """The rows of a world, as a vault is opened on."""
        return self.stream_of(self.rows(present=present))

    def stream_of(self, rows: tuple[dict[str, Any], ...]) -> Stream:
        """Any rows."""
        return Stream(self.encoder, _as_data(self.encoder, rows))

    def encoder_rows(self, table: pa.Table) -> Any:
        """Decoded rows as functions of one row see them again."""
        if not isinstance(self.encoder, ImageEncoder):
            return Stream(self.encoder, table).whole().rows
        return Stream(self.encoder, as_arrays(table, self.encoder.schema)).whole().rows


def simulated(kind: str, adjacency: Adjacency = Adjacency.ADD_REMOVE, *, seed: int = 0) -> Pair:
    """A pair of small tables, or of small sets of images, with an extreme canary."""
    rng = np.random.default_rng(seed)
    if kind == "image":
        encoder: AbstractEncoder = ImageEncoder(IMAGES)
        ordinary = tuple(
            {"image": rng.integers(0, 80, (8, 8)), "label": int(rng.integers(2))}
            for _ in range(ROWS)
        )
        canary = {"image": np.full((8, 8), 255), "label": 1}
        other = {"image": np.zeros((8, 8), int), "label": 0}
    else:
        encoder = TableEncoder.of(TABLE)
        ordinary = tuple(
            {
                "age": int(rng.integers(20, 60)),
                "wage": round(float(rng.uniform(100, 400)), 2),
                "sex": str(rng.choice(["Female", "Male"])),
                "job": str(rng.choice(["a", "b"])),
                "income": "<=50K",
            }
            for _ in range(ROWS)
        )
        canary = {"age": 100, "wage": 1000.0, "sex": "Male", "job": "d", "income": ">50K"}
        other = {"age": 0, "wage": 0.0, "sex": "Female", "job": "a", "income": "<=50K"}
    replaced = other if adjacency is Adjacency.REPLACE_ONE else None
    return Pair(encoder=encoder, ordinary=ordinary, canary=canary, other=replaced)


def variations(pair: Pair, row: dict[str, Any], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Rows that differ from `row` in one thing; what a hill-climber tries next."""
    if "image" in row:
        shade = row["image"].copy()
        top, left = rng.integers(0, 8, 2)
        shade[top:, left:] = rng.choice([0, 128, 255])
        return [{**row, "image": shade}, {**row, "label": 1 - row["label"]}]
    found = []
    for name, column in TABLE.columns.items():
        if isinstance(column, Integer | Real):
            low, high = float(column.low), float(column.high)
            tried: tuple[Any, ...] = (low, high, (low + high) / 2, rng.uniform(low, high))
            kind = int if isinstance(column, Integer) else float
            found += [{**row, name: kind(value)} for value in tried]
        elif isinstance(column, Categorical):
            found += [{**row, name: value} for value in column.values]
    return [each for each in found if each != row]


def _as_data(encoder: AbstractEncoder, rows: tuple[dict[str, Any], ...]) -> Any:
    if encoder.kind == "image":
        images = np.array([row["image"] for row in rows], np.uint8).reshape(-1, 8, 8)
        return images, np.array([row["label"] for row in rows], np.int64)
    if not rows:
        return pa.table({name: pa.array([], pa.string()) for name in TABLE.names})
    return pa.Table.from_pylist(list(rows))
