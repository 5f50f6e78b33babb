"""A first schema of images, read from them: not private, and to be reviewed by a person."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nacre.rows import image_files as files
from nacre.rows.errors import SourceError
from nacre.rows.image_batches import PIXELS
from nacre.rows.image_labels import is_label, label_array, label_column
from nacre.rows.image_source import check_pixels, read_arrays, split_part
from nacre.rows.pictures import picture_size
from nacre.schema import ImageSchema

LABEL = "label"
Size = tuple[int, int, int]


def draft_images(data: Any, *, label: str | None = None) -> ImageSchema:
    """The size of the first image, and the classes that occur; `reviewed` is false.

    Args:
        data: as for `open_images`.
        label: what the label is called, and in a Parquet file its column; "label" if not given.
    """
    size, classes = _describe(data, label or LABEL)
    if label is not None and classes is None:
        raise SourceError(f"The images have no label '{label}' with at least two values.")
    height, width, channels = size
    return ImageSchema(
        height=height,
        width=width,
        channels=channels,
        classes=classes,
        label=label or LABEL,
        provenance="data",
    )


def _describe(data: Any, label: str) -> tuple[Size, tuple[str, ...] | None]:
    if not isinstance(data, str | Path):
        pair = isinstance(data, tuple | list) and len(data) == 2
        return _of_arrays("The images", *(data if pair else (data, None)))
    arrays = read_arrays(data, labels=_has_labels(data))
    if arrays is not None:
        return _of_arrays(str(data), *arrays)
    path, _ = split_part(data)
    if path.is_dir():
        found = files.find_pictures(path)
        contents = (file.read_bytes() for file, _ in found)
        return _first_size(path, contents), _classes(inside for _, inside in found if inside)
    return _of_parquet(path, label)


def _has_labels(data: str | Path) -> bool:
    """Whether an IDX file of labels lies beside the one of images."""
    path, _ = split_part(data)
    return path.with_name(path.name.replace(files.IDX_IMAGES, files.IDX_LABELS)).exists()


def _of_arrays(name: str, pixels: Any, labels: Any) -> tuple[Size, tuple[str, ...] | None]:
    check_pixels(name, pixels)
    shape = pixels.shape[1:] if pixels.ndim == 4 else (*pixels.shape[1:], 1)
    if pixels.ndim not in (3, 4) or shape[2] not in (1, 3):
        raise SourceError(
            f"{name} have the shape {list(pixels.shape)}. Give [n, height, width], or "
            "[n, height, width, channels] with 1 or 3 channels."
        )
    if labels is None:
        return shape, None
    held = label_column(label_array(name, labels, len(pixels)))
    return shape, _classes(_distinct(held))


def _of_parquet(path: Path, label: str) -> tuple[Size, tuple[str, ...] | None]:
    import pyarrow.parquet as pq

    types = files.parquet_types(path)
    if PIXELS not in types.names or not files.holds_images(types.field(PIXELS).type):
        raise SourceError(f"{path} has no column '{PIXELS}' of pictures or lists of pixels.")
    kind = types.field(PIXELS).type
    with pq.ParquetFile(path) as file:
        first = next(file.iter_batches(files.AT_ONCE, columns=[PIXELS]), None)
    column = pa.array([], kind) if first is None else first.column(PIXELS)
    if files.is_raw(kind):
        size = _square(path, next((len(item.values) for item in column if item.is_valid), 0))
    else:
        held = pc.struct_field(column, "bytes") if files.is_nested(kind) else column
        size = _first_size(path, held.drop_null().to_pylist())
    if label not in types.names or not is_label(types.field(label).type):
        return size, None
    return size, _classes(_distinct(pq.read_table(path, columns=[label])[label].combine_chunks()))


def _first_size(path: Path, contents: Iterable[bytes]) -> Size:
    for content in contents:
        if size := picture_size(content):
            return size
    raise SourceError(f"{path}: no picture in it can be read.")


def _square(path: Path, length: int) -> Size:
    """The size of so many pixels, which is not written in lists of them: taken to be square."""
    for channels in (1, 3):
        side = math.isqrt(length // channels)
        if side and side * side * channels == length:
            return side, side, channels
    raise SourceError(
        f"{path}: lists of {length:,} pixels are no square. Write the schema by hand: "
        "images: {height: ..., width: ...}."
    )


def _distinct(column: pa.Array) -> list[str]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.unique().drop_null().cast(pa.string()).to_pylist()


def _classes(labels: Iterable[str]) -> tuple[str, ...] | None:
    """The labels that occur, numbers in their order; None if they tell nothing apart."""
    found = set(labels)
    numbered = all(label.isascii() and label.isdecimal() for label in found)
    ordered = sorted(found, key=int) if numbered else sorted(found)
    return tuple(ordered) if len(ordered) > 1 else None
