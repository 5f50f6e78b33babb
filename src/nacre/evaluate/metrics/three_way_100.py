"""The three-way marginal score of the NIST challenge, as DP-auto-GAN (appendix D.5) defines it."""

import math
from collections.abc import Iterator

import numpy as np

from nacre.evaluate.metrics.three_way import TRIPLES, mean_and_error, triples
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.cells import joint, total_variation
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.rows import Coded, Rows

BINS = 100


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Mean L1 distance over triples, 100 bins over the *real* column's own range."""
    each = distances(comparison)
    if each:
        yield Value("", *mean_and_error(each, math.comb(len(comparison.real.names), 3)))


def distances(comparison: TableComparison) -> list[float]:
    """The L1 distance of each triple that is looked at; empty with fewer than three columns."""
    real, synthetic = comparison.real, comparison.synthetic
    width = len(real.names)
    if width < 3:
        return []
    columns = [bin_by_real(real, synthetic, name) for name in real.names]
    return [
        2 * total_variation(joint([columns[i][0] for i in t]), joint([columns[i][1] for i in t]))
        for t in triples(width, TRIPLES, comparison.rng("three-way-100"))
    ]


def bin_by_real(real: Rows, synthetic: Rows, name: str) -> tuple[Coded, Coded]:
    """Code both columns: floor(100 (x - min)/(max - min)) with the real column's min and max.

    The real maximum has bin 100 of its own, as in the paper; synthetic values outside the real
    range fall outside its bins, and are gathered in one bin below and one above.
    """
    if not real.is_number(name):
        return real.bin(name), synthetic.bin(name)
    place = [number.name for number in real.schema.layout.numbers].index(name)
    gone = [rows.missing(name) for rows in (real, synthetic)]
    present = real.ticks[place] if gone[0] is None else real.ticks[place][~gone[0]]
    if not len(present):
        present = np.zeros(1, np.int64)
    low = int(present.min())
    spread = max(int(present.max()) - low, 1)
    coded = []
    for rows, missing in zip((real, synthetic), gone, strict=True):
        bins = (rows.ticks[place].astype(np.int64) - low) * BINS // spread
        codes = np.clip(bins, -1, BINS + 1) + 1
        if missing is not None:
            codes[missing] = BINS + 3
        coded.append(Coded(codes.astype(np.uint8), BINS + 4))
    return coded[0], coded[1]


METRIC = Metric(
    name="three-way-100",
    title="Three-way score, 100 bins",
    group="structure",
    goal="lower",
    low=0,
    high=2,
    meaning="The summed difference of shares in the cross-table of three columns with numbers in "
    "100 bins over the real range, as in the NIST challenge and DP-auto-GAN.",
    compute=compute,
    reference="fresh",
)
