"""The share of synthetic rows that are exact copies of real ones."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.rows import Rows


def row_hashes(rows: Rows) -> np.ndarray:
    """A 64-bit hash of each row; equal rows have equal hashes, others practically never."""
    mixed = np.full(len(rows), 0x9E3779B97F4A7C15, np.uint64)
    for column in (*rows.ticks, *rows.codes):
        mixed ^= column.astype(np.uint64)
        # splitmix64's finalizer: every bit of the row reaches every bit of the hash.
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Over all synthetic rows, against all real rows that models are trained on."""
    real, synthetic = row_hashes(comparison.train), row_hashes(comparison.synthetic)
    yield Value("", float(np.isin(synthetic, real).mean()))


METRIC = Metric(
    name="copies",
    title="Exact copies",
    group="privacy",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of synthetic rows that equal some real row in every column. Held-out real "
    "rows do so too, where few combinations are possible.",
    compute=compute,
    reference="held-out",
    quick=True,
)
