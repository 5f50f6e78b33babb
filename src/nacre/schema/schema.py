"""The schema: what is public about a table, and the exact integer form of its rows."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.schema import coding, document, table
from nacre.schema.check import Check, examine
from nacre.schema.columns.column import Column
from nacre.schema.constraints.constraint import Constraint, Rule, understand
from nacre.schema.constraints.domain import Contradiction, narrow
from nacre.schema.errors import SchemaError
from nacre.schema.facts.bound import BoundFact
from nacre.schema.facts.narrowing import narrow_all
from nacre.schema.facts.statement import Fact, parse
from nacre.schema.facts.understand import understand_facts
from nacre.schema.layout import Encoded, Layout
from nacre.schema.problems import (
    bought_problems,
    column_problems,
    label_problems,
    origin_problems,
    protected_problems,
)
from nacre.schema.protected import USUAL, as_sets, require_known
from nacre.schema.unit import Unit

KEEP: Any = object()
"""The label that the schema names; None means no label."""


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Schema:
    """Columns with their public facts, in order. Every problem is reported at once.

    Attributes:
        columns: name to column type; the order is the order of decoded tables.
        label: the column to be predicted, if there is one.
        provenance: where the facts come from: "declared" (known without looking at the rows),
            "data" (read from the rows, not private) or "private" (paid for; see `releases`); of
            the columns: tables that were bought say so themselves (`bought`).
        reviewed: a person has found that facts read from the rows are public anyway.
        releases: what a private draft or bought look-up tables released; a fit composes it.
        constraints: what every sampled row satisfies: statements such as "start <= end" or
            "age >= 18 if employed = yes", {"forbid": {...}} and {"fixed": {...}}.
        facts: what follows from other columns in every row, and so is computed and not modeled:
            "total = a + b", "end is missing exactly when status = open", and tables such as
            {"group determined by code": {"A1": "A"}}.
        protect: sets of columns whose joint distribution is itself a secret, such as "age+wage" or
            "age+wage@0.01"; only `ppem` hides it (α-LMDP), and other methods refuse.
        unit: whose privacy it is, where a person may have several rows; None if a row is a person.

    Examples:
        >>> from nacre.schema import Boolean, Integer
        >>> schema = Schema({"age": Integer(low=17, high=90), "member": Boolean()}, label="member")
        >>> schema.names
        ('age', 'member')
    """

    columns: Mapping[str, Column]
    label: str | None = None
    provenance: str = "declared"
    reviewed: bool = False
    releases: tuple[dict[str, Any], ...] = ()
    constraints: Sequence[Constraint | str | Mapping[str, Any]] = ()
    facts: Sequence[Fact | str | Mapping[str, Any]] = ()
    protect: Sequence[Any] = ()
    unit: Unit | None = None
    bound_facts: tuple[BoundFact, ...] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "releases", tuple(self.releases))
        if self.unit is not None:
            object.__setattr__(self, "unit", Unit.of(self.unit))
        if problems := self._problems():
            raise SchemaError(problems)

    def _problems(self) -> list[str]:
        """All of them at once; what is said about columns can be judged only if these are right."""
        found = [
            *column_problems(self.columns),
            *label_problems(self.label, self.columns),
            *origin_problems(self.provenance, self.reviewed, self.releases),
        ]
        if self.unit is not None:
            found += self.unit.problems(self.columns)
        known = not found
        found += self._settle_protected(known=known)
        found += protected_problems(self.protect, self.releases)
        found += self._settle_constraints(known=known)
        facts = self._settle_facts(known=known)
        facts += bought_problems([parse(fact) for fact in self.facts], self.releases)
        if known and not found and not facts and self.facts:
            try:
                narrow_all(self.columns, self.rules, self.bound_facts)
            except Contradiction as error:
                facts.append(f"the facts and constraints contradict each other. {error}")
        return found + facts

    def _settle_protected(self, *, known: bool) -> list[str]:
        """Put protected sets into their canonical form; returns what is wrong with them."""
        try:
            sets = as_sets(self.protect, USUAL)
            if known:
                require_known(sets, self.names)
        except NacreError as error:
            return [f"protect: {error}"]
        object.__setattr__(self, "protect", tuple(map(str, sets)))
        return []

    def _settle_facts(self, *, known: bool) -> list[str]:
        """Put facts into their canonical form and their order; returns what is wrong with them."""
        facts, bound, problems = understand_facts(self.facts, self.columns, self.label, known=known)
        object.__setattr__(self, "facts", facts)
        object.__setattr__(self, "bound_facts", bound)
        return problems

    def _settle_constraints(self, *, known: bool) -> list[str]:
        """Put constraints into their canonical form; returns what is wrong with them."""
        constraints, problems = understand(self.constraints, self.columns, known=known)
        object.__setattr__(self, "constraints", constraints)
        if known and not problems:
            try:
                narrow(self.columns, self.rules)
            except Contradiction as error:
                problems.append(f"the constraints contradict each other. {error}")
        return problems

    def __repr__(self) -> str:
        label = "no label" if self.label is None else f"label {self.label!r}"
        return f"<Schema of {len(self.columns)} columns: {table.listed(self.columns, 6)}; {label}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.columns)

    @cached_property
    def counted(self) -> Schema:
        """The table that methods learn from: with how many rows a person has as one more column.

        The schema itself where a row is a person, or one row of each counts.
        """
        if self.unit is None or self.unit.counted is None:
            return self
        columns = {**self.columns, self.unit.counted: self.unit.counts}
        return dataclasses.replace(self, columns=columns, unit=None)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything the schema says, the columns' order included."""
        said = self.to_dict() | {"columns": [[n, c.to_dict()] for n, c in self.columns.items()]}
        canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The constraints, ready to be tried on rows."""
        stated = (Constraint.of(each, self.columns) for each in self.constraints)
        return tuple(constraint.bind(self.columns) for constraint in stated)

    @cached_property
    def layout(self) -> Layout:
        """What an encoded row is made of."""
        return coding.layout(self.columns)

    def encode(self, rows: pa.RecordBatch | pa.Table) -> Encoded:
        """Rows as integers; other columns of the table are ignored.

        Nothing here depends on any row but the one at hand. A number out of range is clamped.
        A row with a gap in a column that is not nullable, or with an unknown category where
        there is no `other`, is not valid: it counts as zero.
        """
        n = rows.num_rows
        encoded = Encoded(
            ticks=np.zeros((n, len(self.layout.numbers)), np.int64),
            codes=np.zeros((n, len(self.layout.codes)), np.int32),
            valid=np.ones(n, bool),
            layout=self.layout,
        )
        self.encode_into(rows, encoded.ticks, encoded.codes, encoded.valid)
        return encoded

    def encode_into(
        self,
        rows: pa.RecordBatch | pa.Table,
        ticks: NDArray[np.integer],
        codes: NDArray[np.int32],
        valid: NDArray[np.bool_],
        shifts: Sequence[int] | None = None,
    ) -> None:
        """`encode`, written into arrays that are there already; `valid` must hold True.

        With `shifts`, each number's ticks lose so many of their last bits.
        """
        shifts = (0,) * len(self.layout.numbers) if shifts is None else shifts
        coding.encode_into(self.columns, rows, ticks, codes, valid, shifts)

    def decode(self, encoded: Encoded) -> pa.Table:
        """The table that encodes to these ticks and codes, in canonical Arrow types.

        Integers are int64, reals float64, categories and ordinals string, Booleans bool, dates
        date32 (whole days) or timestamp[us], times of day time32[s] or time64[us]; with `format`,
        or a code for missing values that is no such value, string. `valid` is not looked at.
        """
        return coding.decode(self.columns, self.layout, encoded)

    def check(self, rows: table.Batches) -> Check:
        """How many values do not fit, by column and reason. The holder's own view: not private.

        Takes a table, a batch, or anything that yields batches, of which it keeps only counts.
        """
        return examine(self.columns, rows, self.rules, self.bound_facts)

    @property
    def from_rows(self) -> bool:
        """Whether it was read from the rows, and a person said or has to say that it is public.

        Also a private one that is reviewed: so earlier versions kept a draft with bought tables.
        """
        return self.provenance == "data" or (self.provenance == "private" and self.reviewed)

    @property
    def unreviewed(self) -> bool:
        """Whether it was read from the rows, and nobody has said yet that it is public."""
        return self.provenance == "data" and not self.reviewed

    def require_usable(self) -> None:
        """Refuse a schema whose facts were read from the rows until a person has reviewed it."""
        if self.unreviewed:
            raise SchemaError(
                "This schema was drafted from the data (provenance: data) and nobody has reviewed "
                "it. Its bounds and values would be published with the model, outside the "
                "privacy guarantee. Look at each low, high and list of values: would anybody know "
                "it without seeing this table? Replace what only the table could tell (the exact "
                "largest income, a rare diagnosis), then set `reviewed: true` in the schema."
            )

    def with_label(self, label: str | None) -> Schema:
        """The same schema with another column to predict, or none."""
        return dataclasses.replace(self, label=label)

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of some of the columns, in the order given.

        The label stays if chosen, and so do constraints and facts that speak of no other column.
        """
        names = tuple(names)
        if unknown := [name for name in names if name not in self.columns]:
            raise SchemaError(
                f"There is no column {table.listed(unknown)} in the schema. "
                f"The columns are {table.listed(self.columns)}."
            )
        label = self.label if self.label in names else None
        columns = {name: self.columns[name] for name in names}
        pairs = zip(self.constraints, self.rules, strict=True)
        return dataclasses.replace(
            self,
            columns=columns,
            label=label,
            constraints=[said for said, rule in pairs if rule.names <= columns.keys()],
            facts=self._facts_of(columns),
            protect=[one for one in as_sets(self.protect, USUAL) if {*one.columns} <= {*names}],
            unit=None if self.unit is None else self.unit.among(columns),
        )

    def _facts_of(self, columns: Mapping[str, Column]) -> list[Fact]:
        """The facts that speak of these columns only."""
        names: dict[str, set[str]] = {}
        for fact in self.bound_facts:
            names.setdefault(fact.text, set()).update({fact.column}, fact.sources)
        return [each for each in map(parse, self.facts) if names[str(each)] <= columns.keys()]

    def with_constraints(self, constraints: Sequence[str | Mapping[str, Any]]) -> Schema:
        """The same schema with other constraints, or none."""
        return dataclasses.replace(self, constraints=constraints)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Schema:
        """The schema in a YAML file."""
        said = document.read(Path(path))
        if "images" in said:
            raise SchemaError(f"'{path}' is a schema of images: read it with ImageSchema.read.")
        return cls._build(said, subject=f"The schema '{path}'")

    @classmethod
    def parse(cls, text: str) -> Schema:
        """The schema in YAML text."""
        return cls._build(document.load(text))

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` gave, or that a person wrote in the same form."""
        return cls._build(said)

    @classmethod
    def _build(cls, said: Mapping[str, Any], *, subject: str = "The schema") -> Schema:
        parts, problems = document.unpack(said)
        try:
            schema = cls(**parts)
        except SchemaError as error:
            problems += error.problems
        if problems:
            raise SchemaError(problems, subject=subject)
        return schema

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain lists and mappings, for JSON. The order of `columns` matters."""
        said: dict[str, Any] = {"nacre": document.VERSION}
        if self.label is not None:
            said["label"] = self.label
        if self.unit is not None:
            said["unit"] = self.unit.to_dict()
        said |= {"provenance": self.provenance, "reviewed": self.reviewed}
        said["columns"] = {name: column.to_dict() for name, column in self.columns.items()}
        if self.constraints:
            stated = (Constraint.of(each, self.columns) for each in self.constraints)
            said["constraints"] = [constraint.plain() for constraint in stated]
        if self.facts:
            said["facts"] = [parse(fact).plain() for fact in self.facts]
        if self.protect:
            said["protect"] = list(self.protect)
        if self.releases:
            said["releases"] = list(self.releases)
        return said

    def to_yaml(self) -> str:
        """The schema as YAML with comments that explain each field."""
        return document.dump(self.to_dict())

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a YAML file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")
