"""A draft, and what its reviewer has to look at first: what few rows hold, what was guessed.

Releases:
    nothing for others' eyes.  Counts are for the holder's terminal, the values themselves are
    marked in the draft, which is not private either.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import final

from nacre.schema import document
from nacre.schema.columns.category import Categorical, Ordinal
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.timed import Timed
from nacre.schema.draft.guess import FEW, Note
from nacre.schema.draft.sketch import Sketch
from nacre.schema.draft.suggested import Suggested
from nacre.schema.draft.times import times_of
from nacre.schema.schema import Schema
from nacre.schema.table import listed

BOUNDS = {("low",): "the lower bound", ("high",): "the upper bound", ("low", "high"): "both bounds"}


def rare_facts(column: Column, sketch: Sketch, notes: Sequence[Note]) -> tuple[str, ...]:
    """The listed values, or the bounds by name, that fewer than `FEW` rows hold.

    Bounds that were rounded are not among them: they are no longer what those rows hold.
    """
    if isinstance(column, Categorical | Ordinal):
        held = sketch.classes if sketch.numbers else (sketch.distinct or {})
        return tuple(value for value in column.values if held.get(value, 0) < FEW)
    ends = _ends(column, sketch)
    return tuple(end for end in rare_ends(notes) if ends.get(end, FEW) < FEW)


def rare_ends(notes: Sequence[Note]) -> tuple[str, ...]:
    """The bounds that few rows may hold: those that were not rounded."""
    moved = [end for note in notes for end in note.ends]
    return tuple(end for end in ("low", "high") if end not in moved)


def _ends(column: Column, sketch: Sketch) -> dict[str, int]:
    """How many rows hold each bound."""
    if isinstance(column, Integer | Real):
        inner = sketch.low < column.low
        low = sketch.inner_low_rows if inner else sketch.low_rows
        high = sketch.high_rows
        if column.missing and column.high < sketch.high:  # a code lies above
            high = sketch.classes.get(f"{column.high:.17g}", 0)
        return {"low": low, "high": high}
    if isinstance(column, Timed) and (times := times_of(sketch.ways, column)) is not None:
        return {"low": times.first_rows, "high": times.last_rows}
    return {}


@final
@dataclasses.dataclass(frozen=True)
class Draft:
    """A schema read from the rows, and what its reviewer has to know, by column.

    It is not private: its bounds and values are those of the rows, or follow from them.

    Attributes:
        schema: what was read.
        rare: which of its facts few rows hold: values, bounds by name, codes for missing values.
        left_out: columns of the table that are not in it, and why.
        odd: columns of which some values do not fit.
        identifiers: columns that seem to number rows, persons or things, and are not in it.
        notes: what was guessed.
        suggested: facts and constraints that the rows keep, if they are public.
        counted: what `rare` counts: rows, or persons where there is a unit.
        constant: columns that do not change within any person.
        nearly: columns that change within few persons, and within how many.
    """

    schema: Schema
    rare: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)
    odd: Mapping[str, str] = dataclasses.field(default_factory=dict)
    identifiers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, Sequence[Note]] = dataclasses.field(default_factory=dict)
    suggested: Suggested = dataclasses.field(default_factory=Suggested)
    counted: str = "rows"
    constant: tuple[str, ...] = ()
    nearly: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def to_yaml(self) -> str:
        """The schema as YAML, with comments above what its reviewer has to look at."""
        remarks = {name: self._remarks(name) for name in self.schema.names}
        gone = {**self.identifiers, **self.left_out}
        last = [
            line
            for name, why in gone.items()
            for line in _comment(f"left out: {_shown(name)}: {why}")
        ]
        said = document.dump(self.schema.to_dict(), remarks, last)
        return said + self._constants() + self.suggested.to_yaml()

    def write(self, path: str | PathLike[str]) -> None:
        """Write `to_yaml` to a file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    def _remarks(self, name: str) -> list[str]:
        said = [f"odd: {self.odd[name]}"] if name in self.odd else []
        lines = [line for each in said for line in _comment(each)]
        for note in self.notes.get(name, ()):
            lines += _comment(note.full)
            if note.offer is not None:  # as a line that needs no more than its `# ` taken away
                offered = document.column_lines(name, note.offer.to_dict()).splitlines()
                lines += [f"# {line.removeprefix('  ')}" for line in offered]
        if rare := self.rare.get(name):
            held = ", ".join(map(_shown, rare))
            lines += _comment(f"rare, fewer than {FEW} {self.counted} each: {held}")
        return lines

    def describe(self) -> str:
        """How many facts of each column few rows hold: counts for the holder, never values."""
        lines = []
        for name, facts in self.rare.items():
            if facts:
                lines.append(f"  '{name}': {_counted(self.schema.columns[name], facts)}")
        rare = f"Every value and bound in it is held by {FEW} {self.counted} or more, or is round."
        if self.schema.unit is not None and self.counted == "rows":
            rare += " Rows were counted, and all of them may be one person's: look at each."
        if lines:
            rare = (
                f"Held by fewer than {FEW} {self.counted}, and marked `# rare` in the draft: look "
                "at these first.\n" + "\n".join(lines)
            )
        parts = [
            _list("Left out of the draft:", {**self.identifiers, **self.left_out}),
            _list("Drafted as numbers, although not all are:", self.odd),
            _list("Guessed, and said in the draft:", self._guesses()),
            self._moved(),
            self.suggested.describe(),
            self._told_constants(),
            rare,
        ]
        return "\n".join(part for part in parts if part)

    def _constants(self) -> str:
        """The unit with the columns that do not change within a person, commented out."""
        unit = self.schema.unit
        if unit is None or not (self.constant or self.nearly):
            return ""
        lines = []
        if self.constant:
            said = dataclasses.replace(unit, constant=self.constant).to_dict()
            lines += _comment(
                "Within every person these do not change. If that is public, put them into the "
                "unit: persons of sampled tables then keep them, too."
            )
            lines.append(f"# unit: {json.dumps(said, ensure_ascii=False)}")
        if self.nearly:
            # Names alone: the file is passed on, and numbers of persons are private.
            few = ", ".join(_shown(name) for name in self.nearly)
            lines += _comment(f"Within few persons only these change: {few}.")
        return "\n".join(lines) + "\n"

    def _told_constants(self) -> str:
        if not self.constant:
            return ""
        one = len(self.constant) == 1
        return (
            f"Within every person {listed(self.constant, 8)} {'is' if one else 'are'} the same: a "
            "line for the unit stands at the end of the draft."
        )

    def _guesses(self) -> dict[str, str]:
        said = {
            name: "; ".join(note.short for note in notes if note.short)
            for name, notes in self.notes.items()
        }
        return {name: text for name, text in said.items() if text}

    def _moved(self) -> str:
        names = [name for name, said in self.notes.items() if any(note.ends for note in said)]
        if not names:
            return ""
        return (
            f"Bounds that fewer than {FEW} rows hold were rounded outward in {len(names)} "
            f"{'column' if len(names) == 1 else 'columns'}, unless they are round: "
            f"{listed(names, 8)}."
        )


def _counted(column: Column, rare: tuple[str, ...]) -> str:
    """How many of its facts are rare, without their values."""
    facts = tuple(fact for fact in rare if fact not in column.missing)
    said = []
    if facts and isinstance(column, Categorical | Ordinal):
        said.append(f"{len(facts)} of {len(column.values)} values")
    elif facts:
        said.append(BOUNDS.get(facts, "a bound"))
    return ", ".join([*said, *counted_codes(len(rare) - len(facts))])


def counted_codes(codes: int) -> list[str]:
    """So many codes for missing values, in words; nothing of none."""
    what = "code for a missing value" if codes == 1 else "codes for missing values"
    return [f"{codes} {what}"] if codes else []


def _list(title: str, said: Mapping[str, str]) -> str:
    lines = [f"  '{name}': {why}" for name, why in said.items()]
    return "\n".join([title, *lines]) if lines else ""


def _shown(fact: str) -> str:
    """A value in a comment; one with a line break or the like is quoted."""
    return fact if fact.isprintable() else json.dumps(fact)


def _comment(text: str) -> list[str]:
    """The lines of a YAML comment."""
    return [f"# {line}" for line in wrap(text, 90)]
