"""Images written batch by batch: to .npz or Parquet files, folders of PNG files, one sheet."""

from __future__ import annotations

import contextlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nacre.cli.console import free, stop
from nacre.errors import NacreError
from nacre.partial import whole_or_none

if TYPE_CHECKING:
    from nacre.rows.image import Pictures
    from nacre.schema import ImageSchema

FILES = (".npz", ".parquet", ".pq", ".png")
FORMS = "a .npz, .parquet or .png (a contact sheet) file, or a folder of PNG files"
ACROSS = 10
SHEET_HEIGHT = 64  # pixels of an image on a sheet, about


def check_output(output: Path, model: Path, *, force: bool) -> None:
    """Refuse a place that images cannot be written to, before any is drawn."""
    if output.suffix and output.suffix.lower() not in FILES:
        raise NacreError(f"{output}: images are written to {FORMS}.")
    if output.suffix:
        free(output, model, force=force)
        return
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        stop(f"{output} is there already, and is no empty folder. Choose another name.")
    if not output.absolute().parent.is_dir():
        stop(f"There is no folder {output.parent} to make {output.name} in. Make it first.")


@contextlib.contextmanager
def open_writer(output: Path, schema: ImageSchema, n: int) -> Iterator[Any]:
    """What writes n images, Arrow tables of them, to `output`; nothing is there until the end."""
    suffix = output.suffix.lower()
    if not suffix:
        with _folder_beside(output) as partial:
            yield FolderWriter(partial, schema)
        return
    with whole_or_none(output) as partial:
        if suffix == ".npz":
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
                with NpzWriter(file, schema, n) as writer:
                    yield writer
                writer.add_labels()
        elif suffix == ".png":
            sheet = SheetWriter(schema)
            yield sheet
            sheet.finish(partial)
        else:
            from nacre.writer import Writer

            with Writer(partial, like=output) as table:
                yield table


@contextlib.contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.mkdir()
    try:
        yield partial
        if path.exists():
            path.rmdir()  # empty, as was seen before
        partial.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


class NpzWriter:
    """The arrays `images` and `labels`, pixels as they come."""

    def __init__(self, file: zipfile.ZipFile, schema: ImageSchema, n: int):
        self.rows, self._file, self._schema = 0, file, schema
        shape = (n, *schema.shape[: 2 + (schema.channels > 1)])
        self._pixels = file.open("images.npy", "w", force_zip64=True)
        head = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._pixels, head)  # type: ignore[arg-type]
        self._labels: list[Any] = []

    def write(self, table: pa.Table) -> None:
        """Add images."""
        pixels, labels = _arrays(table, self._schema)
        self._pixels.write(pixels.tobytes())
        self._labels.append(labels)
        self.rows += len(pixels)

    def __enter__(self) -> NpzWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._pixels.close()

    def add_labels(self) -> None:
        """Write the labels after the images, of which there are no more."""
        if self._schema.classes is not None:
            with self._file.open("labels.npy", "w") as file:
                np.lib.format.write_array(file, np.concatenate(self._labels), allow_pickle=False)


class FolderWriter:
    """PNG files, in one folder a class."""

    def __init__(self, folder: Path, schema: ImageSchema):
        from nacre.rows.pictures import folder_names

        self.rows, self._folder, self._schema = 0, folder, schema
        classes = schema.classes or ()
        self._names = dict(zip(classes, folder_names(classes), strict=True))

    def write(self, table: pa.Table) -> None:
        """Add images."""
        from nacre.rows.pictures import write_folder

        pixels, labels = _arrays(table, self._schema)
        names = None if labels is None else [self._names[str(label)] for label in labels]
        write_folder(self._folder, pixels.reshape(-1, *self._schema.shape), names, self.rows)
        self.rows += len(pixels)


class SheetWriter:
    """The first few images of each class, side by side."""

    def __init__(self, schema: ImageSchema):
        self.rows, self._schema = 0, schema
        shown = ACROSS if schema.classes is not None else ACROSS * ACROSS
        self._left = dict.fromkeys(schema.classes or ("",), shown)
        self._kept: list[tuple[int, Any]] = []

    def write(self, table: pa.Table) -> None:
        """Keep those of which there are not enough yet."""
        pixels, labels = _arrays(table, self._schema)
        classes = list(self._left)
        for place, image in enumerate(pixels):
            name = "" if labels is None else str(labels[place])
            if self._left[name]:
                self._left[name] -= 1
                self._kept.append((classes.index(name), image.copy()))
        self.rows += len(pixels)

    def finish(self, path: Path) -> None:
        """Write the sheet."""
        from nacre.rows.pictures import contact_sheet, enlarged, picture_bytes

        if not self._kept:
            raise NacreError("A sheet needs at least one image: draw more with -n.")
        pixels = np.stack([image for _, image in self._kept]).reshape(-1, *self._schema.shape)
        labels = np.array([code for code, _ in self._kept])
        found = contact_sheet(pixels, None if self._schema.classes is None else labels)
        times = max(1, SHEET_HEIGHT // self._schema.height)
        path.write_bytes(picture_bytes(enlarged(found, times)))


def _arrays(table: pa.Table, schema: ImageSchema) -> Pictures:
    from nacre.rows.image import as_arrays

    return as_arrays(table, schema)
