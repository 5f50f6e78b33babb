"""Released cross-tables as answers: how many rows have which values, and how sure that is.

Releases:
    nothing: what is said here was released when the model was made, and is post-processing of it.

Guarantee:
    an interval of level 1 - a holds the count of the private table (of its rows that fit the
    schema, which is all of them unless bad rows were allowed) with this probability, over the
    noise, or a greater one where the count is near none: noise is Gaussian with known deviation,
    and a weighed mean of independent Gaussians is Gaussian.  Of many intervals together some will
    miss.  Of a column that a look-up table computes it is true as far as the private rows keep
    that fact.  How far the table is from the world that it was drawn from no interval here tells.
"""

from __future__ import annotations

import dataclasses
import itertools
import numbers
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.answers.computed import computed_tables
from nacre.errors import NacreError
from nacre.histograms.crosstable import Axis, CrossTable, together
from nacre.histograms.measurement import MISSING
from nacre.schema import Schema
from nacre.schema.facts.bound import Linear, LookUp, Near
from nacre.schema.suggest import suggest
from nacre.schema.written import value_at, value_names

LEVEL = 0.95
FEW_NAMES = 3  # of values that share a bin, before the others are counted only
SHOWN = 40  # lines of a printed answer


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Answer:
    """How many rows of the private table have which values of some columns.

    Attributes:
        columns: their names.
        values: the bins of each column, as people write them.
        counts: noisy, so not whole, and negative now and then.
        noise: standard deviation of each count.
        level: how probable it is that an interval holds the true count.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    counts: NDArray[np.float64]
    noise: NDArray[np.float64]
    level: float

    @property
    def title(self) -> str:
        """As it would be asked for: 'income by sex'."""
        return " by ".join(self.columns)

    @property
    def low(self) -> NDArray[np.float64]:
        """The lower ends of the intervals; no count is less than none."""
        return np.maximum(self._nearest - self._reach, 0.0)

    @property
    def high(self) -> NDArray[np.float64]:
        """The upper ends of the intervals."""
        return self._nearest + self._reach

    @property
    def _nearest(self) -> NDArray[np.float64]:
        """The counts, those that noise brought below none as none.

        No true count is farther from these than from the noisy ones, so that intervals around them
        hold at least as often; around a count far below none they would end at "0 to 0", as if it
        were sure that there is no such row.
        """
        return np.maximum(self.counts, 0.0)

    @property
    def _reach(self) -> NDArray[np.float64]:
        return np.asarray(NormalDist().inv_cdf((1 + self.level) / 2) * self.noise)

    def to_arrow(self) -> pa.Table:
        """One line a combination of values: the values, the count, the interval, the noise."""
        lines = list(itertools.product(*self.values))
        named = {name: [line[k] for line in lines] for k, name in enumerate(self.columns)}
        numbers = {"count": self.counts, "low": self.low, "high": self.high, "noise": self.noise}
        taken = {str(name) for name in named}
        # A column of the table may be called 'count' itself.
        written = {(f"{k} of rows" if k in taken else k): v.ravel() for k, v in numbers.items()}
        return pa.table({**named, **written})

    def to_pandas(self) -> Any:
        """The same as a pandas frame."""
        return self.to_arrow().to_pandas()

    def __str__(self) -> str:
        axes = zip(self.columns, self.values, strict=True)
        widths = [max(map(len, (name, *values))) for name, values in axes]
        head = [name.ljust(width) for name, width in zip(self.columns, widths, strict=True)]
        lines = ["  ".join([*head, f"{'rows':>12}", f"{self.level:.0%} interval"])]
        cells = zip(
            itertools.product(*self.values),
            self._nearest.ravel(),
            self.low.ravel(),
            self.high.ravel(),
            strict=True,
        )
        for said, count, low, high in itertools.islice(cells, SHOWN):
            named = [value.ljust(width) for value, width in zip(said, widths, strict=True)]
            lines.append("  ".join([*named, f"{count:12,.0f}", f"{low:,.0f} to {high:,.0f}"]))
        if self.counts.size > SHOWN:
            left = f"... and {self.counts.size - SHOWN:,} more"
            lines.append(f"{left}: all are in to_arrow(), or by `nacre tables --json`.")
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


def answer(
    schema: Schema, tables: Sequence[CrossTable], question: Any, level: float = LEVEL
) -> Answer:
    """What the released tables say together of the columns that a question names."""
    names, level = as_columns(question, schema), _as_level(level)
    found = together(computed_tables(schema, tables, names), names)
    if found is None:
        raise NacreError(_nothing(names, tables, schema))
    return _written(schema, found, level)


def answers(
    schema: Schema, tables: Sequence[CrossTable], level: float = LEVEL
) -> tuple[Answer, ...]:
    """Every released table by itself, as it left the vault."""
    return tuple(_written(schema, table, _as_level(level)) for table in tables)


def as_columns(question: Any, schema: Schema) -> tuple[str, ...]:
    """The columns that a question names: 'income by sex', or a list of names.

    Examples:
        >>> from nacre.schema import Boolean
        >>> as_columns("sold by day by shop", Schema({"sold by day": Boolean(), "shop": Boolean()}))
        ('sold by day', 'shop')
    """
    if isinstance(question, str):
        names = _split(question.split(" by "), schema)
    elif isinstance(question, Iterable):
        names = tuple(question)
    else:
        raise NacreError(f"Ask for columns, as in 'income by sex'; got {question!r}.")
    for name in names:
        if name not in schema.columns:
            raise NacreError(
                f"There is no column '{name}'. The columns are {', '.join(schema.names)}."
                f"{suggest(str(name), schema.names)}"
            )
    if not names or len(set(names)) < len(names):
        raise NacreError(f"Name each column once, as in 'income by sex'; got {question!r}.")
    return names


def _split(words: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Names from words between ' by 's, some of which may belong to a name."""
    found, rest = [], [word.strip() for word in words]
    while rest:
        longest = next(
            (k for k in range(len(rest), 0, -1) if " by ".join(rest[:k]) in schema.columns), 1
        )
        found.append(" by ".join(rest[:longest]))
        rest = rest[longest:]
    return tuple(found)


