"""Which facts of a draft only a few rows hold: what its reviewer has to look at first.

Releases:
    nothing for others' eyes.  Counts are for the holder's terminal, the values themselves are
    marked in the draft, which is not private either.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from textwrap import wrap
from typing import final

from nacre.schema import document
from nacre.schema.columns.category import Categorical
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.draft.sketch import Sketch
from nacre.schema.schema import Schema

FEW = 10  # rows; a fact that fewer hold may be known from this table only
BOUNDS = {("low",): "the lower bound", ("high",): "the upper bound", ("low", "high"): "both bounds"}


def rare_facts(column: Column, sketch: Sketch) -> tuple[str, ...]:
    """The listed values, or the bounds by name, that fewer than `FEW` rows hold."""
    if isinstance(column, Categorical):
        held = sketch.classes if sketch.numbers else (sketch.distinct or {})
        return tuple(value for value in column.values if held.get(value, 0) < FEW)
    if isinstance(column, Integer | Real):
        ends = {"low": sketch.low_rows, "high": sketch.high_rows}
    elif isinstance(column, Datetime):
        ends = {"low": sketch.first_rows, "high": sketch.last_rows}
    else:
        return ()
    return tuple(end for end, rows in ends.items() if rows < FEW)


@final
@dataclasses.dataclass(frozen=True)
class Draft:
    """A schema read from the rows, and what its reviewer has to know, by column.

    Attributes:
        schema: what was read.
        rare: which of its facts few rows hold.
        left_out: columns of the table that are not in it, and why.
        odd: columns of which some values do not fit.
    """

    schema: Schema
    rare: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)
    odd: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_yaml(self) -> str:
        """The schema as YAML, with comments above what its reviewer has to look at."""
        remarks = {name: _comment(f"odd: {why}") for name, why in self.odd.items()}
        for name, facts in self.rare.items():
            if facts:
                said = f"rare, fewer than {FEW} rows each: {', '.join(map(_shown, facts))}"
                remarks[name] = [*remarks.get(name, []), *_comment(said)]
        gone = [
            line
            for name, why in self.left_out.items()
            for line in _comment(f"left out: {_shown(name)}: {why}")
        ]
        return document.dump(self.schema.to_dict(), remarks, gone)

    def describe(self) -> str:
        """How many facts of each column few rows hold: counts for the holder, never values."""
        lines = []
        for name, facts in self.rare.items():
            column = self.schema.columns[name]
            if facts and isinstance(column, Categorical):
                lines.append(f"  '{name}': {len(facts)} of {len(column.values)} values")
            elif facts:
                lines.append(f"  '{name}': {BOUNDS[facts]}")
        rare = f"Every value and bound in it is held by {FEW} rows or more."
        if lines:
            rare = (
                f"Held by fewer than {FEW} rows, and marked `# rare` in the draft: look at these "
                "first.\n" + "\n".join(lines)
            )
        parts = [
            _list("Left out of the draft:", self.left_out),
            _list("Drafted as numbers, although not all are:", self.odd),
            rare,
        ]
        return "\n".join(part for part in parts if part)


def _list(title: str, said: Mapping[str, str]) -> str:
    lines = [f"  '{name}': {why}" for name, why in said.items()]
    return "\n".join([title, *lines]) if lines else ""


def _shown(fact: str) -> str:
    """A value in a comment; one with a line break or the like is quoted."""
    return fact if fact.isprintable() else json.dumps(fact)


def _comment(text: str) -> list[str]:
    """The lines of a YAML comment."""
    return [f"# {line}" for line in wrap(text, 90)]
