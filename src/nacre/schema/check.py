"""The holder's own view of the rows that do not fit a schema: counts, never values.

Releases:  nothing for others' eyes. The counts are exact, so they are outside any privacy
           guarantee; they are shown to the person who holds the table, before a fit.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import final

import numpy as np

from nacre.schema.column import (
    MISSING,
    NOT_A_DATE,
    NOT_A_NUMBER,
    NOT_TRUE_OR_FALSE,
    NOT_WHOLE,
    OUT_OF_RANGE,
    UNKNOWN,
    Column,
)
from nacre.schema.table import Batches, batches, require_columns

ADVICE = {
    MISSING: "Set `nullable: true`, or remove the rows.",
    NOT_A_NUMBER: "Correct them, or leave the cells empty and set `nullable: true`.",
    NOT_WHOLE: "Make the column real, or correct them; --bad-rows zero rounds them.",
    NOT_A_DATE: "Write them as 2024-12-31 or 2024-12-31T18:30:00.",
    NOT_TRUE_OR_FALSE: "Write true or false, or make the column categorical.",
    OUT_OF_RANGE: "Widen `low` and `high` if that is public; --bad-rows zero clamps them.",
    UNKNOWN: "List them in `values` if they are public, or set `other: true`.",
}


@final
@dataclasses.dataclass(frozen=True)
class Check:
    """How many values of a table do not fit, by column and reason.

    Attributes:
        rows: how many rows were looked at.
        bad_rows: how many of them have at least one value that does not fit.
        refused_rows: how many of those cannot be encoded, and would count as zero.
        columns: counts by column, then by reason; columns without any are left out.
    """

    rows: int
    bad_rows: int
    refused_rows: int
    columns: Mapping[str, Mapping[str, int]]

    @property
    def ok(self) -> bool:
        """Whether every value fits."""
        return not self.columns

    def describe(self) -> str:
        """What does not fit and what to do, for people."""
        if self.ok:
            return f"All {self.rows:,} rows fit the schema."
        lines = [
            f"{self.bad_rows:,} of {self.rows:,} rows do not fit the schema; --bad-rows zero would "
            f"{self._rescue()}:"
        ]
        for name, reasons in self.columns.items():
            lines += [
                f"  '{name}': {count:,} {reason}. {ADVICE[reason]}"
                for reason, count in reasons.items()
            ]
        return "\n".join(lines)

    def _rescue(self) -> str:
        """What a fit with --bad-rows zero would do with the rows that do not fit."""
        mended = self.bad_rows - self.refused_rows
        parts = [
            f"use {mended:,} with the value clamped or rounded" if mended else "",
            f"count {self.refused_rows:,} as nothing" if self.refused_rows else "",
        ]
        return " and ".join(part for part in parts if part)


def examine(columns: Mapping[str, Column], rows: Batches) -> Check:
    """Count, one batch at a time, the values that do not fit."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in columns}
    total = bad_rows = refused_rows = 0
    for batch in batches(rows):
        require_columns(columns, batch.schema)
        changed = np.zeros(batch.num_rows, bool)
        refused = np.zeros(batch.num_rows, bool)
        for name, column in columns.items():
            reading = column.read(batch.column(name))
            for faults, rows_with in ((reading.refused, refused), (reading.changed, changed)):
                for reason, where in faults.items():
                    counts[name][reason] += int(np.count_nonzero(where))
                    rows_with |= where
        total += batch.num_rows
        refused_rows += int(np.count_nonzero(refused))
        bad_rows += int(np.count_nonzero(refused | changed))
    found = {name: dict(+reasons) for name, reasons in counts.items()}
    return Check(total, bad_rows, refused_rows, {n: c for n, c in found.items() if c})
