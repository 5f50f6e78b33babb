"""Dimension-wise probability: the share of ones in each two-valued column (Choi et al., 2017)."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def probabilities(comparison: TableComparison) -> Iterator[tuple[str, float, float]]:
    """For each one-hot column: its name, its real and its synthetic share.

    A column with two values gives one (the second), one with more gives one for each value.
    """
    for name in comparison.real.names:
        if comparison.real.is_number(name):
            continue
        real, synthetic = comparison.real.bin(name), comparison.synthetic.bin(name)
        p, q = (np.bincount(t.codes, minlength=real.size) / len(t.codes) for t in (real, synthetic))
        for code in range(real.size) if real.size != 2 else (1,):
            yield f"{name} = {code}", float(p[code]), float(q[code])


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The mean absolute difference over all one-hot columns."""
    gaps = [abs(p - q) for _, p, q in probabilities(comparison)]
    if gaps:
        yield Value("", float(np.mean(gaps)))


METRIC = Metric(
    name="dimension-probability",
    title="Dimension-wise probability",
    group="structure",
    goal="lower",
    low=0,
    high=1,
    meaning="How far off, on average, is the share of rows with one given value of a category.",
    compute=compute,
    reference="fresh",
)
