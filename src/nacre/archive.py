"""A model file: a zip of one JSON document and plain arrays, with checksums.  No pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
LIMIT = 4 << 30  # no array of a model is larger; a zip bomb stops here
DATES = (1980, 1, 1, 0, 0, 0)


class ArchiveError(ValueError):
    """A model file that cannot be read."""


def write(path: Path, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write beside the target and rename, so that a crash or a full disk leaves the old file."""
    parts = {f"arrays/{name}.npy": _to_bytes(array) for name, array in arrays.items()}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    head = json.dumps({"nacre": FORMAT, **document, "sha256": sums}, indent=1, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(zipfile.ZipInfo("model.json", DATES), head)
                for name, data in parts.items():
                    archive.writestr(zipfile.ZipInfo(name, DATES), data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp's own mode would hide the file from others.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and arrays of a model file, or an ArchiveError that says what is wrong."""
    if not path.exists():
        raise ArchiveError(f"There is no file {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > LIMIT:
                raise ArchiveError(f"{path} unpacks to more than {LIMIT >> 30} GiB: refused.")
            document = json.loads(archive.read("model.json"))
            if not isinstance(document, dict) or "nacre" not in document:
                raise ArchiveError(f"{path} is not a nacre model.")
            if document["nacre"] != FORMAT:
                raise ArchiveError(
                    f"{path} has format {document['nacre']}, this nacre reads format {FORMAT}. "
                    "Install the version that wrote it, or a newer one."
                )
            arrays = {}
            for name, wanted in document["sha256"].items():
                data = archive.read(name)
                if hashlib.sha256(data).hexdigest() != wanted:
                    raise ArchiveError(f"{path} is damaged: a checksum does not match.")
                key = name.removeprefix("arrays/").removesuffix(".npy")
                arrays[key] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except ArchiveError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, AttributeError, EOFError) as error:
        raise ArchiveError(
            f"{path} is not a nacre model, or it is damaged ({type(error).__name__}). "
            "Copy it again from where it came."
        ) from None
    return document, arrays


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _to_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()
