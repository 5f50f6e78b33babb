"""The class of an image, from whatever its label is stored as: a function of that label alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nacre.rows.errors import SourceError
from nacre.schema import ImageSchema

WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")  # a whole number that is written with a fraction


def labels_of(column: pa.Array, schema: ImageSchema) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The place of each label among the classes, and whether it has one; elementwise.

    A label is what its text says, so that nothing hangs on the type of its column, which one row
    can decide: 3, 3.0, "3" and "3.0" are the same. Where the classes are not numbers, a number
    that is no class is a place in their list.
    """
    classes = [plain_label(value) for value in schema.classes or ()]
    text = _text(column)
    places = pc.index_in(text, value_set=pa.array(classes, pa.string()))
    if not schema.numbered:
        numbers = pa.array([str(place) for place in range(len(classes))], pa.string())
        places = pc.coalesce(places, pc.index_in(text, value_set=numbers))
    found = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
    return np.maximum(found, 0).astype(np.int32), found >= 0


def is_label(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold labels: text or numbers."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    return texts or pa.types.is_integer(kind) or pa.types.is_floating(kind)


def label_array(name: str, labels: Any, n: int) -> NDArray[Any]:
    """Labels as an array, one for each of n images; of no type that one of them decides."""
    if labels is None:
        raise SourceError(f"{name} come without labels; give (images, labels).")
    if not isinstance(labels, np.ndarray):
        labels = np.asarray(labels, object)
    if labels.dtype.kind not in "iufUSO":
        raise SourceError(f"{name}: labels must be text or whole numbers, not {labels.dtype}.")
    if labels.shape not in ((n,), (n, 1)):
        raise SourceError(f"{name}: {n:,} images need as many labels, got {list(labels.shape)}.")
    return labels.reshape(n)


def label_column(labels: NDArray[Any]) -> pa.Array:
    """Labels as a column that `labels_of` reads."""
    if labels.dtype.kind in "iu":
        return pa.array(labels)
    return pa.array([plain_label(label) for label in labels.tolist()], pa.string())


def _text(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type) and column.type.bit_width <= 32:
        return column.cast(pa.string())  # as `plain_label` would, and faster
    return pa.array([plain_label(label) for label in column.to_pylist()], pa.string())


def plain_label(label: Any) -> str | None:
    """The text of one label, the same whatever type it is stored as; None where it is none.

    A whole number is written without a fraction.  One beyond 2^53 is that of the nearest float: in
    a column of floats, which one gap makes, it would be no other.
    """
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    if isinstance(label, bool | np.bool_) or not isinstance(label, str | int | float | np.number):
        return None
    if isinstance(label, str):
        whole = WHOLE.fullmatch(label)
        return (whole[1] if whole else label).encode("utf-8", "replace").decode()
    try:
        number = float(label)
        return str(int(number)) if number.is_integer() else str(number)
    except (OverflowError, ValueError):
        return None