def _as_level(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise NacreError(f"level must be between 0 and 1, such as 0.95; got {level!r}.")
    return float(level)


def _nothing(names: Sequence[str], tables: Sequence[CrossTable], schema: Schema) -> str:
    asked = " by ".join(names)
    computed = [fact for fact in schema.bound_facts if isinstance(fact, Linear | Near)]
    if follows := [fact for fact in computed if fact.column in names]:
        how = "exactly and " if isinstance(follows[0], Linear) else ""
        return (
            f"'{asked}' was not counted: '{follows[0].column}' follows from other columns "
            f"(`{follows[0].text}`), {how}at no cost. Draw rows, and count these."
        )
    if not tables:
        return (
            f"The model keeps no counts, so it cannot answer '{asked}'. Models of Mosaic, MST and "
            "AIM that were fitted with noise keep some; of others draw rows, and count these."
        )
    sources = {fact.column: fact.by for fact in schema.bound_facts if isinstance(fact, LookUp)}
    counted = tuple(dict.fromkeys(sources.get(name, name) for name in names))
    if counted != tuple(names) and together(tables, counted) is not None:
        told = ", ".join(f"'{n}' from '{sources[n]}'" for n in names if n in sources)
        return (
            f"'{asked}' cannot be told from what was counted: the schema computes {told}, and bins "
            f"of that were too coarse. Ask for '{' by '.join(counted)}', or draw rows, and count "
            "these."
        )
    known = {table.columns for table in tables}
    unknown = [name for name in names if not any(name in table for table in known)]
    if unknown and any(unknown[0] in rule.names for rule in schema.rules):
        return (
            f"'{asked}' was not counted: '{unknown[0]}' was fitted by what a constraint says of it "
            "and other columns, such as its distance from one. Draw rows, and count these."
        )
    several = [" by ".join(each) for each in sorted(known, key=len) if names[0] in each][:6]
    measured = f"With '{names[0]}' there is: {', '.join(several)}." if several else ""
    return (
        f"'{asked}' was not counted when the model was made. {measured} `nacre tables` lists all; "
        "for other combinations draw rows, and count these."
    ).replace("  ", " ")


def _written(schema: Schema, table: CrossTable, level: float) -> Answer:
    values = tuple(tuple(_names(schema, axis)) for axis in table.axes)
    return Answer(table.columns, values, table.counts, table.noise, level)


def _names(schema: Schema, axis: Axis) -> list[str]:
    """What each bin is called: a value, several, or a stretch of a number's range."""
    column = schema.columns[axis.column]
    found = []
    for place in range(axis.size):
        cells = axis.cells_of(place)
        if column.ticks is None:
            known = value_names(schema, axis.column)
            said = [known[code] for code in axis.low[cells]]
            more = len(said) - FEW_NAMES
            listed = said if more <= 1 else [*said[:FEW_NAMES], f"{more} others"]
            found.append(", ".join(listed))
        elif (axis.low[cells] == MISSING).any():
            found.append("missing")
        else:
            ends = int(axis.low[cells].min()), int(axis.high[cells].max())
            first, last = (value_at(column, tick / max(column.ticks, 1)) for tick in ends)
            found.append(first if ends[0] == ends[1] else f"{first} to {last}")
    return found
