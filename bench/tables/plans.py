"""How DP-MERF cuts each of its eight tables, written as facts, and the cut itself.

Rates, splits and row counts are those of the paper's Tables 1 and 4; where the paper's text is
silent (which rows of Isolet, Covertype, Intrusion), those that give its row counts.
"""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.protocol import Split
from nacre.datasets import load
from nacre.schema import Schema


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How one table is cut.

    Attributes:
        source: its name in `nacre.datasets`.
        positive: the label value that ROC and PRC are about; None if F1 over all classes is.
        part: the share of rows to fit; the others are scored on.
        rate: the share of the most frequent class that is kept.
        official: only rows of the official training part (`split` is "train").
        rows: how many rows to begin with, drawn by the seed; None for all.
        first: how many rows at the top of the file to begin with; None for all.
        missing: rows with this many missing values or more are left out; None for no limit.
        group: rows with the same value of this column stay together.
        unit: numbers reach the classifiers scaled to [0, 1] by the schema, as PEARL has it; else
            standardized by the table that the classifier learns from.
    """

    source: str
    positive: str | None
    part: float
    rate: float = 1.0
    official: bool = False
    rows: int | None = None
    first: int | None = None
    missing: int | None = None
    group: str | None = None
    unit: bool = False


PLANS = {
    "adult": Plan(
        source="adult", positive=">50K", part=0.9, rate=0.4, official=True, rows=22_561, unit=True
    ),
    "census": Plan(
        source="census_income_kdd", positive="50000+", part=0.8, rate=0.4, official=True
    ),
    "cervical": Plan(source="cervical_cancer", positive="1", part=0.8, missing=10),
    "credit": Plan(source="creditcard", positive="1", part=0.8, rate=0.005),
    "epileptic": Plan(source="epileptic_seizure", positive="seizure", part=0.7, group="recording"),
    "isolet": Plan(source="isolet", positive="vowel", part=0.7, official=True),
    "covtype": Plan(source="covertype", positive=None, part=0.7, rate=0.03, first=20_000),
    "intrusion": Plan(source="kddcup99_10pct", positive=None, part=0.7, rate=0.1, rows=394_021),
}


def cut(plan: Plan, table: pa.Table, schema: Schema, seed: int) -> Split:
    """Begin with the plan's rows, undersample the most frequent class, split; all by the seed.

    The undersampled table is the private one, as in the papers: undersampling is no release.
    """
    rng = np.random.default_rng(seed)
    if plan.official:
        table = table.filter(pc.equal(table["split"], "train"))
    if plan.first is not None:
        table = table.slice(0, plan.first)
    if plan.missing is not None:
        table = table.filter(pa.array(_missing(table, schema) < plan.missing))
    if plan.rows is not None:
        table = table.take(rng.permutation(table.num_rows)[: plan.rows])
    if plan.rate < 1:
        labels = table[schema.label].combine_chunks().dictionary_encode()
        codes = np.asarray(labels.indices)
        rare = codes != np.bincount(codes).argmax()
        table = table.filter(pa.array(rare | (rng.random(len(codes)) < plan.rate)))
    fitted, scored = _parts(plan, table, rng)
    table = table.select(list(schema.names))
    return Split(table.take(fitted), table.take(scored), schema)


def read(name: str, seed: int) -> Split:
    """One of the eight tables, cut by the seed."""
    plan = PLANS[name]
    return cut(plan, *load(plan.source), seed)


def _missing(table: pa.Table, schema: Schema) -> np.ndarray:
    """How many values of each row are missing."""
    gaps = np.zeros(table.num_rows, int)
    for name in schema.names:
        gaps += np.asarray(pc.is_null(table[name], nan_is_null=True))
    return gaps


def _parts(plan: Plan, table: pa.Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The rows to fit and the rows to score on."""
    if plan.group is None:
        order = rng.permutation(table.num_rows)
        end = int(plan.part * len(order))
        return order[:end], order[end:]
    groups = np.asarray(table[plan.group].combine_chunks().dictionary_encode().indices)
    order = rng.permutation(groups.max() + 1)
    inside = np.isin(groups, order[: int(plan.part * len(order))])
    return np.flatnonzero(inside), np.flatnonzero(~inside)
