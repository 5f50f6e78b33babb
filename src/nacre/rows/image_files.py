"""Files of images: arrays in .npz and IDX files, pictures in folders and Parquet files."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nacre.rows.errors import SourceError
from nacre.rows.image_batches import PIXELS, as_batch, as_source, names_of, pictures, raw_pixels
from nacre.rows.image_labels import is_label, plain_label
from nacre.rows.pictures import SUFFIXES, folder_names
from nacre.rows.source import Source
from nacre.schema import ImageSchema

AT_ONCE = 256  # pictures
BOMB, RATIO = 64 * 2**20, 200
"""Bytes that any file may unpack to, and how many times its size a larger one may."""
PAIRS = (("images", "labels"), ("x", "y"), ("image", "label"), ("pixels", "labels"))
IDX_IMAGES, IDX_LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"


# -- arrays ------------------------------------------------------------------------------------


def read_npz(path: Path, part: str) -> tuple[Any, Any]:
    """The arrays of a part; without one those of "train", or of a file that has no parts."""
    endings = [f"_{part}"] if part else ["_train", ""]
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            _refuse_bomb(path, sum(part.file_size for part in found.zip.infolist()))
            there = set(found.files)
            for x, y in ((x + end, y + end) for end in endings for x, y in PAIRS):
                if x in there:
                    return found[x], found[y] if y in there else None
    except SourceError:
        raise
    except Exception:  # of any kind, zip's and zlib's own too; none may quote what it read
        raise SourceError(f"{path} is not a readable .npz file of arrays.") from None
    shown = " or ".join(f"{x}{endings[0]} and {y}{endings[0]}" for x, y in PAIRS[:2])
    raise SourceError(f"{path} has no arrays called {shown}. Save them under these names.")


def read_idx_pair(path: Path, *, labels: bool) -> tuple[Any, Any]:
    """Images, and the labels in the file beside them."""
    if not labels:
        return read_idx(path), None
    beside = path.with_name(path.name.replace(IDX_IMAGES, IDX_LABELS))
    if not beside.exists():
        raise SourceError(f"The labels of {path} should be in {beside}, which is not there.")
    return read_idx(path), read_idx(beside)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An IDX file of bytes, as MNIST comes: two zeros, 8, the number of axes, their lengths."""
    try:
        said = _unpacked(path) if path.name.endswith(".gz") else path.read_bytes()
        axes = said[3]
        lengths = [int(length) for length in np.frombuffer(said, ">u4", axes, 4)]
        found = np.frombuffer(said, np.uint8, offset=4 + 4 * axes)
        whole = said[:3] == b"\0\0\x08" and len(found) == math.prod(lengths)
        found = found.reshape(lengths) if whole else found  # no array has a hundred axes
    except SourceError:
        raise
    except (OSError, EOFError, IndexError, ValueError, zlib.error):
        whole = False
    if not whole:
        raise SourceError(f"{path} is not a complete IDX file of bytes.")
    return found


def _unpacked(path: Path) -> bytes:
    """What a .gz file holds, as far as a file of images can: no more is unpacked."""
    most = max(BOMB, RATIO * path.stat().st_size)
    with gzip.open(path) as file:
        said = file.read(most + 1)
    _refuse_bomb(path, len(said))
    return said


def _refuse_bomb(path: Path, unpacked: int) -> None:
    """A file that is thousands of times larger inside was made to fill the memory."""
    if unpacked > max(BOMB, RATIO * path.stat().st_size):
        raise SourceError(
            f"{path} is small and would unpack to more than {RATIO} times its size: it was not "
            "read. If it is meant, save it without compression."
        )


# -- folders -----------------------------------------------------------------------------------


def find_pictures(path: Path) -> list[tuple[Path, str | None]]:
    """The pictures below a folder, each with the folder in it that it lies in, if any."""
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES)
    parts = [file.relative_to(path).parts for file in files]
    return [(f, p[0] if len(p) > 1 else None) for f, p in zip(files, parts, strict=True)]


