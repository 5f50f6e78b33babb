"""One sentence about a table, and how bad it is."""

import dataclasses
from typing import Literal

Level = Literal["avoid", "care", "good", "note"]
ORDER = {"avoid": 0, "care": 1, "note": 2, "good": 3}
_MARKS = {"avoid": "✗", "care": "!", "note": "·", "good": "✓"}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One sentence about the table.

    Attributes:
        level: "avoid" (do not use the table for this), "care", "note", or "good".
        topic: what it is about, in a word or two.
        text: the sentence, plain text.
        weight: how bad it is, for the order within a level.
    """

    level: Level
    topic: str
    text: str
    weight: float = 0.0

    @property
    def mark(self) -> str:
        """A sign for terminals."""
        return _MARKS[self.level]
