"""A first schema, read from the rows for a person to review or bought with noise; bought facts."""

from nacre.draft.kinds import read_types
from nacre.draft.lookups import buy_lookups
from nacre.draft.plain import draft
from nacre.draft.private import private_draft

__all__ = ["buy_lookups", "draft", "private_draft", "read_types"]
