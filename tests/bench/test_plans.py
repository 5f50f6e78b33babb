"""The cuts of the papers' tables: sizes, rates, groups."""

import dataclasses
import os

import numpy as np
import pyarrow as pa
import pytest
from bench.protocol import papers_split
from bench.tables.plans import PLANS, Plan, cut, read
from bench.tables.published import TABLES

from nacre.schema import Boolean, Categorical, Integer, Real, Schema

SCHEMA = Schema(
    {
        "id": Integer(low=0, high=10_000),
        "x": Real(low=0, high=1, nullable=True),
        "y": Categorical(values=("a", "b")),
    },
    label="y",
)
PLAN = Plan(source="none", positive="b", part=0.8)


def table(rows: int = 5000) -> pa.Table:
    """Every fifth row is a "b"; every tenth has a gap; ten rows a group; half is "train"."""
    place = np.arange(rows)
    return pa.table(
        {
            "id": place,
            "x": pa.array([None if i % 10 == 0 else 0.5 for i in place], pa.float64()),
            "y": np.where(place % 5 == 0, "b", "a"),
            "group": [f"g{i // 10}" for i in place],
            "split": np.where(place < rows // 2, "train", "test"),
        }
    )


def counts(found: pa.Table) -> dict[str, int]:
    return {value: np.asarray(found["y"]).tolist().count(value) for value in ("a", "b")}


def test_split_is_a_partition_of_the_right_size():
    split = cut(PLAN, table(), SCHEMA, seed=0)
    assert (split.train.num_rows, split.test.num_rows) == (4000, 1000)
    seen = np.concatenate([split.train["id"], split.test["id"]])
    assert sorted(seen) == list(range(5000))
    assert split.train.column_names == ["id", "x", "y"]


def test_only_the_most_frequent_class_is_undersampled():
    split = cut(dataclasses.replace(PLAN, rate=0.3), table(), SCHEMA, seed=0)
    kept = {v: counts(split.train)[v] + counts(split.test)[v] for v in ("a", "b")}
    assert kept["b"] == 1000
    assert abs(kept["a"] - 1200) < 5 * np.sqrt(4000 * 0.3 * 0.7)


def test_seed_decides():
    first, same, other = (cut(PLAN, table(), SCHEMA, seed=s).train for s in (1, 1, 2))
    assert first.equals(same)
    assert not first.equals(other)


@pytest.mark.parametrize(
    ("change", "rows"),
    [({"official": True}, 2500), ({"rows": 700}, 700), ({"first": 60}, 60), ({"missing": 1}, 4500)],
)
def test_rows_to_begin_with(change, rows):
    split = cut(dataclasses.replace(PLAN, **change), table(), SCHEMA, seed=0)
    assert split.train.num_rows + split.test.num_rows == rows
    if "first" in change:
        assert max(np.asarray(split.train["id"])) < 60


def test_groups_stay_together():
    split = cut(dataclasses.replace(PLAN, group="group"), table(), SCHEMA, seed=0)
    fitted, scored = (set(np.asarray(t["id"]) // 10) for t in (split.train, split.test))
    assert not fitted & scored
    assert (len(fitted), len(scored)) == (400, 100)


def test_official_rows_are_fitted_and_the_others_held_out():
    split = cut(dataclasses.replace(PLAN, held_out=True, leave=("x",)), table(), SCHEMA, seed=0)
    assert np.asarray(split.train["id"]).tolist() == list(range(2500))
    assert np.asarray(split.test["id"]).tolist() == list(range(2500, 5000))
    assert split.train.column_names == list(split.schema.names) == ["id", "y"]


def test_a_boolean_label_is_undersampled_too():
    schema = Schema({"y": Boolean()}, label="y")
    rows = pa.table({"y": np.arange(1000) % 4 == 0})
    split = cut(dataclasses.replace(PLAN, rate=0.1), rows, schema, seed=0)
    labels = np.concatenate([split.train["y"], split.test["y"]])
    assert labels.sum() == 250
    assert len(labels) < 400


def test_adult_is_cut_as_the_adult_measurement_cuts_it():
    ours, other = read("adult", 3), papers_split(3)
    assert ours.train.equals(other.train)
    assert ours.test.equals(other.test)


def test_every_published_table_has_a_plan():
    assert {cell.dataset for table in TABLES for cell in table.cells} <= set(PLANS)


# Rows of the paper's Table 1 that are exact: by its split, what is fitted and scored.
@pytest.mark.data
@pytest.mark.skipif("NACRE_DATA" not in os.environ, reason="NACRE_DATA names no folder of tables")
@pytest.mark.parametrize(
    ("name", "fitted", "all_rows"), [("cervical", 602, 753), ("isolet", 4366, 6238)]
)
def test_rows_of_the_paper(name, fitted, all_rows):
    split = read(name, 0)
    assert split.train.num_rows == fitted
    assert split.train.num_rows + split.test.num_rows == all_rows
