"""Images as a stream of Arrow batches: from arrays, .npz, IDX and Parquet files, and folders.

How an image is read is a function of that image alone; what cannot be read is a gap in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nacre.rows import image_files as files
from nacre.rows.errors import SourceError
from nacre.rows.image_batches import PIXELS, from_arrays
from nacre.rows.pictures import SUFFIXES
from nacre.rows.source import SUFFIXES as TABLES
from nacre.rows.source import Source
from nacre.schema import ImageSchema

PARQUET = (".parquet", ".pq")


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


def split_part(text: str | Path) -> tuple[Path, str]:
    """A path and the part of it that is asked for: `mnist.npz#test`.

    Examples:
        >>> split_part("mnist.npz#test")[1], split_part("mnist.npz")[1]
        ('test', '')
    """
    place, mark, part = str(text).rpartition("#")
    if not mark or Path(text).exists():
        return Path(text), ""
    return Path(place), part


def is_images(data: str | Path) -> bool:
    """Whether a path is one of images, by names and types alone."""
    path, _ = split_part(data)
    name = path.name.lower()
    if name.endswith(".npz") or files.IDX_IMAGES in name:
        return True
    if path.is_dir():
        tables = any(file.name.lower().endswith(TABLES) for file in path.iterdir())
        return not tables and any(f.suffix.lower() in SUFFIXES for f in path.rglob("*"))
    if not name.endswith(PARQUET) or not path.is_file():
        return False
    types = files.parquet_types(path)
    return PIXELS in types.names and all(
        files.holds_images(field.type) for field in types if field.name == PIXELS
    )


def read_arrays(text: str | Path, *, labels: bool) -> tuple[Any, Any] | None:
    """The arrays of an .npz or IDX file; None if the path is of another kind."""
    path, part = split_part(text)
    name = path.name.lower()
    if not path.exists():
        raise SourceError(f"There is no file or folder {path}.")
    if part and not name.endswith(".npz"):
        raise SourceError(f"{text}: only .npz files have parts. Leave out #{part}.")
    if name.endswith(".npz"):
        return files.read_npz(path, part)
    if files.IDX_IMAGES in name:
        return files.read_idx_pair(path, labels=labels)
    return None


def check_pixels(name: str, pixels: Any) -> None:
    """Refuse what is no array of bytes: a type that rows decide would couple them."""
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        kind = getattr(pixels, "dtype", type(pixels).__name__)
        raise SourceError(
            f"{name} must be a NumPy array of uint8, got {kind}. Scale them to bytes first: "
            "(255 / m * x).round().astype(np.uint8), with m the largest value that a pixel may "
            "have, such as 1 or 16."
        )


def _from_arrays(name: str, pixels: Any, labels: Any, schema: ImageSchema) -> Source:
    check_pixels(name, pixels)
    shapes = [schema.shape] + [schema.shape[:2]] * (schema.channels == 1)
    if pixels.shape[1:] not in shapes:
        wanted = " x ".join(map(str, schema.shape))
        raise SourceError(
            f"{name} have the shape {list(pixels.shape)}; the schema says [n, {wanted}]. Correct "
            "the schema or reshape them."
        )
    return from_arrays(name, pixels, labels, schema)


def _from_path(text: str, schema: ImageSchema) -> Source:
    arrays = read_arrays(text, labels=schema.classes is not None)
    if arrays is not None:
        return _from_arrays(text, *arrays, schema)
    path, _ = split_part(text)
    if path.is_dir():
        return files.from_folder(path, schema)
    if path.name.lower().endswith(PARQUET):
        return files.from_parquet(path, schema)
    raise SourceError(
        f"{path}: images are read from .npz and .parquet files, IDX files "
        f"(named ...{files.IDX_IMAGES}, or .gz) and folders of pictures."
    )
