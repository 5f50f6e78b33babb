"""A table through its schema: each column a position or a code, differences of columns included."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.completion import Completion
from nacre.rows.constants import Constant, find_constants, set_constants
from nacre.rows.days_after import with_days_after
from nacre.rows.difference import Difference
from nacre.rows.differences import Differences
from nacre.rows.encoder import AbstractEncoder, Block, Label
from nacre.rows.gathering import Gathering
from nacre.rows.source import Source, Watch, open_source
from nacre.rows.times import Times, find_times
from nacre.rows.unit import Roster
from nacre.rows.weights import Weights, weigh
from nacre.schema import Encoded, Layout, Schema, SchemaError, Unit, as_types, stated_types
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.constraint import Rule
from nacre.schema.constraints.domain import Contradiction
from nacre.schema.constraints.given import given
from nacre.schema.facts.bound import Absence, Belonging, Linear, Near
from nacre.schema.facts.narrowing import narrow_all


class Row(NamedTuple):
    """One row of a table as a function of one row sees it, or many: integers only, hence exact.

    Of many rows each part has a first axis more, that of rows.

    Attributes:
        numbers: int32, each number's position, from 0 to `Number.positions`: its tick, or the
            leading bits of it where there are more than 2^30.
        codes: int32, each category's place in its public list.
    """

    numbers: Any
    codes: Any


@final
@dataclasses.dataclass(frozen=True)
class TableEncoder(AbstractEncoder):
    """Rows of a table; where constraints order two columns, one is seen as its distance.

    Columns that follow from others by the schema's facts are not seen at all; times over many days
    as a day and a time of day.

    Attributes:
        schema: of the table, as people see it.
        differences: which columns are modeled by their distance from another.
        types: the Arrow types of decoded tables, where the holder has stated them to be public;
            the schema's own otherwise.
        times: which columns are modeled as a day and a time of day.
    """

    kind = "table"

    schema: Schema
    differences: tuple[Difference, ...] = ()
    types: pa.Schema | None = None
    times: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema, types: pa.Schema | None = None) -> Self:
        """The encoder of a schema, with the differences that its constraints ask for."""
        way = Differences.of(Completion(schema.counted).modeled)
        times = find_times(way.modeled, schema.counted.names, way.from_midnight)
        return cls(schema, tuple(way.stated), types, times)

    @cached_property
    def _completion(self) -> Completion:
        return Completion(self.schema.counted)

    @cached_property
    def _way(self) -> Differences:
        return Differences(self._completion.modeled, self.differences)

    @cached_property
    def _split(self) -> Times:
        return Times(self._way.modeled, self.times, self._way.from_midnight)

    @cached_property
    def _constants(self) -> tuple[Constant, ...]:
        facts = self.schema.counted.bound_facts
        bound = {name for fact in facts for name in (fact.column, *fact.sources)}
        for each in self.differences:
            bound |= {each.column, each.anchor}
        return find_constants(self.schema.counted, bound)

    @property
    def modeled(self) -> Schema:
        """The schema that methods see: no column that facts determine, differences as numbers."""
        return self._split.modeled

    @cached_property
    def layout(self) -> Layout:
        """The numbers and codes of a row, as methods see it, and what distances are from."""
        tied = self._way.tied(self.modeled.layout, {*self.times})
        apart = {*self.times, *(each.column for each in self.differences), self.schema.label or ""}
        return with_days_after(tied, self.schema.counted.bound_facts, apart)

    @property
    def shape(self) -> Row:
        """One row."""
        import jax
        import jax.numpy as jnp

        numbers, codes = len(self.layout.numbers), len(self.layout.codes)
        return Row(
            jax.ShapeDtypeStruct((numbers,), jnp.int32), jax.ShapeDtypeStruct((codes,), jnp.int32)
        )

    @cached_property
    def label(self) -> Label | None:
        """The schema's label if it has a list of values; a numeric one is a column like others."""
        name = self.schema.label
        if name is None or len(self.modeled.columns) == 1 or name not in self._places:
            return None
        return Label(name, self.layout.codes[self._places[name]].size)

    @property
    def target(self) -> int | None:
        """The place among the numbers of a numeric label (a regression target), or None."""
        names = [number.name for number in self.layout.numbers]
        return names.index(self.schema.label) if self.schema.label in names else None

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where each column with a list of values is among the codes."""
        codes = enumerate(self.layout.codes)
        return {code.name: place for place, code in codes if code.role == "value"}

    def place(self, label: Label | None) -> int | None:
        """A label's place among the codes."""
        if label is None:
            return None
        place = self._places.get(label.name)
        if place is None or self.layout.codes[place].size != label.classes:
            raise NacreError(
                f"'{label.name}' is not a column with a list of {label.classes} values, so it "
                "cannot be a label."
            )
        return place

    @property
    def unit(self) -> Unit | None:
        """The schema's own."""
        return self.schema.unit

    @property
    def releases(self) -> tuple[Mapping[str, Any], ...]:
        """What a private draft of the schema has released."""
        return self.schema.releases

    @property
    def protect(self) -> tuple[str, ...]:
        """The schema's own."""
        return tuple(self.schema.protect)

    @property
    def digest(self) -> str:
        """The schema's own."""
        return self.schema.digest

    def require_usable(self) -> None:
        """Refuse a schema drafted from the rows that nobody has reviewed."""
        self.schema.require_usable()

    def units(self, row: Row) -> Any:
        """The numbers of one row in [0, 1], as float32: for functions that need no exactness."""
        import jax.numpy as jnp

        most = np.array([number.positions for number in self.layout.numbers], np.float32)
        return row.numbers.astype(jnp.float32) / most

    def ticks_of_days(self, name: str, first: Any, last: Any) -> tuple[Any, Any]:
        """The first and last tick of days of one of the `times`."""
        return self._split.ticks_of_days(name, first, last)

    # -- the way in ----------------------------------------------------------------------------

    def open(self, data: Any) -> Source:
        """A stream over the schema's columns of a frame, file or folder, and over ids."""
        also = () if self.unit is None else (self.unit.column,)
        return open_source(data, self.schema, also=also)

    def roster(self, data: Any) -> Roster | None:
        """Whose each row is, where a person may have several.  The holder's own view."""
        if self.unit is None:
            return None
        source = self.open(data)
        return Roster.of(self.unit, source.batches(), declared=source.types is not None)

    def check(self, source: Source, watch: Watch) -> int:
        """How many rows there are, or how many do not fit the schema, by column."""
        found = source.check(self.schema, watch)
        if not found.ok:
            raise SchemaError(
                f"{source.name} does not fit the schema; nothing was spent.\n{found.describe()}\n"
                "Correct the schema or the table; or pass bad_rows='zero' (--bad-rows zero) to go "
                "on with the table as it is."
            )
        return found.rows

    def encode(self, batch: pa.RecordBatch) -> Block:
        """Positions and codes; elementwise, so a function of each row alone."""
        schema, layout, n = self.schema.counted, self.layout, batch.num_rows
        shifts = [number.shift for number in layout.numbers]
        if not (self.differences or self.times or self.schema.facts):  # a column is what is read
            numbers = np.empty((len(layout.numbers), n), np.int32).T
            codes = np.empty((len(layout.codes), n), np.int32).T
            valid = np.ones(n, bool)
            schema.encode_into(batch, numbers, codes, valid, shifts)
            return Block(Row(numbers, codes), valid)
        encoded = self._way.subtract(self._completion.drop(schema.encode(batch)))
        encoded = self._split.split(encoded)
        return Block(
            Row(
                (encoded.ticks >> np.array(shifts, np.int64)).astype(np.int32),
                np.ascontiguousarray(encoded.codes, np.int32),
            ),
            encoded.valid,
        )

    def classes(self, rows: Row, label: Label) -> Any:
        """The label's code of each row."""
        return rows.codes[:, self.place(label)]

    # -- the way out ---------------------------------------------------------------------------

    def settle(self, drawn: Encoded, rng: np.random.Generator) -> Encoded:
        """Days and times joined, differences added up, facts computed; out of bounds, not valid.

        Then the values that rules demand are set.
        """
        joined = self._split.join(drawn, rng)
        rows = self._completion.complete(joined, self._way.add, rng, self.schema.label)
        return set_constants(rows, self._constants, self.schema.counted.columns, rng)

    def rules(self, where: Mapping[str, Any] | None) -> tuple[Rule, ...]:
        """The schema's constraints and the caller's conditions."""
        asked = given({} if where is None else where, self.schema.columns)
        return tuple(dict.fromkeys((*self.schema.rules, *asked)))

    @property
    def sums(self) -> tuple[str, ...]:
        """The columns that are added up, and may come out beyond their bounds."""
        facts = (each.column for each in self.schema.bound_facts if isinstance(each, Linear | Near))
        return (*(each.column for each in self.differences), *facts)

    def fixed(self, rules: Sequence[Rule]) -> dict[int, int]:
        """Codes of which one is left, by place among the layout's codes."""
        try:
            domains = narrow_all(self.schema.columns, rules, self.schema.bound_facts)
        except Contradiction as error:
            raise NacreError(f"No row can be drawn. {error}") from None
        found = {}
        for name, domain in domains.items():
            size = self.schema.columns[name].size
            if size is not None and domain.only is not None and name in self._places:
                found[self._places[name]] = domain.only if domain.only >= 0 else size - 1
        return found

    def holds(self, rows: Encoded, rules: Sequence[Rule]) -> list[NDArray[np.bool_]]:
        """For each rule, which rows satisfy it."""
        view = ColumnValues.of(self.schema.counted.columns, rows)
        return [rule.holds(view) for rule in rules]

    def may_drop(self, rules: Sequence[Rule]) -> bool:
        """See `AbstractEncoder`."""
        between = any(len(rule.names) > 1 for rule in rules)
        return between or bool(self.differences) or bool(self.schema.facts)

    def weigh(
        self, rows: Encoded, rules: Sequence[Rule], held: Sequence[NDArray[np.bool_]]
    ) -> Weights | None:
        """See `AbstractEncoder`; a rule on one column asks for rows, and moves what it moves."""
        asked, good = np.ones(len(rows), bool), rows.valid.copy()
        for rule, holds in zip(rules, held, strict=True):
            good &= holds
            if len(rule.names) == 1:
                asked &= holds
        facts = self.schema.bound_facts
        computed = {f.column for f in facts if not isinstance(f, Absence | Belonging)}
        sources = {name: frozenset[str]() for name in (f.column for f in facts)}
        for fact in facts:
            sources[fact.column] |= fact.sources
        columns = self.schema.counted.columns
        return weigh(
            columns,
            ColumnValues.of(columns, rows),
            asked=asked,
            good=good,
            rules=rules,
            label=self.schema.label,
            free=[name for name in columns if name not in computed],
            sources=sources,
            lost=~rows.valid,
            sums=self.sums,
        )

    def chances(self, rows: Encoded, weights: Weights) -> NDArray[np.float64]:
        """See `AbstractEncoder`."""
        return weights.chances(ColumnValues.of(self.schema.counted.columns, rows))

    def decode(self, rows: Encoded) -> pa.Table:
        """The table, in the stated types or the schema's own."""
        table = self.schema.counted.decode(rows).select(self.schema.names)
        return table if self.types is None else as_types(table, self.types)

    def gathering(self, rules: Sequence[Rule]) -> Gathering | None:
        """See `AbstractEncoder`."""
        return None if self.unit is None else Gathering(self.schema, rules)

    # -- files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The schema, the differences, and the types in Arrow's own form, as hexadecimal."""
        types = None if self.types is None else self.types.remove_metadata().serialize()
        return {
            "schema": self.schema.to_dict(),
            "differences": self._way.to_list(),
            "times": list(self.times),
            "types": None if types is None else types.to_pybytes().hex(),
        }

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        schema = Schema.from_dict(said["schema"])
        types, text = None, said["types"]
        if text is not None:
            read = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(text)))
            types = stated_types(read, schema)
        way = Differences.from_list(Completion(schema.counted).modeled, said["differences"])
        if not isinstance(said["times"], list):
            raise NacreError("What the file says about times is no list of columns.")
        times = Times(way.modeled, tuple(map(str, said["times"])), way.from_midnight)
        return cls(schema, tuple(way.stated), types, tuple(times.stated))
