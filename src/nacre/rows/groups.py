"""Groups of rows by one column: its values, or a number between cuts."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.numeric import Real
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import Among, ColumnValues
from nacre.schema.constraints.constraint import Rule
from nacre.schema.written import value_at

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
GROUPS = 16  # of a number, about


@final
@dataclasses.dataclass(frozen=True)
class Groups:
    """The groups of one column: its codes, or a number between cuts; missing values are the last.

    Attributes:
        name: of the column.
        cuts: where the groups of a number begin, on its scale, the first left out.
        size: how many there are.
    """

    name: str
    cuts: Array | None
    size: int

    @classmethod
    def of(
        cls, name: str, column: Column, view: ColumnValues, rules: Sequence[Rule], some: Mask
    ) -> Groups:
        """Quantiles of some rows, cut once more wherever a rule does."""
        if column.size is not None:
            return cls(name, None, column.size)
        scale, (values, missing) = Scale(column), view[name]
        known = values[some & ~missing].astype(np.float64)
        cuts = np.quantile(known, np.arange(1, GROUPS) / GROUPS) if len(known) else np.zeros(0)
        ends = [
            end
            for rule in rules
            for condition in (*rule.demands, *rule.premise)
            if isinstance(condition, Among) and condition.name == name
            for low, high in condition.spans
            for end in (low, scale.after(high))
        ]
        found = np.unique(np.r_[cuts, np.array(ends, np.float64)])
        return cls(name, found[found > scale.low], len(found[found > scale.low]) + 2)

    def places(self, view: ColumnValues) -> Index:
        """The group of each row."""
        values, missing = view[self.name]
        if self.cuts is None:
            return values.astype(np.int64)
        found = np.searchsorted(self.cuts, values.astype(np.float64), side="right")
        return np.where(missing, self.size - 1, found)

    def title(self, place: int, column: Column) -> str:
        """A group as people see it."""
        scale = Scale(column)
        gap = column.nullable and place == self.size - 1
        if self.cuts is None:
            return f"{self.name} = {'missing' if gap else scale.names[place]}"
        if gap:
            return f"{self.name} is missing"
        ends = [scale.low, *self.cuts.tolist()]
        if scale.kind == "time":
            ends = [np.datetime64(int(end), "us").astype("datetime64[D]") for end in ends]
        texts = [f"{end:g}" if isinstance(end, float | int) else str(end) for end in ends]
        # Groups of one value are those that a rule is about.
        single = [scale.after(low) == high for low, high in itertools.pairwise(ends)]
        if isinstance(column, Time):
            ticks = [column.first_from(end) for end in ends]
            texts = [value_at(column, tick / column.ticks) for tick in ticks]
            single = [low + 1 == high for low, high in itertools.pairwise(ticks)]
        if place < len(single) and single[place]:
            return f"{self.name} = {texts[place]}"
        above = place > 0 and single[place - 1] and isinstance(column, Real)
        lower = f"> {texts[place - 1]}" if above else f">= {texts[place]}"
        upper = f" and < {texts[place + 1]}" if place < len(single) else ""
        return f"{self.name} {lower}{upper}"
