"""A first schema: read from the rows, for a person to review, or bought with noise."""

from nacre.draft.kinds import read_types
from nacre.draft.plain import draft
from nacre.draft.private import private_draft

__all__ = ["draft", "private_draft", "read_types"]
