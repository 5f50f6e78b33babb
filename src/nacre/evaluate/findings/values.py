"""What is said of frequent values that come much too rarely or too often."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed, percent
from nacre.evaluate.tables.comparison import TableComparison
from nacre.schema.columns.scale import Scale

# A value that a fiftieth of the rows have is worth a sentence if its share is off by a quarter.
SHARE, OFF = 0.02, 0.25
MADE_UP = 0.05  # of the rows: a value that has so much more than it should spoils a column
CHANCE = 2.0  # standard errors that chance explains


class _Value(NamedTuple):
    off: float
    more: float
    text: str


def value_findings(comparison: TableComparison) -> Iterator[Finding]:
    """Frequent values whose share is far off; `rare_findings` judges the others."""
    wrong: list[_Value] = []
    for name, real, synthetic in zip(
        comparison.real.names, comparison.real.binned, comparison.synthetic.binned, strict=True
    ):
        if comparison.real.is_number(name):
            continue
        p, q = (
            np.bincount(rows.codes, minlength=real.size) / len(rows.codes)
            for rows in (real, synthetic)
        )
        wrong += _wrong(comparison, name, p, q)
    if wrong:
        wrong.sort(reverse=True)
        values = listed([value.text for value in wrong], 4)
        spoiled = any(value.off > 1 and value.more > MADE_UP for value in wrong)
        yield Finding(
            "avoid" if spoiled else "care",
            "Values",
            f"Some values come too rarely or too often: {values.text}.",
            1 + 10 * min(wrong[0].off, 1.0),
            values.rest,
        )


def _wrong(
    comparison: TableComparison, name: str, p: np.ndarray, q: np.ndarray
) -> Iterator[_Value]:
    size = 1 / (1 / len(comparison.real) + 1 / len(comparison.synthetic))
    chance = CHANCE * np.sqrt(p * (1 - p) / size)
    off = np.maximum(np.abs(q - p) - chance, 0) / np.maximum(p, SHARE)
    names = [*Scale(comparison.real.schema.columns[name]).names, "missing"]
    for code in np.flatnonzero((np.maximum(p, q) >= SHARE) & (off > OFF)):
        said = f"{percent(float(q[code]))} instead of {percent(float(p[code]))}"
        more_here = float(q[code] - p[code])
        yield _Value(float(off[code]), more_here, f"{name} = {names[code]} ({said})")
