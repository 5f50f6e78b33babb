"""A table from a browser, written while it comes in: its name is never a path, its size is bounded.

The form's token is its first part: a file is not looked at before.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import final

import python_multipart
from python_multipart.multipart import parse_options_header

from nacre.app.folder import FULL, DiskFull
from nacre.errors import NacreError

LONGEST_FIELD = 4096
PARQUET = b"PAR1"
GZIP = b"\x1f\x8b"
SUFFIX = re.compile(r"\.(?:csv\.gz|csv|parquet|pq)$", re.IGNORECASE)


class Refused(NacreError):
    """The upload cannot be taken; nothing of it is kept.  `status` is HTTP's."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


@final
class Upload:
    """One form with a token and a file, parsed as it arrives; the file goes to `partial`.

    Attributes:
        name: the file's name, without folders; only ever shown.
        size: bytes so far.
    """

    def __init__(self, boundary: bytes, partial: Path, *, most: int, admit: Callable[[str], bool]):
        self.name = ""
        self.size = 0
        self._partial, self._most, self._admit = partial, most, admit
        self._admitted = self._is_file = self._taken = False
        self._field = bytearray()
        self._header, self._value = bytearray(), bytearray()
        self._part = ""
        self._out: int | None = None
        self._parser = python_multipart.MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": lambda d, s, e: self._grow(self._header, d[s:e]),
                "on_header_value": lambda d, s, e: self._grow(self._value, d[s:e]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._start,
                "on_part_data": self._data,
                "on_part_end": self._end,
            },
        )

    async def take(self, chunks: AsyncIterator[bytes]) -> None:
        """Read the whole form; raises `Refused` as soon as it must not go on."""
        seen = 0
        try:
            async for chunk in chunks:
                seen += len(chunk)
                if seen > self._most + (1 << 16):
                    raise self._too_large()
                self._parser.write(chunk)
            self._parser.finalize()
        except python_multipart.exceptions.FormParserError:
            raise Refused("The browser sent a form that cannot be read.", 400) from None
        except OSError as error:
            if error.errno in FULL:
                raise DiskFull(
                    "The disk is full: the table was not taken. Make room, and try again."
                ) from None
            raise
        finally:
            self._close()
        if not self._taken:
            raise Refused("Choose a file first.", 400)

    def _begin(self) -> None:
        self._part, self._is_file = "", False
        self._field.clear()

    def _end_header(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._value))
            self._part = options.get(b"name", b"").decode("utf-8", "replace")
            if b"filename" in options:
                self._is_file = True
                self.name = shown_name(options[b"filename"].decode("utf-8", "replace"))
        self._header.clear()
        self._value.clear()

    def _start(self) -> None:
        if not self._is_file:
            return
        if not self._admitted:
            raise Refused("This form is not one of this page. Load the page again.", 403)
        if self._out is not None:
            raise Refused("One file at a time.", 400)
        if not self.name:
            raise Refused("Choose a file first.", 400)
        if not SUFFIX.search(self.name):
            raise Refused(
                "A table is a .csv, .csv.gz or .parquet file. Save it as one of these first.", 415
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._out = os.open(self._partial, flags, 0o600)
        self._taken = True

    def _data(self, data: bytes, start: int, end: int) -> None:
        if not self._is_file or self._out is None:
            self._grow(self._field, data[start:end])
            return
        self.size += end - start
        if self.size > self._most:
            raise self._too_large()
        left = memoryview(data)[start:end]
        while left:
            left = left[os.write(self._out, left) :]

    @staticmethod
    def _grow(text: bytearray, more: bytes) -> None:
        """Everything but the file itself is short."""
        text.extend(more)
        if len(text) > LONGEST_FIELD:
            raise Refused("The browser sent a form that cannot be read.", 400)

    def _end(self) -> None:
        if self._part == "form_token":
            self._admitted = self._admit(self._field.decode("utf-8", "replace"))

    def _close(self) -> None:
        if self._out is not None:
            os.close(self._out)
            self._out = None

    def _too_large(self) -> Refused:
        return Refused(
            f"The file is larger than {self._most >> 20:,} MB, the most that this page takes. Put "
            "it into the folder that the page was started with (--root), and open it from there.",
            413,
        )


def shown_name(said: str) -> str:
    r"""A file's name as people gave it, without folders and control characters, cut.

    Examples:
        >>> shown_name("..\\..\\etc/people.csv\n")
        'people.csv'
    """
    last = re.split(r"[/\\]", said)[-1]
    return "".join(c for c in last if c.isprintable()).strip()[-100:]


def stored_name(name: str, start: bytes) -> str:
    """What a table is called on the disk: one of three names, by its ending and its first bytes."""
    found = SUFFIX.search(name)
    kind = found[0].lower() if found else ""
    parquet = kind in (".parquet", ".pq")
    fits = start.startswith(PARQUET) if parquet else start.startswith(GZIP) == (kind == ".csv.gz")
    if not fits or (not parquet and start.startswith(PARQUET)):
        raise Refused(
            "The file is not what its name says. Give it the ending of what it is: .csv, .csv.gz "
            "or .parquet.",
            415,
        )
    return "table.parquet" if parquet else f"table{kind}"


def boundary_of(content_type: str) -> bytes:
    """What separates the parts of a form."""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise Refused("Choose a file first.", 400)
    return options[b"boundary"]
