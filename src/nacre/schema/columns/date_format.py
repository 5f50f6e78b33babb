"""How a table writes its dates where it is not ISO 8601: `%Y%m%dT%H%M%S`, `%d.%m.%Y`, and so on."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, final

import pyarrow as pa
import pyarrow.compute as pc

from nacre.schema.columns import cells
from nacre.schema.columns.names import cell_names

PARTS = {"Y": r"\d{4}", "m": r"\d{1,2}", "d": r"\d{1,2}", "H": r"\d{1,2}", "M": r"\d{2}"}
PARTS["S"] = r"\d{2}"
NEEDED = ("Y", "m", "d")
FORMS = "Use %Y, %m and %d, and %H, %M, %S where there is a time of day, such as %d.%m.%Y %H:%M."
CLOCK = "Times of day without a date, such as 08:30, have the type `time`."


@final
@dataclasses.dataclass(frozen=True)
class DateFormat:
    """A way of writing points in time: year, month, day, and a time of day or none.

    A day, month or hour may be read with one digit (where no digit follows) and is written with
    two.  Nothing here depends on a language.

    Examples:
        >>> DateFormat("%d.%m.%Y").read(pa.array(["3.12.2014", "2014-12-03"])).to_pylist()
        ['2014-12-03 00:00:00', '?']
    """

    text: Any

    def problems(self) -> list[str]:
        """What is wrong with it."""
        said = f"format={self.text!r:.60}"
        if not isinstance(self.text, str):
            return [f"{said} must be text. {FORMS}"]
        parts = self._parts
        if unknown := [part for part in parts if part not in PARTS]:
            return [f"{said}: %{unknown[0]} is not known here. {FORMS}"]
        if len(set(parts)) < len(parts):
            return [f"{said} has a part twice. {FORMS}"]
        if any(part not in parts for part in NEEDED):
            return [f"{said} does not tell year, month and day. {FORMS} {CLOCK}"]
        times = [part for part in "HMS" if part in parts]
        if times != list("HMS")[: len(times)] or times == ["H"]:
            return [f"{said}: a time of day has %H and %M, and may have %S. {FORMS}"]
        return []

    @property
    def _parts(self) -> list[str]:
        return re.findall(r"%(.)", self.text)

    @property
    def _pattern(self) -> str:
        """What a cell looks like; digits that touch each other have a fixed number."""
        pieces = re.split(r"%(.)", self.text)
        found = re.escape(pieces[0])
        for place in range(1, len(pieces), 2):
            part, after = pieces[place], pieces[place + 1]
            touches = (not after and place + 2 < len(pieces)) or (
                not pieces[place - 1] and place > 1
            )
            digits = PARTS[part].replace("{1,2}", "{2}") if touches else PARTS[part]
            found += f"({digits}){re.escape(after)}"
        return f"^{found}$"

    def read(self, array: pa.Array) -> pa.Array:
        """Cells as ISO text; what is written otherwise becomes '?'."""
        texts = cell_names(cells.plain(array))
        places = {part: place for place, part in enumerate(self._parts, 1)}
        day = "-".join(rf"\{places[part]}" for part in NEEDED)
        time = ":".join(rf"\{places[part]}" if part in places else "00" for part in "HMS")
        empty = cells.says_nothing(texts)
        fits = pc.match_substring_regex(texts, self._pattern)
        iso = pc.replace_substring_regex(texts, self._pattern, f"{day} {time}")
        iso = pc.replace_substring_regex(iso, r"\b(\d)\b", r"0\1")
        other = pc.if_else(empty, pa.scalar(None, pa.string()), pa.scalar("?"))
        return pc.if_else(fits, iso, other)  # of no cell, nothing

    def write(self, moments: pa.Array) -> pa.Array:
        """Points in time as text."""
        return pc.strftime(pc.cast(moments, pa.timestamp("s"), safe=False), self.text)
