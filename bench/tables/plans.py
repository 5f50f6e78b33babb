"""What is run on each of the papers' tables, written as facts, and how the table is cut.

Rates, splits and row counts are those of DP-MERF's Tables 1 and 4; where the paper's text is silent
(which rows of Isolet, Covertype, Intrusion), those that give its row counts.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.protocol import Split
from bench.tables.published import autogan, pearl
from nacre.datasets import load
from nacre.evaluate.tables.classifiers import PUBLISHED
from nacre.schema import Schema


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How one table is cut, and what is run on it.

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
        held_out: the official training rows are fitted, and the others scored on.
        leave: columns that are left out.
        unit: numbers reach the classifiers scaled to [0, 1] by the schema, as PEARL has it; else
            standardized by the table that the classifier learns from.
        epsilons: that methods are fitted with; infinite without privacy.
        delta: of all private fits.
        adjacency: of methods that ask once.
        stepwise: adjacency of methods that train step by step, as the papers' accountants have it.
        classifiers: that learn from the synthetic rows.
        metrics: of the synthetic rows themselves, by their names in `nacre.evaluate`.
        settings: by variant, what this table changes in it.
        without_privacy: the same, and on top of it, where epsilon is infinite.
        seconds: that all classifiers take, about: only to put runs in order.
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
    held_out: bool = False
    leave: tuple[str, ...] = ()
    unit: bool = False
    epsilons: tuple[float, ...] = (1.0, math.inf)
    delta: float = 1e-5
    adjacency: str = "replace-one"
    stepwise: str = "add-remove"
    classifiers: tuple[str, ...] = PUBLISHED
    metrics: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    without_privacy: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    seconds: float = 30

    def settings_of(self, variant: str, epsilon: float) -> dict[str, Any]:
        """What this table changes in a variant."""
        found = dict(self.settings.get(variant, {}))
        if math.isinf(epsilon):
            found |= self.without_privacy.get(variant, {})
        return found


def _fourier(private: int, without: int) -> dict[str, Any]:
    """DP-MERF's Table 4: features with privacy and without it, a cosine and a sine a frequency."""
    return {
        "settings": {"merf-network": {"frequencies": private // 2}},
        "without_privacy": {"merf-network": {"frequencies": without // 2}},
    }


PLANS = {
    "adult": Plan(
        source="adult",
        positive=">50K",
        part=0.9,
        rate=0.4,
        official=True,
        rows=22_561,
        unit=True,
        metrics=pearl.METRICS,
        seconds=25,
        **_fourier(1000, 50_000),
    ),
    "census": Plan(
        source="census_income_kdd",
        positive="50000+",
        part=0.8,
        rate=0.4,
        official=True,
        seconds=600,
        **_fourier(10_000, 10_000),
    ),
    "cervical": Plan(
        source="cervical_cancer",
        positive="1",
        part=0.8,
        missing=10,
        seconds=5,
        **_fourier(2000, 2000),
    ),
    "credit": Plan(
        source="creditcard",
        positive="1",
        part=0.8,
        rate=0.005,
        metrics=pearl.METRICS,
        seconds=10,
        **_fourier(5000, 50_000),
    ),
    "epileptic": Plan(
        source="epileptic_seizure",
        positive="seizure",
        part=0.7,
        group="recording",
        seconds=120,
        **_fourier(80_000, 100_000),
    ),
    "isolet": Plan(
        source="isolet",
        positive="vowel",
        part=0.7,
        official=True,
        seconds=150,
        **_fourier(500, 100_000),
    ),
    "covtype": Plan(
        source="covertype",
        positive=None,
        part=0.7,
        rate=0.03,
        first=20_000,
        seconds=60,
        **_fourier(1000, 1000),
    ),
    "intrusion": Plan(
        source="kddcup99_10pct",
        positive=None,
        part=0.7,
        rate=0.1,
        rows=394_021,
        seconds=600,
        **_fourier(2000, 2000),
    ),
    "adult-official": Plan(
        source="adult",
        positive=">50K",
        part=1.0,
        held_out=True,
        leave=("fnlwgt", "education-num"),
        adjacency="add-remove",
        epsilons=(math.inf, 1.5, 1.0, 0.8),
        classifiers=("random forest",),
        metrics=autogan.METRICS,
        seconds=20,
    ),
}


def cut(plan: Plan, table: pa.Table, schema: Schema, seed: int) -> Split:
    """Begin with the plan's rows, undersample the most frequent class, split; all by the seed.

    The undersampled table is the private one, as in the papers: undersampling is no release.
    """
    rng = np.random.default_rng(seed)
    schema = schema.select([name for name in schema.names if name not in plan.leave])
    if plan.held_out:
        trained = pc.equal(table["split"], "train")
        parts = [
            table.filter(kept).select(list(schema.names)) for kept in (trained, pc.invert(trained))
        ]
        return Split(*parts, schema)
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
    """One of the tables, cut by the seed."""
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
