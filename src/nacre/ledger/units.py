"""Whose privacy an entry's cost is: that of a row, or of a person by some column; never both."""

from __future__ import annotations

from collections.abc import Iterable

from nacre.errors import LedgerError
from nacre.vault import Plan
from nacre.vault.guarantee import per, unit_name

BY = ", by "
MARK = "\x1e"  # between the note of an entry and the mark of the ledger that reserved it
PERSONS = "per person"  # how the note of an entry begins whose cost is that of a person


def unit_note(plan: Plan) -> str:
    """What an entry says of persons; nothing where a row is a person."""
    if plan.unit is None:
        return ""
    if MARK in plan.unit.column:  # what comes after it would not be compared
        raise LedgerError(
            "The column that tells persons apart has a control character (U+001E) in its name, so "
            "a ledger could not tell it from others. Rename the column."
        )
    return f"{per(unit_name(plan.unit), plan.most_rows)}{BY}{plan.unit.column}"


def noted_column(note: str) -> str:
    """The column by which an entry tells persons apart; empty where a row is one.

    Examples:
        >>> noted_column("per person (up to 3 rows each), by patient"), noted_column("a trial")
        ('patient', '')
    """
    note = note.partition(MARK)[0]
    return note.partition(BY)[2] if note.startswith(PERSONS) else ""


def require_unit(dataset: str, notes: Iterable[tuple[int, str]], note: str) -> None:
    """Refuse to add what is per person to what is per row, or per other persons: no sum is true."""
    column = noted_column(note)
    for entry, written in notes:
        if noted_column(written) != column:
            whose = f"per person by '{column}'" if column else "per row"
            raise LedgerError(
                f"This is {whose}, and entry {entry} of '{dataset}' is not: the two cannot "
                "be added. Open a budget under another name for it, and keep in mind that both are "
                "of the same people."
            )
