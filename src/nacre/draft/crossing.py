"""A code and its group as a table of counts: what is asked of a row, and the fact it becomes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Boolean, Categorical, Column, Integer, Layout, Ordinal
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import contains
from nacre.schema.constraints.domain import Domain
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.facts.formula import column_of
from nacre.schema.facts.statement import MISSING, Determined
from nacre.vault import Bound, Segment

MOST_NUMBERS = 1_000  # values of a whole number that may be a code
MOST_CELLS = 300_000  # of all tables together: exact noise takes some 40 microseconds a number
LISTS = (Categorical, Ordinal, Boolean)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Crossing:
    """All values of a code times all values of its group, gaps included.

    Attributes:
        fact: of which the table is to be found.
        by: the column of codes.
        column: the column of groups.
    """

    fact: Determined
    by: Column
    column: Column

    @classmethod
    def of(cls, fact: Determined, columns: Mapping[str, Column]) -> Crossing:
        """The table of a fact; raises NotUnderstood for columns that cannot have one."""
        group, code = (column_of(word, columns) for word in (fact.column, fact.by))
        column, by = columns[group], columns[code]
        if not isinstance(column, LISTS):
            raise NotUnderstood(
                f"'{group}' has type {column.type}. What is bought is the group of each code: a "
                "categorical, ordinal or boolean column."
            )
        if not isinstance(by, (*LISTS, Integer)):
            raise NotUnderstood(
                f"'{code}' has type {by.type}. A code is categorical, ordinal, boolean, or a "
                f"whole number of at most {MOST_NUMBERS:,} values. Bin it, or state the table by "
                "ranges such as 18..64, which costs nothing."
            )
        if isinstance(by, Integer) and by.ticks >= MOST_NUMBERS:
            raise NotUnderstood(
                f"'{code}' has {by.ticks + 1:,} values, and as a code it may have "
                f"{MOST_NUMBERS:,}. Bin it (a larger `step`, tighter bounds), or state the table "
                "by ranges such as 18..64, which costs nothing."
            )
        return cls(fact, by, column)

    @property
    def codes(self) -> int:
        """How many values the code has, a gap included."""
        if self.by.size is not None:
            return self.by.size
        return int(self.by.ticks or 0) + 1 + bool(self.by.nullable)

    @property
    def groups(self) -> int:
        """How many values the group has, a gap included."""
        return int(self.column.size or 0)

    @property
    def size(self) -> int:
        """How many cells the table has."""
        return self.codes * self.groups

    def place(self, layout: Layout) -> Callable[[Any], Any]:
        """The cell of one row, in integers."""
        import jax.numpy as jnp

        code, group, groups = self.fact.by.text, layout.code(self.fact.column.text), self.groups
        if self.by.size is not None:
            known = layout.code(code)
            return lambda row: row.codes[known] * groups + row.codes[group]
        number = layout.number(code)
        if not self.by.nullable:
            return lambda row: row.numbers[number] * groups + row.codes[group]
        gap, last = layout.code(code, "missing"), self.codes - 1

        def cell(row: Any) -> Any:
            there = jnp.where(row.codes[gap] == 1, last, row.numbers[number])
            return there * groups + row.codes[group]

        return cell

    def allowed(self, domain: Domain | None) -> NDArray[np.bool_]:
        """The groups that a table can name and that constraints leave."""
        names = len(Scale(self.column).names)
        found = np.zeros(self.groups, bool)
        found[:names] = True if domain is None else contains(domain.spans, np.arange(names))
        if self.column.nullable:
            # Where 'missing' is one of the values, the word does not stand for a gap.
            found[names] = len(self._group_names) > names and (domain is None or domain.gap)
        return found

    def table(self, groups: Sequence[int]) -> Determined:
        """The fact, with this group for each code."""
        entries = ((key, self._group_names[place]) for key, place in self._entries(groups))
        return dataclasses.replace(self.fact, table=tuple(entries))

    @cached_property
    def _group_names(self) -> tuple[str, ...]:
        names = tuple(Scale(self.column).names)
        return (*names, MISSING) if self.column.nullable and MISSING not in names else names

    def _entries(self, groups: Sequence[int]) -> Iterator[tuple[str, int]]:
        """Keys as facts write them: values, or ranges of whole numbers that share a group."""
        values = len(groups) - bool(self.by.nullable)
        names = Scale(self.by).names
        if isinstance(self.by, Integer):
            numbers = Scale(self.by).values(np.arange(values)).tolist()
            for place, run in itertools.groupby(range(values), key=groups.__getitem__):
                first, *more = run
                yield (
                    f"{numbers[first]}..{numbers[more[-1]]}" if more else str(numbers[first]),
                    place,
                )
        else:
            yield from zip(names, groups, strict=False)
        if self.by.nullable and MISSING not in names:
            yield MISSING, groups[-1]


def bound(crossings: Sequence[Crossing]) -> Bound:
    """A row is a one in one cell of each table, and no entry is negative."""
    sizes = (crossing.size for crossing in crossings)
    return Bound(segments=tuple(Segment(size=n, norm=1.0, signed=False) for n in sizes))


def features(crossings: Sequence[Crossing], layout: Layout) -> Callable[[Any], Any]:
    """The row's ones, as (indices, values) in integers."""
    import jax.numpy as jnp

    places = [crossing.place(layout) for crossing in crossings]
    starts = np.cumsum([0, *(crossing.size for crossing in crossings[:-1])]).astype(np.int32)

    def one_row(row: Any) -> Any:
        cells = jnp.stack([place(row) for place in places])
        return jnp.asarray(starts) + cells, jnp.ones(len(places), jnp.int32)

    return one_row
