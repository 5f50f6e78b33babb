"""Images as a stream of Arrow batches: from arrays, .npz, IDX and Parquet files, and folders.

How an image is read is a function of that image alone; what cannot be read is a gap in its place.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nacre.rows.errors import SourceError
from nacre.rows.pictures import SUFFIXES, read_picture
from nacre.rows.source import Source
from nacre.schema import ImageSchema

PIXELS = "image"
BATCH = 4096
PICTURES_AT_ONCE = 256
PARTS = ("train", "test")
PAIRS = (("images", "labels"), ("x", "y"), ("image", "label"), ("pixels", "labels"))
IDX_IMAGES, IDX_LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"

Batches = Callable[[], Iterator[pa.RecordBatch]]


def open_images(data: Any, schema: ImageSchema) -> Source:
    """A stream over images.

    Args:
        data: an array of bytes, [n, height, width] or [n, height, width, channels], or a pair of
            it and labels; or the path of an .npz file (`mnist.npz`, or `mnist.npz#test` for the
            arrays x_test and y_test in it), of IDX files, of a Parquet file with an image column,
            or of a folder that holds one folder of pictures for each class.
        schema: what is public about them.
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, str | Path):
        return _from_path(str(data), schema)
    pixels, labels = data if isinstance(data, tuple | list) and len(data) == 2 else (data, None)
    return _from_arrays("The images", pixels, labels, schema)


def is_images(path: Path) -> bool:
    """Whether a path is one of images, by names alone."""
    name = path.name.partition("#")[0].lower()
    if name.endswith(".npz") or IDX_IMAGES in name:
        return True
    if not path.is_dir():
        return False
    inside = (file for folder in (path, *_folders(path)) for file in folder.iterdir())
    return any(file.suffix.lower() in SUFFIXES for file in inside)


def labels_of(column: pa.Array, schema: ImageSchema) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The place of each label among the classes, and whether it has one; elementwise."""
    classes = list(schema.classes or ())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type) and not schema.numbered:
        place = pc.fill_null(column.cast(pa.int64(), safe=False), -1).to_numpy(zero_copy_only=False)
        known = (place >= 0) & (place < len(classes))
    else:
        found = pc.index_in(column.cast(pa.string()), value_set=pa.array(classes, pa.string()))
        place = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
        known = place >= 0
    return np.where(known, place, 0).astype(np.int32), known


# -- arrays ------------------------------------------------------------------------------------


def _from_arrays(name: str, pixels: Any, labels: Any, schema: ImageSchema) -> Source:
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        kind = getattr(pixels, "dtype", type(pixels).__name__)
        raise SourceError(
            f"{name} must be a NumPy array of uint8, got {kind}. Scale [0, 1] to bytes first: "
            "(255 * x).round().astype(np.uint8)."
        )
    shapes = [schema.shape] + [schema.shape[:2]] * (schema.channels == 1)
    if pixels.shape[1:] not in shapes:
        wanted = " x ".join(map(str, schema.shape))
        raise SourceError(
            f"{name} have the shape {list(pixels.shape)}; the schema says [n, {wanted}]. Correct "
            "the schema or reshape them."
        )
    if schema.classes is not None:
        labels = _label_array(name, labels, len(pixels))
    pixels = np.ascontiguousarray(pixels.reshape(len(pixels), -1))

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(pixels), BATCH):
            part = pixels[start : start + BATCH]
            columns = [_bytes(part)]
            if schema.classes is not None:
                columns.append(pa.array(labels[start : start + BATCH]))
            yield _batch(columns, schema)

    return _source(name, schema, batches)


def _label_array(name: str, labels: Any, n: int) -> NDArray[Any]:
    """Labels whose type no single row decides: whole numbers or text."""
    if labels is None:
        raise SourceError(f"{name} come without labels; give (images, labels).")
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in "iuU":
        kind = getattr(labels, "dtype", type(labels).__name__)
        raise SourceError(
            f"{name}: the labels must be a NumPy array of whole numbers or text, got {kind}."
        )
    if labels.shape != (n,):
        raise SourceError(f"{name}: {n:,} images need as many labels, got {list(labels.shape)}.")
    return labels


def _bytes(flat: NDArray[np.uint8]) -> pa.Array:
    """One item of fixed size an image."""
    size = flat.shape[1]
    return pa.Array.from_buffers(
        pa.binary(size), len(flat), [None, pa.py_buffer(np.ascontiguousarray(flat))]
    )


def _batch(columns: Sequence[pa.Array], schema: ImageSchema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(columns), list(_names(schema)))


def _names(schema: ImageSchema) -> tuple[str, ...]:
    return (PIXELS,) if schema.classes is None else (PIXELS, schema.label)


def _source(name: str, schema: ImageSchema, batches: Batches) -> Source:
    return Source(name, "images", _names(schema), None, lambda _: batches())


# -- files -------------------------------------------------------------------------------------


def _from_path(text: str, schema: ImageSchema) -> Source:
    place, _, part = text.partition("#")
    path = Path(place)
    if not path.exists():
        raise SourceError(f"There is no file or folder {path}.")
    if path.is_dir():
        return _from_folder(path, schema)
    name = path.name.lower()
    if name.endswith(".npz"):
        return _from_arrays(text, *_read_npz(path, part or "train"), schema)
    if IDX_IMAGES in name:
        return _from_arrays(text, *_read_idx_pair(path, schema), schema)
    if name.endswith((".parquet", ".pq")):
        return _from_parquet(path, schema)
    raise SourceError(
        f"{path}: images are read from .npz and .parquet files, IDX files "
        f"(named ...{IDX_IMAGES}, or .gz) and folders of pictures."
    )


def _read_npz(path: Path, part: str) -> tuple[Any, Any]:
    """The arrays of a part; a file without parts has only one."""
    try:
        with np.load(path, allow_pickle=False) as found:
            there = set(found.files)
            for x, y in PAIRS:
                for images, labels in ((f"{x}_{part}", f"{y}_{part}"), (x, y)):
                    if images in there:
                        return found[images], found[labels] if labels in there else None
    except (OSError, ValueError):
        raise SourceError(f"{path} is not a readable .npz file of arrays.") from None
    known = " or ".join(f"{x}, {y}" for x, y in PAIRS[:2])
    raise SourceError(f"{path} has no arrays {known} (or x_{part}, y_{part}).")


def _read_idx_pair(path: Path, schema: ImageSchema) -> tuple[Any, Any]:
    labels = None
    if schema.classes is not None:
        beside = path.with_name(path.name.replace(IDX_IMAGES, IDX_LABELS))
        if not beside.exists():
            raise SourceError(f"The labels of {path} should be in {beside}, which is not there.")
        labels = read_idx(beside)
    return read_idx(path), labels


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An IDX file of bytes, as MNIST comes: two zeros, 8, the number of axes, their lengths."""
    try:
        said = path.read_bytes()
        if path.name.endswith(".gz"):
            said = gzip.decompress(said)
        axes = said[3]
        lengths = np.frombuffer(said, ">u4", axes, 4)
        found = np.frombuffer(said, np.uint8, offset=4 + 4 * axes)
        whole = said[:3] == b"\0\0\x08" and len(found) == math.prod(map(int, lengths))
    except (OSError, EOFError, IndexError, ValueError):
        whole = False
    if not whole:
        raise SourceError(f"{path} is not a complete IDX file of bytes.")
    return found.reshape([int(length) for length in lengths])


