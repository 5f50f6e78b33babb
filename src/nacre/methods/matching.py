"""What the embedding methods share: the label, and transforms of a mixture's cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.nets.cells import Cells
from nacre.nets.mixture_fit import free_columns
from nacre.schema import Schema

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies


def class_label(schema: Schema) -> str | None:
    """The label if it has a list of values (a regression target is a column like others)."""
    if schema.label is None:
        return None
    is_class = any(c.name == schema.label and c.role == "value" for c in schema.layout.codes)
    return schema.label if is_class else None


def label_place(schema: Schema) -> int:
    """The class label's place among the codes, or -1."""
    label = class_label(schema)
    return -1 if label is None else schema.layout.code(label)


def public_rng(key: Any) -> np.random.Generator:
    """A NumPy generator for public randomness, from a JAX key."""
    import jax

    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def transforms(
    frequencies: Frequencies, cells: list[Cells], label: int
) -> tuple[NDArray[np.int64], list[NDArray[np.complex128]]]:
    """Support and E exp(i t x) over the cells of each free column, for `mixture_characteristic`."""
    layout = frequencies.layout
    numbers = len(layout.numbers)
    columns = free_columns(layout, label)
    found = []
    for column in columns:
        _, values = frequencies.of(column)
        if column < numbers:
            ticks = layout.numbers[column].ticks
            found.append(cells[column].transform(values[:, 0], ticks))
        else:
            found.append(np.exp(1j * values))
    renumbered = np.full(numbers + len(layout.codes) + 1, -1, np.int64)
    renumbered[columns] = np.arange(len(columns))
    return renumbered[frequencies.support], found
