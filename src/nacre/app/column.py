"""One column on its way to be reviewed: what it is, what few hold of it, who said 'public'."""

from __future__ import annotations

import dataclasses
from typing import Any, final

from nacre.schema.draft.found import BOUNDS, counted_codes
from nacre.schema.draft.guess import FEW

READ, EDITED, DECLARED = "read from the rows", "written by you", "declared"


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class ReviewedColumn:
    """One column, and what a person has to know and has said of it.

    Attributes:
        name: of the column.
        facts: as the schema's file has them.
        source: where they come from.
        public: whether a person has said that they are.
        kept: whether it stays in the schema.
        rare: its values, bounds by name and codes for missing values that few rows or persons
            hold.
        holders: what was counted for `rare`: rows, or persons.
        notes: what was guessed, and what does not fit.
    """

    name: str
    facts: dict[str, Any]
    source: str = READ
    public: bool = False
    kept: bool = True
    rare: tuple[str, ...] = ()
    holders: str = "rows"
    notes: tuple[str, ...] = ()

    @property
    def marked(self) -> bool:
        """Whether only the table could tell some of it."""
        return bool(self.rare) and self.kept

    @property
    def gatherable(self) -> bool:
        """Whether rare values could be 'other', with values left beside them."""
        listed = self.facts["type"] == "categorical" and self.marked
        return listed and 0 < len(self._rare_facts) < len(self.listed)

    @property
    def _rare_facts(self) -> tuple[str, ...]:
        """Those that are no codes for missing values."""
        return tuple(fact for fact in self.rare if fact not in self.facts.get("missing", ()))

    @property
    def waits(self) -> bool:
        """Whether a person still has to look at it."""
        return self.kept and not self.public

    @property
    def listed(self) -> tuple[str, ...]:
        """Its values, if it has a list of them."""
        return tuple(self.facts.get("values", ()))

    @property
    def gaps(self) -> str:
        """Whether values may be missing, and what stands in their place."""
        codes = ", ".join(str(each) or "nothing" for each in self.facts.get("missing", ()))
        if not (codes or self.facts.get("nullable")):
            return ""
        return f"may be missing ({codes})" if codes else "may be missing"

    @property
    def more(self) -> str:
        """What else a model carries in the open: single values, how it is written."""
        facts = self.facts
        said = []
        if facts.get("spikes"):
            spikes = (_shown(value, comma=False) for value in facts["spikes"])
            said.append(f"often {', '.join(spikes)}")
        if facts.get("format"):
            said.append(f"written as {facts['format']}")
        if facts.get("clamp"):
            said.append("cut at its bounds")
        return "; ".join(said)

    @property
    def said(self) -> str:
        """The facts in a line."""
        facts = self.facts
        if "values" in facts:
            return several(len(facts["values"]), "value")
        if "low" in facts:
            apart = facts.get("step") not in (None, 1)
            step = f", in steps of {_shown(facts['step'])}" if apart else ""
            low, high = facts["low"], facts["high"]
            years = facts["type"] == "integer" and low >= 1000 and high < 3000
            ends = (_shown(end, comma=not years) for end in (low, high))
            return f"{' to '.join(ends)}{step}"
        return "true or false"

    @property
    def warning(self) -> str:
        """What few rows hold, in a line."""
        if not self.marked:
            return ""
        facts, said = self._rare_facts, []
        if facts and "values" in self.facts:
            said = [several(len(facts), "value")]
        elif facts:
            said = [BOUNDS.get(facts, "a bound")]
        said += counted_codes(len(self.rare) - len(facts))
        return f"{', '.join(said)} held by fewer than {FEW} {self.holders}"


def _shown(value: Any, *, comma: bool = True) -> str:
    """A bound as people write it.

    Examples:
        >>> _shown(85000.0), _shown("2024-12-31"), _shown(1921, comma=False)
        ('85,000', '2024-12-31', '1921')
    """
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:,.10g}" if comma else f"{value:.10g}"


def several(count: int, what: str) -> str:
    """So many of something, in words."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