def from_folder(path: Path, schema: ImageSchema) -> Source:
    """One folder a class, named after it; without classes, pictures anywhere below."""
    files = find_pictures(path)
    classes = schema.classes or ()
    # A class whose name is no name of a folder has been written under another.
    written = dict(zip(folder_names(classes), classes, strict=True))

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, len(files), AT_ONCE):
            part = files[start : start + AT_ONCE]
            named = [written.get(label or "", label) for _, label in part]
            labels = [plain_label(label) for label in named]
            column = None if schema.classes is None else pa.array(labels, pa.string())
            yield as_batch(pictures((_content(f) for f, _ in part), schema), column, schema)

    return as_source(str(path), schema, batches)


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


# -- Parquet -----------------------------------------------------------------------------------


def parquet_types(path: Path) -> pa.Schema:
    """The columns of a Parquet file."""
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path)
    except (pa.ArrowException, OSError):
        raise SourceError(f"{path} is not a readable Parquet file.") from None


def holds_images(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold images."""
    return is_raw(kind) or is_nested(kind) or is_bytes(kind)


def is_raw(kind: pa.DataType) -> bool:
    """Lists of whole numbers: pixels."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_list(kind) for is_list in lists) and pa.types.is_integer(kind.value_type)


def is_nested(kind: pa.DataType) -> bool:
    """Structs with the bytes of a picture file in them."""
    return pa.types.is_struct(kind) and any(f.name == "bytes" and is_bytes(f.type) for f in kind)


def is_bytes(kind: pa.DataType) -> bool:
    """The bytes of picture files."""
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def from_parquet(path: Path, schema: ImageSchema) -> Source:
    """A column `image`: pictures as PNG or JPEG bytes ({bytes: ...} too), or pixels in lists."""
    types = parquet_types(path)
    for name in names_of(schema):
        if types.names.count(name) != 1:
            there = "two columns" if name in types.names else "no column"
            raise SourceError(f"{path} has {there} '{name}'. It has: {', '.join(types.names)}.")
    kind = types.field(PIXELS).type
    if not holds_images(kind):
        raise SourceError(
            f"{path}: the column '{PIXELS}' must hold pictures as bytes, or lists of pixels; it "
            f"holds {kind}."
        )
    if schema.classes is not None and not is_label(types.field(schema.label).type):
        raise SourceError(f"{path}: the column '{schema.label}' must hold text or whole numbers.")
    return as_source(str(path), schema, lambda: _parquet_batches(path, kind, schema))


def _parquet_batches(
    path: Path, kind: pa.DataType, schema: ImageSchema
) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(AT_ONCE, columns=list(names_of(schema))):
                column = batch.column(PIXELS)
                labels = None if schema.classes is None else batch.column(schema.label)
                if is_raw(kind):
                    yield as_batch(_from_lists(column, math.prod(schema.shape)), labels, schema)
                    continue
                held = pc.struct_field(column, "bytes") if is_nested(kind) else column
                yield as_batch(pictures(_contents(held), schema), labels, schema)
    except (pa.ArrowException, OSError):
        # In words of our own: Arrow's messages may quote what they read.
        raise SourceError(f"{path} cannot be read. Is it a complete Parquet file?") from None


def _contents(column: pa.Array) -> Iterable[bytes | None]:
    return (item if isinstance(item, bytes) else None for item in column.to_pylist())


def _from_lists(column: pa.Array, size: int) -> pa.Array:
    """Pixels as bytes; what is no list of so many bytes makes no image."""
    flat = column.flatten()
    fixed = pa.types.is_fixed_size_list(column.type) and column.type.list_size == size
    if fixed and flat.type == pa.uint8() and column.null_count == flat.null_count == 0:
        return raw_pixels(flat.to_numpy().reshape(-1, size))
    return pa.array([_from_list(item, size) for item in column], pa.binary(size))


def _from_list(item: pa.Scalar, size: int) -> bytes | None:
    values = item.values
    if values is None or len(values) != size or values.null_count:
        return None
    pixels = values.to_numpy()
    inside = pixels.min() >= 0 and pixels.max() <= 255
    return pixels.astype(np.uint8).tobytes() if inside else None
