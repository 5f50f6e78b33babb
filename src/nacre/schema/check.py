"""The holder's own view of the rows that do not fit a schema: counts, never values.

Releases:
    nothing for others' eyes. The counts are exact, so they are outside any privacy guarantee; they
    are shown to the person who holds the table, before a fit.
"""

from __future__ import annotations

import dataclasses
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from nacre.schema.columns.column import (
    MISSING,
    NOT_A_DATE,
    NOT_A_NUMBER,
    NOT_A_TIME,
    NOT_TRUE_OR_FALSE,
    NOT_WHOLE,
    OFF_STEP,
    OUT_OF_RANGE,
    UNKNOWN,
    Column,
    Reading,
)
from nacre.schema.constraints.condition import ColumnValues, Part
from nacre.schema.constraints.constraint import Rule
from nacre.schema.facts.bound import BoundFact
from nacre.schema.facts.times import days_hint
from nacre.schema.table import Batches, batches, require_columns

ADVICE = {
    MISSING: "Set `nullable: true`, or remove the rows.",
    NOT_A_NUMBER: "Correct them, or set `nullable: true` and leave the cells empty.",
    NOT_WHOLE: "Make the column real, or correct them; --bad-rows zero rounds them.",
    OFF_STEP: "Correct `step`, or leave it out; --bad-rows zero rounds them.",
    NOT_A_DATE: "Write them as 2024-12-31 or 2024-12-31T18:30:00.",
    NOT_A_TIME: "Write them as 08:30 or 08:30:00.",
    NOT_TRUE_OR_FALSE: "Write true or false, or make the column categorical.",
    OUT_OF_RANGE: "Widen `low` and `high` if that is public; --bad-rows zero clamps them.",
    UNKNOWN: "List them in `values` if they are public, or set `other: true`.",
}
# What a fit with --bad-rows zero makes of a value that it can still use.
MENDED = {OUT_OF_RANGE: "clamped", NOT_WHOLE: "rounded", OFF_STEP: "rounded"}
AS_MISSING = "taken as missing"


