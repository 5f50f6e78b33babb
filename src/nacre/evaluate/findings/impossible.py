"""What is said of pairs of values that never occur together in the real table, but here they do."""

import itertools
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.identities import broken_identities
from nacre.evaluate.findings.never import value_findings
from nacre.evaluate.findings.words import listed, percent
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.never import categories, never_together
from nacre.schema.written import value_names

AVOID, CARE = 0.10, 0.02  # of the rows that hold such a pair


SHOWN = 3


def impossible_findings(comparison: TableComparison) -> Iterator[Finding]:
    """Of all rows, then of the rows with single values: what never occurs in the real table."""
    if not len(comparison.synthetic) or not len(comparison.real):
        return
    told = {frozenset(each.columns) for each in broken_identities(comparison)}
    share, found = _held(comparison, told)
    if share > CARE:
        yield _of_all(comparison, share, found)
        told |= {frozenset(each[1:3]) for each in found[:SHOWN]}
    yield from value_findings(comparison, told)


def _held(
    comparison: TableComparison, told: Collection[frozenset[str]]
) -> tuple[float, list[tuple[float, str, str, np.ndarray]]]:
    """The share of rows with a pair that never occurs, and the columns that it is of."""
    real, synthetic = comparison.real, comparison.synthetic
    rows = np.zeros(len(synthetic), bool)
    found: list[tuple[float, str, str, np.ndarray]] = []
    for first, second in itertools.combinations(categories(real), 2):
        if frozenset((first, second)) in told:
            continue
        cells = [(real.bin(name), synthetic.bin(name)) for name in (first, second)]
        never = never_together(cells[0][0], cells[1][0])
        held = never[cells[0][1].codes, cells[1][1].codes]
        if held.any():
            rows |= held
            found.append((float(held.mean()), first, second, held))
    return float(rows.mean()), sorted(found, key=lambda each: -each[0])


def _of_all(
    comparison: TableComparison, share: float, found: Sequence[tuple[float, str, str, np.ndarray]]
) -> Finding:
    """What a share of all rows holds, and the pairs of columns that are worst."""
    said = [_said(comparison, each[1:3], each[3]) for each in found]
    pairs = "; ".join(said[:SHOWN])
    return Finding(
        "avoid" if share > AVOID else "care",
        "Impossible pairs",
        f"{percent(share)} of the rows hold a pair of values that never occurs in the real table, "
        f"although both are frequent: {pairs}{_others(len(found) - SHOWN)}. If that is public, "
        "say it in the schema, as a fact (`determined by`) or a constraint (`forbid`).",
        20 * share,
        listed(said, SHOWN).rest,
    )


def _said(comparison: TableComparison, pair: tuple[str, str], held: np.ndarray) -> str:
    """How many rows hold a pair of values of two columns that never occurs, and the worst pair."""
    codes = [comparison.synthetic.bin(name).codes[held].astype(np.int64) for name in pair]
    size = comparison.real.bin(pair[1]).size
    counts = np.bincount(codes[0] * size + codes[1])
    schema, worst = comparison.real.schema, divmod(int(counts.argmax()), size)
    values = [f"{n} = {value_names(schema, n)[code]}" for n, code in zip(pair, worst, strict=True)]
    one, several = " with ".join(values), int(np.count_nonzero(counts))
    share = percent(float(held.mean()))
    if several == 1:
        return f"{one} ({share})"
    most = percent(float(counts.max() / len(held)))
    return f"{several} pairs of {pair[0]} and {pair[1]} ({share}), most often {one} ({most})"


def _others(pairs: int) -> str:
    """How many pairs of columns are not named."""
    if pairs < 1:
        return ""
    return f"; and of {pairs} more {'pair' if pairs == 1 else 'pairs'} of columns"
