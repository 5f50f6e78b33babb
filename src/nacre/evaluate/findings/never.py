"""What is said of single values, rare ones too, whose rows hold what never goes with them."""

import itertools
from collections.abc import Collection, Iterator

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed, percent
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.never import (
    MOST_COLUMNS,
    Never,
    categories,
    never_with_numbers,
    never_with_values,
)
from nacre.evaluate.tables.rows import Rows

AVOID_VALUE, CARE_VALUE = 0.20, 0.05  # of the rows with the value
SHOWN = 4
ROWS = 50_000
"""Rows of each table, a seeded sample, in which it is looked for before all rows are counted."""


def value_findings(
    comparison: TableComparison, told: Collection[frozenset[str]]
) -> Iterator[Finding]:
    """One sentence about the worst values, but for pairs of columns that were `told` before."""
    rng = comparison.rng("values and what never goes with them")
    some = [rows.sample(ROWS, rng) for rows in (comparison.real, comparison.synthetic)]
    found = [each for each in _every(some[0], some[1], told) if each.share > CARE_VALUE]
    if max(len(comparison.real), len(comparison.synthetic)) > ROWS:
        found = [each for each in _again(comparison, found) if each.share > CARE_VALUE]
    if not found:
        return
    found.sort(key=lambda each: -each.share)
    said = [
        f"{percent(each.share)} of those with {each.column} = {each.value} have {each.what}"
        for each in found
    ]
    values = listed(said, SHOWN)
    yield Finding(
        "avoid" if found[0].share > AVOID_VALUE else "care",
        "Impossible pairs",
        f"Some rows hold what never goes with one of their values in the real table, although it "
        f"is frequent: {values.text}. If that is public, say it in the schema, as a "
        f"constraint (`... if {found[0].column} = {found[0].value}`).",
        5 * found[0].share + min(len(found), 10) / 10,
        values.rest,
    )


def _every(real: Rows, synthetic: Rows, told: Collection[frozenset[str]]) -> Iterator[Never]:
    names = categories(real)
    for name, other in itertools.permutations(names, 2):
        if frozenset((name, other)) not in told:
            yield from never_with_values(real, synthetic, name, other)
    for number in [name for name in real.names if real.is_number(name)][:MOST_COLUMNS]:
        untold = [name for name in names if frozenset((name, number)) not in told]
        yield from never_with_numbers(real, synthetic, untold, number)


def _again(comparison: TableComparison, found: Collection[Never]) -> Iterator[Never]:
    """The same of all rows, for the pairs of columns of which something was found."""
    real, synthetic = comparison.real, comparison.synthetic
    for name, other in dict.fromkeys((each.column, each.other) for each in found):
        if real.is_number(other):
            yield from never_with_numbers(real, synthetic, [name], other)
        else:
            yield from never_with_values(real, synthetic, name, other)
