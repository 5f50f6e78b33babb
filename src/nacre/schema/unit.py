"""Several rows a person: which column says whose a row is, and how many rows of a person count."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, final

from nacre.schema.columns.category import Ordinal
from nacre.schema.columns.column import as_whole, shown

MOST_ROWS = 100  # of one person that may count
KEYS = ("column", "rows", "constant")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Unit:
    """Whose privacy it is, where a person may have several rows.

    Attributes:
        column: whose cells say whose a row is.  It is never encoded, fitted or released, and so is
            no column of the schema.  A row without an id is a person of its own.
        rows: how many rows of a person count, at most.
        constant: columns of the schema that do not change within a person, as sex or year of birth;
            in sampled tables they do not either.
    """

    column: str
    rows: int
    constant: tuple[str, ...] = ()

    @staticmethod
    def of(said: Any) -> Unit:
        """A unit from its plain form; problems are kept for `problems` to report."""
        if isinstance(said, Unit):
            return said
        if not isinstance(said, Mapping):
            return Unit(column="", rows=0)
        constant = said.get("constant") or ()
        whole = as_whole(said.get("rows"))
        return Unit(
            column=said.get("column", ""),
            rows=whole if isinstance(whole, int) else 0,
            constant=(constant,) if isinstance(constant, str) else tuple(constant),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for YAML and JSON."""
        said: dict[str, Any] = {"column": self.column, "rows": self.rows}
        return said | ({"constant": list(self.constant)} if self.constant else {})

    @property
    def counted(self) -> str | None:
        """The name of the column that methods see beside the table's: how many rows a person has.

        None where that is always one.
        """
        return f"rows of {self.column}" if self.rows > 1 else None

    @property
    def counts(self) -> Ordinal:
        """That column: from one row to as many as count."""
        return Ordinal(values=[str(rows) for rows in range(1, self.rows + 1)])

    def among(self, columns: Collection[str]) -> Unit:
        """The same unit in a schema of fewer columns."""
        constant = tuple(name for name in self.constant if name in columns)
        return dataclasses.replace(self, constant=constant)

    def problems(self, columns: Collection[str]) -> list[str]:
        """What is wrong with it in a schema of these columns."""
        if not isinstance(self.column, str) or not self.column:
            return [
                "unit: say which column tells persons apart, and how many rows of a person count: "
                "`unit: {column: person, rows: 5}`."
            ]
        found = []
        if self.column in columns:
            found.append(
                f"unit: '{self.column}' tells persons apart, so it can be no column of the schema: "
                "take it out of `columns`. It is never fitted; sampled tables get ids of their own."
            )
        if not 1 <= self.rows <= MOST_ROWS:
            found.append(
                f"unit: `rows` must be a whole number from 1 to {MOST_ROWS}, so many rows of a "
                "person count at most. Choose what most persons have."
            )
        elif self.counted in columns:
            found.append(f"unit: the name '{self.counted}' is needed; rename that column.")
        unknown = [
            name for name in self.constant if not isinstance(name, str) or name not in columns
        ]
        if unknown:
            found.append(
                f"unit: `constant` names {', '.join(map(shown, unknown))}, which the schema does "
                "not have."
            )
        return found


def unknown_keys(said: Any) -> list[str]:
    """Words in the plain form of a unit that mean nothing."""
    return [key for key in map(str, said) if key not in KEYS] if isinstance(said, Mapping) else []
