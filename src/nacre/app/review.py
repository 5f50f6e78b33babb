"""A schema on its way to be reviewed: what each column is, what few rows hold, who said 'public'.

The holder's own view: values and bounds in it are those of the rows until a person has said that
they are public, so it stays in the project's folder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

from nacre.app.column import DECLARED, ReviewedColumn, several
from nacre.errors import NacreError
from nacre.schema import Schema
from nacre.schema.document import column_lines
from nacre.schema.draft.found import Draft
from nacre.schema.draft.guess import PERSONS, SEVERAL, Note


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Review:
    """All columns, and what is said of them together; each change gives a new one.

    Attributes:
        columns: in the table's order.
        label: the column to be predicted.
        unit: whose privacy it is, in the form that schemas have it.
        constraints: what every sampled row satisfies.
        facts: what follows from other columns.
        suggested: facts and constraints that the rows keep, each with whether it was taken.
        beside: what else is said of these: how many more there are, and what integers would keep.
        left_out: columns that could not be drafted or are identifiers, and why.
        provenance: of the schema: "data" or "declared".
        counted: the column by which persons were counted, as the rows were at first.
        same: columns that do not change within any of these persons.
    """

    columns: tuple[ReviewedColumn, ...]
    label: str | None = None
    unit: dict[str, Any] | None = None
    constraints: tuple[Any, ...] = ()
    facts: tuple[Any, ...] = ()
    suggested: tuple[dict[str, Any], ...] = ()
    beside: tuple[str, ...] = ()
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)
    provenance: str = "data"
    counted: str = ""
    same: tuple[str, ...] = ()

    @classmethod
    def of_draft(cls, draft: Draft) -> Self:
        """What was read from the rows, with nothing said about it yet."""
        schema = draft.schema
        columns = []
        for name, column in schema.columns.items():
            odd = (draft.odd[name],) if name in draft.odd else ()
            notes = (*odd, *(_said(name, note) for note in draft.notes.get(name, ())))
            rare = tuple(draft.rare.get(name, ()))
            facts = column.to_dict()
            columns.append(ReviewedColumn(name=name, facts=facts, rare=rare, notes=notes))
        offered = [
            {"kind": kind, "said": said, "taken": False}
            for kind, every in (
                ("constraints", draft.suggested.constraints),
                ("facts", draft.suggested.facts),
            )
            for said in every
        ]
        return cls(
            columns=tuple(columns),
            label=schema.label,
            suggested=tuple(offered),
            beside=tuple(draft.suggested.notes),
            left_out={
                name: why.removesuffix(PERSONS).replace(" (--drop)", "").strip()
                for name, why in {**draft.identifiers, **draft.left_out}.items()
            },
        )

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """What somebody has declared before, and nobody has to review."""
        plain = schema.to_dict()
        columns = tuple(
            ReviewedColumn(name=name, facts=facts, source=DECLARED, public=True)
            for name, facts in plain["columns"].items()
        )
        return cls(
            columns=columns,
            label=schema.label,
            unit=plain.get("unit"),
            constraints=tuple(plain.get("constraints", ())),
            facts=tuple(plain.get("facts", ())),
            provenance="declared",
        )

    @property
    def numbering(self) -> tuple[str, ...]:
        """Columns that seem to number persons or things, unless one of them is the unit."""
        found = tuple(name for name, why in self.left_out.items() if why == SEVERAL)
        return () if self.unit is not None else found

    @property
    def kept(self) -> tuple[ReviewedColumn, ...]:
        """The columns of the schema to be."""
        return tuple(column for column in self.columns if column.kept)

    @property
    def waiting(self) -> tuple[ReviewedColumn, ...]:
        """The columns that nobody has said are public."""
        return tuple(column for column in self.columns if column.waits)

    @property
    def plain_waiting(self) -> int:
        """How many of them have no mark, and so can be ticked together."""
        return sum(not column.marked for column in self.waiting)

    @property
    def gatherable(self) -> int:
        """How many columns have rare values that could be gathered together."""
        return sum(column.gatherable and column.name != self.label for column in self.columns)

    def changed(self, place: int, **changes: Any) -> Review:
        """With one column changed."""
        columns = list(self.columns)
        columns[place] = dataclasses.replace(columns[place], **changes)
        return dataclasses.replace(self, columns=tuple(columns))

    def ticked(self, places: set[int]) -> Review:
        """With exactly these columns said to be public."""
        columns = (
            dataclasses.replace(column, public=place in places)
            for place, column in enumerate(self.columns)
        )
        return dataclasses.replace(self, columns=tuple(columns))

    def tick_plain(self) -> Review:
        """With all columns without a mark said to be public."""
        columns = (
            dataclasses.replace(column, public=column.public or not column.marked)
            for column in self.columns
        )
        return dataclasses.replace(self, columns=tuple(columns))

    def schema(self, *, reviewed: bool) -> Schema:
        """The schema that it says; raises SchemaError with all problems at once."""
        taken = [each for each in self.suggested if each["taken"]]
        said: dict[str, Any] = {
            "nacre": 1,
            "provenance": self.provenance,
            "reviewed": reviewed and self.provenance == "data",
            "columns": {column.name: column.facts for column in self.kept},
            "constraints": [*self.constraints, *_of(taken, "constraints")],
            "facts": [*self.facts, *_of(taken, "facts")],
        }
        if self.label is not None:
            said["label"] = self.label
        if self.unit is not None:
            said["unit"] = self.unit
        return Schema.from_dict(said)

    def finished(self) -> Schema:
        """The reviewed schema; refused while a column waits."""
        if self.waiting:
            names = ", ".join(f"'{column.name}'" for column in self.waiting[:8])
            raise NacreError(
                f"{several(len(self.waiting), 'column')} still to be looked at: {names}. Say that "
                "what stands there is public, change it, or leave the column out."
            )
        return self.schema(reviewed=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the project's folder."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        columns = tuple(_column(each) for each in said["columns"])
        rest: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in said.items()
            if name != "columns"
        }
        return cls(columns=columns, **rest)


def _said(name: str, note: Note) -> str:
    """A note with the line that it offers, which a draft's file has by itself."""
    if note.offer is None:
        return note.full
    return f"{note.full} {' '.join(column_lines(name, note.offer.to_dict()).split())}"


def _column(said: Mapping[str, Any]) -> ReviewedColumn:
    return ReviewedColumn(
        **dict(said) | {"rare": tuple(said["rare"]), "notes": tuple(said["notes"])}
    )


def _of(taken: Sequence[Mapping[str, Any]], kind: str) -> list[Any]:
    return [each["said"] for each in taken if each["kind"] == kind]
