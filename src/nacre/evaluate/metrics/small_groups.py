"""How wrong the counts of groups are, by the size of the group."""

import itertools
from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.scores.part import Part, SizeBand
from nacre.evaluate.tables.cells import joint, shares
from nacre.evaluate.tables.comparison import TableComparison

BANDS = tuple(
    SizeBand(low, high) for low, high in itertools.pairwise((0.001, 0.003, 0.01, 0.03, 0.1, 1.0))
)
OVERALL = SizeBand(0.01, 0.03)
PAIRS = 400


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The median relative error over all groups of 1% to 3%, then of each band of sizes.

    A group is a cell of a cross-table of two columns; its relative error is |q - p|/p for real
    share p and synthetic share q.
    """
    real, synthetic = comparison.real.binned, comparison.synthetic.binned
    pairs = list(itertools.combinations(range(len(real)), 2))
    if len(pairs) > PAIRS:
        drawn = comparison.rng("small-groups").choice(len(pairs), PAIRS, replace=False)
        pairs = [pairs[i] for i in sorted(drawn)]
    sizes, errors = [], []
    for i, j in pairs:
        _, p, q = shares(joint([real[i], real[j]]), joint([synthetic[i], synthetic[j]]))
        some = p >= BANDS[0].low
        sizes.append(p[some])
        errors.append(np.abs(q[some] - p[some]) / p[some])
    if not sizes:
        return
    size, error = np.concatenate(sizes), np.concatenate(errors)
    parts: list[tuple[Part, SizeBand]] = [("", OVERALL), *((band, band) for band in BANDS)]
    for part, band in parts:
        inside = (size >= band.low) & (size < band.high)
        if inside.any():
            yield Value(part, float(np.median(error[inside])))


METRIC = Metric(
    name="small-groups",
    title="Counts of small groups",
    group="pairs",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="By how much the count of a group defined by two columns is typically wrong (median "
    "relative error; overall: groups of 1% to 3% of the rows).",
    compute=compute,
    reference="fresh",
    quick=True,
)
