"""What noise will leave of typical columns that are counted, in numbers that anybody can check."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nacre.rows import TableEncoder
from nacre.vault import Plan, Sum
from nacre.vault.guarantee import unit_name

if TYPE_CHECKING:
    from nacre.vault.plan import Planned

LOST = 0.5  # of a typical pair's cells below the noise: worth saying
OFF = 0.1  # by which a label's share is wrong: worth saying
STRETCHES = 10  # of a number, as people would read a table of it


def plain_numbers(
    encoder: TableEncoder,
    plan: Plan,
    rows: int,
    *,
    histograms: Sequence[Planned],
    pairs: Sequence[Planned],
) -> tuple[str, ...]:
    """What noise leaves of a typical pair of columns, and of the label beside one; all public.

    Args:
        encoder: what the columns are.
        plan: whose rows or persons are counted.
        rows: how many of them.
        histograms: releases of how many rows lie in each cell of each column.
        pairs: releases of how many rows lie in each pair of bins.
    """
    columns = [c for n, c in encoder.modeled.columns.items() if n != encoder.schema.label]
    sizes = [c.size if c.size is not None else min((c.ticks or 0) + 1, STRETCHES) for c in columns]
    typical = int(statistics.median_low(sizes)) if sizes else 0
    each = f"{unit_name(plan.unit)}s"
    lost = [_lost(asked, typical, rows, each) for asked in pairs]
    off = [_off(asked, typical, rows, each, encoder.schema.label) for asked in histograms]
    said = (list(filter(None, found)) for found in (off, lost))
    return tuple(found[-1] for found in said if found)


def _noise(asked: Planned, rows: int) -> tuple[float, int]:
    """Of a count, and for how many classes it was taken; infinite if there are no counts."""
    question, error = asked.question, asked.question.expected(asked.release, rows).error
    if not isinstance(question, Sum) or error is None:
        return math.inf, 1
    return error * rows, question.bound.classes


def _lost(asked: Planned, typical: int, rows: int, each: str) -> str:
    """Of a pair of two columns with so many values; empty if not much is lost.

    Counts of all cells add up to the rows, so at most rows / noise cells hold more than the noise.
    """
    noise, classes = _noise(asked, rows)
    cells, above = typical**2 * classes, int(rows / max(noise, 1.0))
    if not math.isfinite(noise) or above > (1 - LOST) * cells:
        return ""
    by = f", for each of {classes} classes" if classes > 1 else ""
    return (
        f"of the {cells:,} cells of a typical pair of columns ({typical} by {typical} "
        f"values{by}) at most {above:,} can hold more {each} than the noise of a "
        f"count, about {noise:,.0f}: {1 - above / cells:.0%} or more are lost in it"
    )


def _off(asked: Planned, typical: int, rows: int, each: str, label: str | None) -> str:
    """Of the label beside a column with so many values; empty if it is not far off.

    A value of one of m has rows / m rows on average; of two counts with this noise each that add up
    to so many, the share of one is off by noise / sqrt(2) of them, if they are about equal.
    """
    noise, classes = _noise(asked, rows)
    points = noise * typical / rows / math.sqrt(2)
    if classes == 1 or points <= OFF:
        return ""
    return (
        f"what share of a typical value's {each} has which '{label}' will be off by about "
        f"{min(points, 1.0) * 100:.0f} points of 100, so that models which learn it from the "
        f"synthetic rows will be {'poor' if points > 2 * OFF else 'weaker'}"
    )
