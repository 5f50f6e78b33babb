"""What the schema's facts determine: left out of what methods see, and computed for what they draw.

Everything here follows from the schema and from the row at hand, or, for drawn rows, from others
drawn by the same generator: public facts on the way in, post-processing on the way out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.facts.bound import Absence, Belonging, Computed
from nacre.schema.layout import Encoded, Layout
from nacre.schema.schema import Schema

Mask = NDArray[np.bool_]


@final
@dataclasses.dataclass(frozen=True)
class Completion:
    """A schema with facts, and the way between its rows and those without what facts determine."""

    schema: Schema

    @cached_property
    def _absences(self) -> list[Absence]:
        return [fact for fact in self.schema.bound_facts if isinstance(fact, Absence)]

    @cached_property
    def modeled(self) -> Schema:
        """The schema without the columns that follow from others, and without facts."""
        if not self.schema.facts:
            return self.schema
        facts = self.schema.bound_facts
        computed = {f.column for f in facts if not isinstance(f, Absence | Belonging)}
        kept = [name for name in self.schema.names if name not in computed]
        return dataclasses.replace(self.schema.select(kept), facts=())

    def drop(self, rows: Encoded) -> Encoded:
        """Encoded rows of the table as rows of `modeled`."""
        if not self.schema.facts:
            return rows
        layout = self.modeled.layout
        numbers, codes = _places(layout, rows.layout)
        return dataclasses.replace(
            rows, ticks=rows.ticks[:, numbers], codes=rows.codes[:, codes], layout=layout
        )

    def complete(
        self,
        drawn: Encoded,
        add: Callable[[Encoded], Encoded],
        rng: np.random.Generator,
        label: str | None,
    ) -> Encoded:
        """Drawn rows with all that follows from them; those that break a fact are not `valid`.

        Gaps are made or filled in the rows as they were drawn, where a difference is still one:
        what is missing but should not be takes the value of another drawn row, with the same
        label if there is one.  So no row is lost, and nothing else in it changes.

        Args:
            drawn: as a generator draws them.
            add: from those to rows of `modeled`: `Differences.add`.
            rng: for the choice of these rows, and for rounding.
            label: the schema's.
        """
        if not self.schema.facts:
            return add(drawn)
        if self._absences:
            drawn = dataclasses.replace(
                drawn, ticks=drawn.ticks.copy(), codes=drawn.codes.copy(), valid=drawn.valid.copy()
            )
        seed = int(rng.integers(2**63))  # rounding is the same each time
        for fact in self._absences:
            rows = self._compute(add(drawn), np.random.default_rng(seed))
            gaps = fact.gaps(ColumnValues.of(self.schema.columns, rows))
            _set_gaps(drawn, fact.column, gaps, _classes(drawn, label), rng)
        rows = self._compute(add(drawn), np.random.default_rng(seed))
        view = ColumnValues.of(self.schema.columns, rows)
        for each in self.schema.bound_facts:
            rows.valid[:] &= each.holds(view)
        return rows

    def _compute(self, rows: Encoded, rng: np.random.Generator) -> Encoded:
        """Rows of the whole schema, from rows of `modeled`."""
        layout, n = self.schema.layout, len(rows)
        found = layout.encoded(
            np.zeros((n, len(layout.numbers))), np.zeros((n, len(layout.codes))), rows.valid.copy()
        )
        numbers, codes = _places(rows.layout, layout)
        found.ticks[:, numbers], found.codes[:, codes] = rows.ticks, rows.codes
        for fact in self.schema.bound_facts:
            if isinstance(fact, Absence):
                continue
            computed = fact.compute(ColumnValues.of(self.schema.columns, found), rng)
            _store(found, fact.column, computed)
        return found


def _places(small: Layout, large: Layout) -> tuple[list[int], list[int]]:
    """Where the numbers and codes of one layout are in a larger one."""
    numbers = [large.number(number.name) for number in small.numbers]
    return numbers, [large.code(code.name, code.role) for code in small.codes]


def _store(rows: Encoded, name: str, computed: Computed) -> None:
    """Write a computed column into rows."""
    layout = rows.layout
    if any(number.name == name for number in layout.numbers):
        rows.ticks[:, layout.number(name)] = np.where(computed.missing, 0, computed.places)
        if any(code.name == name for code in layout.codes):
            rows.codes[:, layout.code(name, "missing")] = computed.missing
    else:
        place = layout.code(name)
        gap = layout.codes[place].size - 1
        rows.codes[:, place] = np.where(computed.missing, gap, computed.places)
    rows.valid[:] &= computed.possible


def _classes(drawn: Encoded, label: str | None) -> NDArray[np.integer]:
    """The label's code of each drawn row; one for all if it has none."""
    layout = drawn.layout
    if label is None or not any(c.name == label and c.role == "value" for c in layout.codes):
        return np.zeros(len(drawn), np.int32)
    return drawn.codes[:, layout.code(label)]


def _set_gaps(
    drawn: Encoded, name: str, gaps: Mask, classes: NDArray[np.integer], rng: np.random.Generator
) -> None:
    """Let a column of drawn rows be missing exactly where there are to be gaps."""
    layout = drawn.layout
    number = any(each.name == name for each in layout.numbers)
    place = layout.code(name, "missing" if number else "value")
    missing = 1 if number else layout.codes[place].size - 1
    there = drawn.codes[:, place] != missing
    takers = np.flatnonzero(~there & ~gaps)
    givers = _givers(takers, np.flatnonzero(there & drawn.valid), classes, rng)
    if givers is None:
        drawn.valid[takers] = False
    else:
        drawn.codes[takers, place] = drawn.codes[givers, place]
        if number:
            ticks = layout.number(name)
            drawn.ticks[takers, ticks] = drawn.ticks[givers, ticks]
    drawn.codes[gaps, place] = missing
    if number:
        drawn.ticks[gaps, layout.number(name)] = 0


def _givers(
    takers: NDArray[np.intp],
    donors: NDArray[np.intp],
    classes: NDArray[np.integer],
    rng: np.random.Generator,
) -> NDArray[np.intp] | None:
    """For each row another one, of its own class where there is any; None if there is no donor."""
    if not len(takers):
        return takers
    if not len(donors):
        return None
    found = rng.choice(donors, len(takers))
    for each in np.unique(classes[takers]):
        same, mine = donors[classes[donors] == each], classes[takers] == each
        if len(same):
            found[mine] = rng.choice(same, int(mine.sum()))
    return found
