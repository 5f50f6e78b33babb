"""Private rows as a function of one row shows them, worked out once and kept behind the wall."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np

from nacre.errors import NacreError
from nacre.rows.encoder import Block, Label
from nacre.rows.stream import Stream
from nacre.rows.unit import Persons
from nacre.vault.noise import on_cpu
from nacre.vault.tracing import RefusedFunction, trace

BLOCK = 512
ONE = 1 << 14  # what the number one is in the integers that are kept; they end at two


class Seen(NamedTuple):
    """One row as a view shows it, or many.

    Attributes:
        values: int16, what the view's function gave, times `ONE`, clipped to [-2, 2).
        label: int32, the row's class; 0 where there is no label.
    """

    values: Any
    label: Any


@final
@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """What a method holds of a view: what one row of it is; the rows stay in the vault.

    Attributes:
        shape: one row of the view.
        label: that of the rows.
    """

    shape: Seen
    label: Label | None


@final
class ViewRows:
    """All rows of a stream through one function of one row.  NOT private by itself.

    Sensitivity:
        that of the question which is asked through it, unchanged: what is kept of a row is a
        function of that row alone, so that neighboring tables have neighboring views.

    Exactness:
        as for `Vault.sum` of floats: rows are worked out one at a time by the same instructions,
        and integers are kept.

    Bad rows:
        stay bad, and a row for which the function is not finite becomes one.

    Attributes:
        shape: one row of the view.
        unit: that of the rows.
    """

    def __init__(self, function: Callable[[Any], Any], stream: Stream, on_pass: Callable[[], None]):
        self._label, self.unit = stream.encoder.label, stream.encoder.unit
        with jax.enable_x64(True), on_cpu():
            traced = trace(function, stream.encoder.shape)
        outputs = traced.outputs
        floating = all(jnp.issubdtype(value.dtype, jnp.floating) for value in outputs)
        if len(outputs) != 1 or outputs[0].ndim != 1 or not floating:
            raise RefusedFunction("A view's function of one row must return one real vector.")
        (size,) = outputs[0].shape
        self.shape = Seen(
            jax.ShapeDtypeStruct((size,), jnp.int16), jax.ShapeDtypeStruct((), jnp.int32)
        )
        self._parts = list(self._work_off(traced, stream, on_pass))

    def _work_off(
        self, traced: Any, stream: Stream, on_pass: Callable[[], None]
    ) -> Iterator[Block]:
        def one(constants: Any, row: Any) -> tuple[Any, Any]:
            (values,) = traced(*row, constants=constants)
            good = jnp.all(jnp.isfinite(values))
            kept = jnp.clip(jnp.rint(jnp.nan_to_num(values) * ONE), -2 * ONE, 2 * ONE - 1)
            return kept.astype(jnp.int16), good

        step = jax.jit(lambda constants, rows: jax.lax.map(lambda row: one(constants, row), rows))
        for block in stream.blocks(BLOCK, on_pass):
            with jax.enable_x64(True), on_cpu():
                values, good = step(traced.constants, block.rows)
            label = np.zeros(len(block.valid), np.int32)
            if self._label is not None:
                label = np.asarray(stream.encoder.classes(block.rows, self._label), np.int32)
            valid = block.valid & np.asarray(good)
            yield Block(Seen(np.asarray(values), label), valid, block.persons)

    @property
    def encoder(self) -> ViewRows:
        """What a door asks of a stream's encoder, the view knows itself."""
        return self

    @property
    def label(self) -> Label | None:
        """That of the rows."""
        return self._label

    def classes(self, rows: Seen, label: Label) -> Any:
        """The class of each row."""
        if label != self._label:
            raise NacreError(f"'{label.name}' is not the label of these rows.")
        return rows.label

    def blocks(self, size: int, on_pass: Callable[[], None] | None = None) -> Iterator[Block]:
        """All rows in blocks of exactly `size`; the last is filled up with rows that count not."""
        if on_pass is not None:
            on_pass()
        whole = self.whole()
        for start in range(0, len(whole.valid), size):
            rows = [leaf[start : start + size] for leaf in whole.rows]
            valid = whole.valid[start : start + size]
            more = size - len(valid)
            persons = whole.persons
            if persons is not None:
                own = persons[start : start + size]
                persons = Persons.concat([own, Persons.nobody(more)])
            yield Block(
                Seen(*(np.pad(leaf, [(0, more)] + [(0, 0)] * (leaf.ndim - 1)) for leaf in rows)),
                np.pad(valid, (0, more)),
                persons,
            )

    def whole(self) -> Block:
        """All rows at once."""
        if len(self._parts) > 1:
            leaves = zip(*(part.rows for part in self._parts), strict=True)
            joined = Seen(*(np.concatenate(leaf) for leaf in leaves))
            valid = np.concatenate([part.valid for part in self._parts])
            known = [part.persons for part in self._parts if part.persons is not None]
            persons = Persons.concat(known) if known else None
            self._parts = [Block(joined, valid, persons)]
        return self._parts[0]


def seen(row: Seen) -> Any:
    """What the view's function gave for one row, as float32: for functions of one row."""
    return row.values.astype(jnp.float32) / ONE
