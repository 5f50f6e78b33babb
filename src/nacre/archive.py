"""A model file: a zip of one JSON document and plain arrays, with checksums.  No pickle.

Nothing in it is compressed, so that what reading it takes is bounded by the file's own size.
"""

from __future__ import annotations

import contextlib
import errno
import filecmp
import functools
import hashlib
import io
import json
import math
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError, NameTaken
from nacre.partial import take_free_name

FORMAT = 10
TEXT = 64 << 20  # bytes of JSON at most: once parsed, it may take thirty times as much
DATES = (1980, 1, 1, 0, 0, 0)


class ArchiveError(NacreError):
    """A model file that cannot be read."""


def write(
    path: Path,
    document: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    secret: bool = False,
    replace: bool = True,
) -> None:
    """Write beside the target and rename, so that a crash or a full disk leaves the old file.

    A `secret` file is for its owner's eyes alone.  Without `replace` no file is replaced, not even
    one that comes there in the meantime; one that is the same to the byte may stay.
    """
    if path.exists() and not path.is_file():  # a device would be replaced by a file
        raise ArchiveError(f"{path} is not a file. Give the name of a file to write.")
    parts = {f"arrays/{name}.npy": _to_bytes(array) for name, array in arrays.items()}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    head = json.dumps({"nacre": FORMAT, **document, "sha256": sums}, indent=1, allow_nan=False)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo("model.json", DATES), head)
                for name, data in parts.items():
                    archive.writestr(zipfile.ZipInfo(name, DATES), data)
            file.flush()
            os.fsync(file.fileno())
        if not secret:  # mkstemp's own mode hides the file from others
            Path(temporary).chmod(0o666 & ~_umask())
        if replace:
            Path(temporary).replace(path)
        else:
            take_free_name(Path(temporary), path)
    except FileExistsError:
        if not (path.is_file() and filecmp.cmp(temporary, path, shallow=False)):
            raise NameTaken(
                f"{path} is there already. As such files cost budget, it is not replaced, and "
                "nothing was written. Choose another name, or say replace=True (on the command "
                "line --force)."
            ) from None
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # a full disk does not say where
        raise
    finally:
        Path(temporary).unlink(missing_ok=True)


def read(path: Path, data: bytes | None = None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The document and arrays of a model file, or an ArchiveError that says what is wrong.

    Args:
        path: of the file.
        data: its bytes, if something was checked of them: then the file is not opened again, as
            another one may lie there by now.
    """
    with _in_words(path):
        if data is not None:
            return _read(path, io.BytesIO(data), len(data))
        with _opened(path) as file:
            return _read(path, file, os.fstat(file.fileno()).st_size)


def bytes_of(path: Path, *, most: int | None = None) -> bytes:
    """All bytes of a file, or an ArchiveError.

    Up to `most` of a stranger's, if given; then what is no plain file, such as a link, is refused.
    """
    with _in_words(path):
        if most is None:
            with _opened(path) as file:
                return file.read()
        with plain(path) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise ArchiveError(f"{path} has more than {most:,} bytes: refused.")
        return data


def plain(path: Path) -> BinaryIO:
    """A stranger's file, opened; ArchiveError if it is a link, which may lead anywhere, or none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ArchiveError(f"{path} is a link, not a file: refused.") from None
        raise
    file = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise ArchiveError(f"{path} is not a file: refused.")
    return file


def _opened(path: Path) -> BinaryIO:
    if not path.exists():
        raise ArchiveError(f"There is no file {path}.")
    if not path.is_file():
        raise ArchiveError(f"{path} is not a file. Give the name of a model that was saved.")
    return path.open("rb")


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except ArchiveError:
        raise
    except FileNotFoundError:
        raise ArchiveError(f"There is no file {path}.") from None
    except PermissionError:
        raise ArchiveError(f"{path} cannot be read: permission denied.") from None
    except MemoryError:
        raise ArchiveError(f"{path} does not fit into the memory that is left.") from None
    except Exception as error:  # of any kind: these bytes may be a stranger's, or rotten
        raise ArchiveError(
            f"{path} is not a nacre model, or it is damaged ({type(error).__name__}). "
            "Copy it again from where it came."
        ) from None


def _read(path: Path, file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with zipfile.ZipFile(file) as archive:
        check_members(path, archive.infolist(), size)
        document = json.loads(
            archive.read("model.json"), object_pairs_hook=functools.partial(_unique, path)
        )
        json.dumps(document, ensure_ascii=False).encode()  # half a character could not be written
        if not isinstance(document, dict) or not isinstance(document.get("nacre"), int):
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
            arrays[key] = _to_array(data, longest=size)
    return document, arrays


def _unique(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the document.  Of two entries of one name, tools would believe different ones.

    So a certificate might show one guarantee to its reader and another to its checker.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ArchiveError(f"{path} says something twice in its description: refused.")
    return found


def check_members(path: Path, members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what would unpack to more than the file holds, before any of it is unpacked."""
    if len({member.filename for member in members}) != len(members):
        raise ArchiveError(f"{path} holds two parts of one name: refused.")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ArchiveError(f"{path} holds compressed parts, which no model has: refused.")
    # Parts may lie over each other, and each says itself how long it is.
    if sum(max(member.file_size, member.compress_size) for member in members) > size:
        raise ArchiveError(f"{path} claims to hold more than its {size:,} bytes: refused.")
    if any(member.filename == "model.json" and member.file_size > TEXT for member in members):
        raise ArchiveError(f"{path} describes itself in more than {TEXT >> 20} MiB: refused.")


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _to_bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _to_array(data: bytes, *, longest: int) -> NDArray[Any]:
    """The plain numbers in the bytes of a .npy file, whose header is checked before it is believed.

    An empty array holds nothing but may claim any length: no side is longer than `longest`.
    """
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise NacreError("An array is written in another version of its format.")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.kind not in "biuf" or not all(0 <= side <= longest for side in shape):
        raise NacreError("An array holds no numbers, or claims a length that it cannot have.")
    if math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise NacreError("An array is not as long as it claims.")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
