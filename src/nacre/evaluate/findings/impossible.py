"""What is said of pairs of values that never occur together in the real table, but here they do."""

import itertools
from collections.abc import Iterator

import numpy as np

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.identities import broken_identities
from nacre.evaluate.findings.words import percent
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.rows import Coded
from nacre.schema.written import value_names

EXPECTED = 20
"""Real rows that would hold a pair if the two columns had nothing to do with each other: with none
in spite of it, chance has a part of e^-20 in that."""
MOST_COLUMNS, MOST_VALUES = 40, 500
AVOID, CARE = 0.10, 0.02  # of the rows that hold such a pair


def impossible_findings(comparison: TableComparison) -> Iterator[Finding]:
    """The share of rows with a pair that never occurs, and the columns that it is of."""
    real, synthetic = comparison.real, comparison.synthetic
    names = [
        name
        for name in real.names
        if not real.is_number(name) and 1 < real.bin(name).size <= MOST_VALUES
    ][:MOST_COLUMNS]
    if not len(synthetic) or not len(real):
        return
    rows = np.zeros(len(synthetic), bool)
    found: list[tuple[float, str, str, np.ndarray]] = []
    told = {frozenset(each.columns) for each in broken_identities(comparison)}
    for first, second in itertools.combinations(names, 2):
        if {first, second} in told:
            continue
        cells = [(real.bin(name), synthetic.bin(name)) for name in (first, second)]
        never = _never(cells[0][0], cells[1][0])
        held = never[cells[0][1].codes, cells[1][1].codes]
        if held.any():
            rows |= held
            found.append((float(held.mean()), first, second, held))
    share = float(rows.mean())
    if share <= CARE:
        return
    found.sort(key=lambda each: -each[0])
    pairs = "; ".join(_said(comparison, each[1:3], each[3]) for each in found[:3])
    yield Finding(
        "avoid" if share > AVOID else "care",
        "Impossible pairs",
        f"{percent(share)} of the rows hold a pair of values that never occurs in the real table, "
        f"although both are frequent: {pairs}{_others(len(found) - 3)}. If that is public, say it "
        "in the schema, as a fact (`determined by`) or a constraint (`forbid`).",
        20 * share,
    )


def _never(first: Coded, second: Coded) -> np.ndarray:
    """[values, values]: pairs that no real row holds, though many would by chance."""
    both = first.codes.astype(np.int64) * second.size + second.codes
    counts = np.bincount(both, minlength=first.size * second.size)
    counts = counts.reshape(first.size, second.size)
    expected = counts.sum(1)[:, None] * counts.sum(0) / max(counts.sum(), 1)
    return np.asarray((counts == 0) & (expected >= EXPECTED))


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