def _folders(path: Path) -> list[Path]:
    return sorted(each for each in path.iterdir() if each.is_dir())


def _from_folder(path: Path, schema: ImageSchema) -> Source:
    """One folder a class, named after it; without classes, pictures anywhere below."""
    if schema.classes is None:
        files = [(file, "") for file in sorted(path.rglob("*"))]
    else:
        files = [(f, folder.name) for folder in _folders(path) for f in sorted(folder.iterdir())]
    files = [(file, label) for file, label in files if file.suffix.lower() in SUFFIXES]
    if not files:
        raise SourceError(
            f"The folder {path} holds no pictures ({', '.join(SUFFIXES)})"
            + ("." if schema.classes is None else " in folders named after the classes.")
        )

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(files), PICTURES_AT_ONCE):
            part = files[start : start + PICTURES_AT_ONCE]
            columns = [_pictures((file.read_bytes() for file, _ in part), schema)]
            if schema.classes is not None:
                columns.append(pa.array([label for _, label in part]))
            yield _batch(columns, schema)

    return _source(str(path), schema, batches)


def _pictures(contents: Any, schema: ImageSchema) -> pa.Array:
    found = [None if content is None else read_picture(content, schema) for content in contents]
    return pa.array(found, pa.binary(math.prod(schema.shape)))


def _from_parquet(path: Path, schema: ImageSchema) -> Source:
    """A column `image`: pictures as PNG or JPEG bytes ({bytes: ...} too), or pixels as bytes."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            types = file.schema_arrow
    except (pa.ArrowException, OSError):
        raise SourceError(f"{path} is not a readable Parquet file.") from None
    missing = [name for name in _names(schema) if name not in types.names]
    if missing:
        raise SourceError(
            f"{path} has no column {' or '.join(missing)}. It has: {', '.join(types.names)}."
        )
    if schema.classes is not None and not _is_label(types.field(schema.label).type):
        raise SourceError(f"{path}: the column '{schema.label}' must hold text or whole numbers.")
    kind = types.field(PIXELS).type
    size = math.prod(schema.shape)
    fixed = pa.types.is_fixed_size_list(kind) and kind.list_size == size
    raw = fixed and kind.value_type == pa.uint8()
    nested = pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0
    if not raw and not nested and not pa.types.is_binary(kind):
        raise SourceError(
            f"{path}: the column '{PIXELS}' must hold pictures as bytes, or lists of {size:,} "
            f"uint8; it holds {kind}."
        )

    def batches() -> Iterator[pa.RecordBatch]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(PICTURES_AT_ONCE, columns=list(_names(schema))):
                column = batch.column(batch.schema.get_field_index(PIXELS))
                columns = [_raw(column, size) if raw else _encoded(column, schema, nested)]
                if schema.classes is not None:
                    columns.append(batch.column(batch.schema.get_field_index(schema.label)))
                yield _batch(columns, schema)

    return _source(str(path), schema, batches)


def _is_label(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _raw(column: pa.Array, size: int) -> pa.Array:
    """Pixels as bytes; a gap among the pixels of an image makes no image of it."""
    flat = column.flatten()
    if column.null_count == 0 and flat.null_count == 0:
        return _bytes(flat.to_numpy().reshape(-1, size))
    items = (item if item is not None and None not in item else None for item in column.to_pylist())
    return pa.array([None if item is None else bytes(item) for item in items], pa.binary(size))


def _encoded(column: pa.Array, schema: ImageSchema, nested: bool) -> pa.Array:
    return _pictures((pc.struct_field(column, "bytes") if nested else column).to_pylist(), schema)
