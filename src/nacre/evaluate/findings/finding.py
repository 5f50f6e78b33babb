"""One sentence about a table, and how bad it is."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Literal

Level = Literal["avoid", "care", "good", "note"]
ORDER = {"avoid": 0, "care": 1, "note": 2, "good": 3}
WHOLE = 'Lists that end in "and ... more" are whole in the page, and in JSON (`rest`).'
_MARKS = {"avoid": "✗", "care": "!", "note": "·", "good": "✓"}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One sentence about the table.

    Attributes:
        level: "avoid" (do not use the table for this), "care", "note", or "good".
        topic: what it is about, in a word or two.
        text: the sentence, plain text.
        weight: how bad it is, for the order within a level.
        rest: what the sentence only counts ("and 42 more"), one by one.
    """

    level: Level
    topic: str
    text: str
    weight: float = 0.0
    rest: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """A sign for terminals."""
        return _MARKS[self.level]


def told(findings: Iterable[Finding]) -> Iterator[str]:
    """The sentences as lines of a terminal, and where lists are whole that are cut there."""
    cut = False
    for finding in findings:
        yield f"  {finding.mark} {finding.text}"
        cut = cut or bool(finding.rest)
    if cut:
        yield f"  {WHOLE}"
