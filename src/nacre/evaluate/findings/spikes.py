"""What is said of single values of numbers that many rows share: zeros, codes, standard amounts."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nacre.evaluate.findings.amounts import Amount
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed, percent
from nacre.evaluate.tables.comparison import TableComparison

# A value that so many rows share is a spike, if far fewer share each of its neighbors.
SHARE, ABOVE = 0.01, 4.0
FEWEST = 20  # values of a real number; of fewer each is a spike, and counted as such
ROWS = 100_000  # of each table that are looked at
CHANCE = 3.0  # standard errors that chance explains
AVOID, CARE = 0.5, 0.25  # of its share that is lost, or made up


class _Spike(NamedTuple):
    off: float
    level: float
    text: str


def spike_findings(comparison: TableComparison) -> Iterator[Finding]:
    """Spikes of either table that the other one has not, the worst first."""
    found = sorted(_spikes(comparison), reverse=True)
    for level, topic, some in (
        ("avoid", "Do not count rows with", [spike for spike in found if spike.level > AVOID]),
        ("care", "Take care with", [s for s in found if CARE < s.level <= AVOID]),
    ):
        if some:
            values = listed([spike.text for spike in some], 4)
            said = f"{topic} single values that many rows share: {values.text}."
            weight = 10 * some[0].off
            yield Finding(level, "Single values", said, weight, values.rest)  # type: ignore[arg-type]


def _spikes(comparison: TableComparison) -> Iterator[_Spike]:
    rng = comparison.rng("spikes")
    tables = [rows.sample(ROWS, rng) for rows in (comparison.real, comparison.synthetic)]
    size = 1 / sum(1 / len(rows) for rows in tables)
    for name in filter(comparison.real.is_number, comparison.real.names):
        held = [_held(rows.values(name)) for rows in tables]
        if len(held[0][0]) < FEWEST:
            continue
        heavy = {value for values, counts in held for value in _heavy(values, counts)}
        for value in sorted(heavy):
            real, here = (
                float(counts[values == value].sum()) / len(rows)
                for (values, counts), rows in zip(held, tables, strict=True)
            )
            larger = max(real, here)
            off = abs(real - here) - CHANCE * (larger * (1 - larger) / size) ** 0.5
            if off > 0:
                amount = Amount(comparison.real.schema.columns[name]).text(value)
                said = f"{name} = {amount} ({percent(real)} of the real rows, {percent(here)} here)"
                yield _Spike(off, off / larger, said)


def _held(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(values[~np.isnan(values)], return_counts=True)


def _heavy(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Values that stand out from those beside them."""
    total = counts.sum()
    around = np.maximum(np.append(0, counts[:-1]), np.append(counts[1:], 0))
    # Beside a far neighbor a value may be one of many; what is usual decides then.
    usual = max(float(np.median(counts)), 1.0)
    out = (counts >= ABOVE * around) | (counts >= ABOVE * ABOVE * usual)
    return values[(counts >= SHARE * total) & out]
