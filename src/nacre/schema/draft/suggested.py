"""Facts and constraints that the rows keep, written so that a person can confirm them as public."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, final

import yaml

HEAD = """\
# Found in the rows, and so not part of the schema: whether these are public, only a person can
# know. Take the `# ` away from those that are (and from the line above them), delete the rest.
"""
SOME = "# They hold in {:,} of the rows; `nacre schema check` counts those that break them.\n"
SHOWN = 12  # in the terminal
UNBROKEN: Any = {"break_long_words": False, "break_on_hyphens": False}
LONG = 30  # characters of a key, which then has a line of its own


@final
@dataclasses.dataclass(frozen=True)
class Suggested:
    """What every row that was looked at keeps.

    Attributes:
        facts: plain forms, as `Schema` takes them.
        constraints: likewise.
        rows: how many rows were looked at.
        some: whether there are others.
        remarks: what the reviewer of a fact has to know, by its text.
        left: how many more rules of each kind the rows keep that were looked at.
        perhaps: constraints that could be said if lists of whole numbers were integers, by the
            columns as they would then be.
    """

    facts: tuple[Any, ...] = ()
    constraints: tuple[Any, ...] = ()
    rows: int = 0
    some: bool = False
    remarks: Mapping[str, str] = dataclasses.field(default_factory=dict)
    left: Mapping[str, int] = dataclasses.field(default_factory=dict)
    perhaps: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    def to_yaml(self) -> str:
        """Comments, to stand behind a schema; nothing if there is nothing to suggest."""
        notes = "".join(f"# {line}\n" for note in self.notes for line in wrap(note, 94, **UNBROKEN))
        if not self.facts and not self.constraints:
            return notes
        text = HEAD + (SOME.format(self.rows) if self.some else "") + notes
        for name, said in (("constraints", self.constraints), ("facts", self.facts)):
            if said:
                lines = [f"{name}:", *(line for each in said for line in entry_lines(each))]
                text += "".join(f"# {line}\n" for line in lines)
        return text

    @property
    def notes(self) -> list[str]:
        """How many more there are, and how to see them; and what integers would keep."""
        found = []
        if self.left:
            kinds = ", ".join(f"{more:,} {kind}" for kind, more in self.left.items())
            found.append(
                f"Not offered, as few people read so many: {kinds}. To see them, draft again with "
                "--every-rule (in Python `every_rule=True`)."
            )
        for columns, said in self.perhaps.items():
            rules = ", ".join(f"`{each}`" for each in said)
            found.append(f"All rows keep {rules}, too. To say so, write `{columns}`.")
        return found

    def describe(self) -> str:
        """Which there are, for the terminal."""
        heads = [_head(each) for each in (*self.constraints, *self.facts)]
        notes = [line for note in self.notes for line in wrap(note, 90, **UNBROKEN)]
        if not heads:
            return "\n".join(notes)
        rows = f"{self.rows:,} rows that were looked at" if self.some else f"{self.rows:,} rows"
        listed = []
        for head in heads[:SHOWN]:
            listed.append(f"  {head}")
            # Not in the file: how few rows hold what is nobody else's business.
            listed += [f"    {line}" for line in wrap(self.remarks.get(head, ""), 86)]
        if len(heads) > SHOWN:
            listed.append(f"  and {len(heads) - SHOWN} more, which the draft has, too")
        one = len(heads) == 1
        return "\n".join(
            [
                f"Found to hold in all {rows}; {'it stands' if one else 'they stand'} at the end "
                "of the draft, commented out. Confirm what is public, and it need not be learned:",
                *listed,
                *notes,
            ]
        )


def _head(said: Any) -> str:
    """A fact or constraint without the entries of its table."""
    return said if isinstance(said, str) else ", ".join(said)


def entry_lines(said: Any) -> list[str]:
    """One entry of a YAML list; a look-up table is filled into lines."""
    table = not isinstance(said, str)
    long = table and any(len(key) > LONG for entries in said.values() for key in entries)
    written = yaml.safe_dump(
        [said],
        default_flow_style=None if table and not long else False,
        sort_keys=False,
        allow_unicode=True,
        width=90 if table and not long else 10**6,
    )
    return [f"  {line}" for line in written.splitlines()]
