"""What is said of rare values that are lost, or nearly so."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.values import SHARE
from nacre.evaluate.findings.words import listed
from nacre.evaluate.tables.comparison import TableComparison
from nacre.schema.written import value_names

FEWEST = 20  # real rows of a value that is worth a sentence
PART = 0.5  # of its share, below which a value comes far too rarely
CHANCE = 0.01  # of a word about any value, if the rows were fresh real ones


class _Rare(NamedTuple):
    """A value that enough real rows have, but less than a fiftieth of them."""

    column: str
    code: int
    real: int
    here: int
    expected: float  # rows here, by its share of the real ones

    @property
    def text(self) -> str:
        return f"{self.here:,} instead of {self.expected:,.0f} rows"


def rare_findings(comparison: TableComparison) -> Iterator[Finding]:
    """Values with less than half of their share, beyond chance; those of most rows first.

    Frequent values are judged by `value_findings`.
    """
    rare = list(_rare(comparison))
    lost = [value for value in rare if _surely_lost(value, comparison, len(rare))]
    lost.sort(key=lambda value: -value.expected)
    if not lost:
        return
    schema, fewest = comparison.real.schema, FEWEST * _together(comparison)
    names = {value.column: value_names(schema, value.column) for value in lost}
    said = [f"{v.column} = {names[v.column][v.code]} ({v.text})" for v in lost]
    values = listed(said, 6)
    yield Finding(
        "care",
        "Rare values",
        f"Rare values are lost, or come less than half as often as they should ({len(lost):,} of "
        f"the {len(rare):,} that {fewest:,} real rows or more have): {values.text}. Do not "
        "conclude that such rows do not exist.",
        2.0,
        values.rest,
    )


def _rare(comparison: TableComparison) -> Iterator[_Rare]:
    tables = (comparison.real, comparison.synthetic)
    n, m = map(len, tables)
    fewest = FEWEST * _together(comparison)
    for place, name in enumerate(comparison.real.names):
        if comparison.real.is_number(name):
            continue
        size = comparison.real.binned[place].size
        real, here = (np.bincount(t.binned[place].codes, minlength=size) for t in tables)
        for code in np.flatnonzero((real >= fewest) & (real < SHARE * n)):
            yield _Rare(name, int(code), int(real[code]), int(here[code]), real[code] * m / n)


def _surely_lost(value: _Rare, comparison: TableComparison, judged: int) -> bool:
    """Whether fresh real rows would hardly ever be so few, whichever of the values one looks at.

    Of the rows of one law that have it in either table, a binomial number is here.
    """
    if value.here >= PART * value.expected:
        return False
    n, m, together = len(comparison.real), len(comparison.synthetic), _together(comparison)
    here, both = (count // together for count in (value.here, value.here + value.real))
    return bool(binom.cdf(here, both, m / (n + m)) < CHANCE / judged)


def _together(comparison: TableComparison) -> int:
    """How many rows may come or go together: those of one person, which may all be alike."""
    unit = comparison.real.schema.unit
    return 1 if unit is None else unit.rows