@final
@dataclasses.dataclass(frozen=True)
class Check:
    """How many values of a table do not fit, by column and reason.

    Attributes:
        rows: how many rows were looked at.
        bad_rows: how many of them have at least one value that does not fit.
        refused_rows: how many of those cannot be encoded, and would count as zero.
        columns: counts by column, then by reason; columns without any are left out.
        mended: by column, the reasons for which a value is still used: clamped, rounded, or
            missing where the column is nullable.
        constraints: how many rows break each constraint. They fit, and a fit uses them:
            constraints bind only what is sampled.
        facts: how many rows break each fact. They fit, and a fit uses them; of what follows from
            other columns it asks only whether the row can be encoded.
        lines: how many lines of a CSV file have more or fewer fields than its header. They are no
            rows, and a fit with --bad-rows zero leaves them out.
        utf8: whether the file is UTF-8 throughout; what is not becomes U+FFFD.
        hints: what may be meant by facts that most rows break.
    """

    rows: int
    bad_rows: int
    refused_rows: int
    columns: Mapping[str, Mapping[str, int]]
    mended: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    constraints: Mapping[str, int] = dataclasses.field(default_factory=dict)
    facts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    lines: int = 0
    utf8: bool = True
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every value fits; whether rows break constraints does not matter here."""
        return not self.columns and not self.lines and self.utf8

    def __add__(self, other: Check) -> Check:
        """What was found in two parts of a table, as one."""
        return Check(
            self.rows + other.rows,
            self.bad_rows + other.bad_rows,
            self.refused_rows + other.refused_rows,
            _both(self.columns, other.columns, _counts),
            _both(self.mended, other.mended, lambda a, b: tuple(sorted({*a, *b}))),
            _counts(self.constraints, other.constraints),
            _counts(self.facts, other.facts),
            self.lines + other.lines,
            self.utf8 and other.utf8,
            {**self.hints, **other.hints},
        )

    def describe(self) -> str:
        """What does not fit and what to do, for people."""
        lines = [
            f"All {self.rows:,} rows fit the schema."
            if not self.columns
            else f"{self.bad_rows:,} of {self.rows:,} rows do not fit the schema; --bad-rows zero "
            f"would {self._rescue()}:"
        ]
        for name, reasons in self.columns.items():
            lines += [
                f"  '{name}': {count:,} {reason}. {self._advice(name, reason)}"
                for reason, count in reasons.items()
            ]
        if self.lines:
            one = self.lines == 1
            lines.append(
                f"  {self.lines:,} {'line has' if one else 'lines have'} more or fewer fields than "
                f"the header, so {'it is no row' if one else 'they are no rows'}. Check quotes and "
                f"commas; --bad-rows zero leaves {'it' if one else 'them'} out."
            )
        if not self.utf8:
            lines.append(
                "  The file is not UTF-8 text throughout. Convert it, for example with `iconv -f "
                "LATIN1 -t UTF-8`; --bad-rows zero reads other bytes as a character of no value."
            )
        if broken := {text: count for text, count in self.constraints.items() if count}:
            lines.append("Rows that break constraints (used all the same; no sampled row will):")
            lines += [f"  `{text}`: {count:,}" for text, count in broken.items()]
        if broken := {text: count for text, count in self.facts.items() if count}:
            lines.append(
                "Rows that break facts (used all the same; no sampled row will. Are they facts?):"
            )
            for text, count in broken.items():
                hint = f". {self.hints[text]}" if text in self.hints else ""
                lines.append(f"  `{text}`: {count:,}{hint}")
        return "\n".join(lines)

    def _rescue(self) -> str:
        """What a fit with --bad-rows zero would do with the rows that do not fit."""
        mended = self.bad_rows - self.refused_rows
        ways = {
            MENDED.get(reason, AS_MISSING) for reasons in self.mended.values() for reason in reasons
        }
        known = [way for way in dict.fromkeys((*MENDED.values(), AS_MISSING)) if way in ways]
        said = " or ".join([", ".join(known[:-1]), known[-1]] if known[1:] else known)
        parts = [
            f"use {mended:,} with the value {said}" if mended else "",
            f"count {self.refused_rows:,} as nothing" if self.refused_rows else "",
        ]
        return " and ".join(part for part in parts if part)

    def _advice(self, name: str, reason: str) -> str:
        if reason not in MENDED and reason in self.mended.get(name, ()):
            usual = "Correct them" if reason == NOT_A_NUMBER else ADVICE[reason].rstrip(".")
            return f"{usual}, or empty the cells; --bad-rows zero takes them as missing."
        return ADVICE[reason]


def _both(
    one: Mapping[str, Any], other: Mapping[str, Any], add: Callable[[Any, Any], Any]
) -> dict[str, Any]:
    """Values by name, added where both have one."""
    names = dict.fromkeys((*one, *other))
    return {
        name: add(one[name], other[name])
        if name in one and name in other
        else one.get(name, other.get(name))
        for name in names
    }


def _counts(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return _both(one, other, operator.add)


def examine(
    columns: Mapping[str, Column],
    rows: Batches,
    rules: Sequence[Rule] = (),
    facts: Sequence[BoundFact] = (),
) -> Check:
    """Count, one batch at a time, values that do not fit and rows that break rules and facts."""
    involved = frozenset(name for rule in rules for name in rule.names)
    involved |= {name for fact in facts for name in (fact.column, *fact.sources)}
    broken = dict.fromkeys((rule.text for rule in rules), 0)
    untrue = dict.fromkeys((fact.text for fact in facts), 0)
    counts: dict[str, Counter[str]] = {name: Counter() for name in columns}
    mended: dict[str, dict[str, None]] = {}
    total = bad_rows = refused_rows = 0
    for batch in batches(rows):
        require_columns(columns, batch.schema)
        changed = np.zeros(batch.num_rows, bool)
        refused = np.zeros(batch.num_rows, bool)
        parts: dict[str, Part] = {}
        for name, column in columns.items():
            reading = column.read(batch.column(name))
            if name in involved:
                parts[name] = _part(reading)
            for faults, rows_with in ((reading.refused, refused), (reading.changed, changed)):
                for reason, where in faults.items():
                    counts[name][reason] += int(np.count_nonzero(where))
                    rows_with |= where
                    if rows_with is changed and where.any():
                        mended.setdefault(name, {})[reason] = None
        total += batch.num_rows
        refused_rows += int(np.count_nonzero(refused))
        bad_rows += int(np.count_nonzero(refused | changed))
        view = ColumnValues(columns, batch.num_rows, parts.__getitem__)
        for rule in rules:
            broken[rule.text] += int(np.count_nonzero(~rule.holds(view)))
        for text in untrue:
            kept = [fact.holds(view) for fact in facts if fact.text == text]
            untrue[text] += int(np.count_nonzero(~np.all(kept, axis=0)))
    found = {name: dict(+reasons) for name, reasons in counts.items()}
    found = {name: reasons for name, reasons in found.items() if reasons}
    ways = {name: tuple(sorted(reasons)) for name, reasons in mended.items()}
    odd = (text for text, count in untrue.items() if 2 * count > total)
    hints = {text: hint for text in odd if (hint := days_hint(text, columns))}
    return Check(total, bad_rows, refused_rows, found, ways, broken, untrue, hints=hints)


def _part(reading: Reading) -> Part:
    """A reading as rules see it: what cannot be read is missing, and breaks nothing."""
    missing = reading.missing.copy()
    for where in reading.refused.values():
        missing |= where
    return reading.values, missing
