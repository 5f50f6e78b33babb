"""Images as Arrow batches: one item of fixed size an image, a gap where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.rows.image_labels import label_array, label_column
from nacre.rows.pictures import read_picture
from nacre.rows.source import Source
from nacre.schema import ImageSchema

PIXELS = "image"
BATCH = 4096
Batches = Callable[[], Iterator[pa.RecordBatch]]


def names_of(schema: ImageSchema) -> tuple[str, ...]:
    """The columns of a batch."""
    return (PIXELS,) if schema.classes is None else (PIXELS, schema.label)


def as_batch(pixels: pa.Array, labels: pa.Array | None, schema: ImageSchema) -> pa.RecordBatch:
    """One batch."""
    columns = [pixels] if labels is None else [pixels, labels]
    return pa.RecordBatch.from_arrays(columns, list(names_of(schema)))


def as_source(name: str, schema: ImageSchema, batches: Batches) -> Source:
    """A stream that can be read again."""
    return Source(name, "images", names_of(schema), None, lambda _: batches())


def raw_pixels(flat: NDArray[np.uint8]) -> pa.Array:
    """Bytes, [n, size], as a column without a gap."""
    held = pa.py_buffer(np.ascontiguousarray(flat))
    return pa.Array.from_buffers(pa.binary(flat.shape[1]), len(flat), [None, held])


def pictures(contents: Iterable[bytes | None], schema: ImageSchema) -> pa.Array:
    """What picture files hold, each by itself; a gap for one that cannot be read."""
    found = [None if content is None else read_picture(content, schema) for content in contents]
    return pa.array(found, pa.binary(math.prod(schema.shape)))


def from_arrays(
    name: str, pixels: NDArray[np.uint8], labels: object, schema: ImageSchema
) -> Source:
    """A stream over arrays that fit the schema."""
    n = len(pixels)
    given = None if schema.classes is None else label_array(name, labels, n)
    flat = np.ascontiguousarray(pixels.reshape(n, math.prod(schema.shape)))

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, n, BATCH):
            part = slice(start, start + BATCH)
            column = None if given is None else label_column(given[part])
            yield as_batch(raw_pixels(flat[part]), column, schema)

    return as_source(name, schema, batches)
