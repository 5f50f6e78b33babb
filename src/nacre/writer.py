"""A table written batch by batch to CSV or Parquet, so that memory stays flat."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from nacre.errors import NacreError

PRECISION = 20  # a column with decimals has 15 digits in all
SUFFIXES = (".csv", ".csv.gz", ".parquet", ".pq")


def check_name(path: Path) -> None:
    """Refuse a name from which the form of the file cannot be told."""
    if not path.name.lower().endswith(SUFFIXES):
        raise NacreError(f"{path}: the name must end in one of {', '.join(SUFFIXES)}.")


FORMULA = "^[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
"""How a text begins that a spreadsheet may take for a formula and run (OWASP's list)."""


# The first bytes of these in UTF-8; others begin with that of the full-width ones, too.
RISKY = np.isin(np.arange(256), list(b"=+-@\t\r\n\xef"))


@final
class Writer:
    """Writes Arrow tables of one schema to `path`, in the form that the name of `like` says.

    In CSV a number has as many `decimals` as its column is said to have, so that 90 is written as
    90.00 beside 98.80, and a time as many letters of 2024-12-31 18:30:00 or 18:30:00 as `clocks`
    says; in Parquet they are float64, timestamps and times in either case.

    With `safe`, a text in CSV that a spreadsheet could run as a formula gets an apostrophe before
    it, which spreadsheets take away again and other programs do not.  Numbers and dates stay as
    they are: typed, so that "-5" is a number whatever the schema says.

    Attributes:
        rows: how many were written.
        formulas: names of columns with such texts that were written as they are.
    """

    def __init__(
        self,
        path: Path,
        *,
        like: Path,
        safe: bool = False,
        decimals: Mapping[str, int] | None = None,
        clocks: Mapping[str, int] | None = None,
    ):
        name = like.name.lower()
        self._decimals, self._clocks = decimals or {}, clocks or {}
        self._safe, self.formulas = safe, set[str]()
        self.rows = 0
        self._parquet: pa.parquet.ParquetWriter | None = None
        self._is_parquet = name.endswith((".parquet", ".pq"))
        self._started = False
        opener: Any = gzip.open if name.endswith(".gz") else open
        self._file = opener(path, "wb")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._parquet is not None:
            self._parquet.close()
        self._file.close()

    def write(self, table: pa.Table) -> None:
        """Add rows; the first call also writes the header."""
        if self._is_parquet:
            if self._parquet is None:
                self._parquet = pa.parquet.ParquetWriter(self._file, table.schema)
            self._parquet.write_table(table)
        else:
            header = not self._started
            found = _formulas(table)
            table = _with_decimals(_plain(table), self._decimals)
            table = _with_clocks(table, self._clocks)
            if self._safe:
                names = [_quoted_name(name) for name in table.column_names]
                table = _with_apostrophes(table, found).rename_columns(names)
            else:
                self.formulas |= found
            self._file.write(_csv(table, header=header, quoted=self._safe))
        self._started = True
        self.rows += table.num_rows


def _plain(table: pa.Table) -> pa.Table:
    """The table with its dictionaries written out."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = pc.cast(table.column(place), field.type.value_type)
            table = table.set_column(place, field.name, plain)
    return table


def _with_decimals(table: pa.Table, decimals: Mapping[str, int]) -> pa.Table:
    """The table with numbers as decimals, which CSV writes with all their digits; exact."""
    for place, field in enumerate(table.schema):
        if field.name in decimals and pa.types.is_floating(field.type):
            kind = pa.decimal128(PRECISION, decimals[field.name])
            table = table.set_column(place, field.name, pc.cast(table.column(place), kind))
    return table


def _with_clocks(table: pa.Table, clocks: Mapping[str, int]) -> pa.Table:
    """The table with times as text, without the seconds or parts of them that are always zero."""
    for place, field in enumerate(table.schema):
        known = pa.types.is_timestamp(field.type) or pa.types.is_time(field.type)
        if field.name in clocks and known:
            seconds = pa.timestamp("s") if pa.types.is_timestamp(field.type) else pa.time32("s")
            text = pc.cast(pc.cast(table.column(place), seconds), pa.string())
            short = pc.utf8_slice_codeunits(text, 0, clocks[field.name])
            table = table.set_column(place, field.name, short)
    return table


def _formulas(table: pa.Table) -> set[str]:
    """The columns of text in which some cell begins as a formula does; or whose own name does."""
    return {
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if _quoted_name(name) != name or any(_begins_so(part) for part in column.chunks)
    }


def _begins_so(part: pa.Array) -> bool:
    """Whether some text begins as a formula does; by the first byte of each, where that tells."""
    if pa.types.is_dictionary(part.type):
        if not _begins_so(part.dictionary):  # so that cells need not be looked at
            return False
        part = part.unique().dictionary_decode()
    if not (pa.types.is_string(part.type) or pa.types.is_large_string(part.type)):
        return False
    part = part.drop_null()
    _, places, text = part.buffers()
    if text is None or not len(part):
        return False
    width = np.dtype(np.int32 if pa.types.is_string(part.type) else np.int64)
    every = np.frombuffer(places, width, len(part) + 1, part.offset * width.itemsize)
    ends = every.astype(np.int64)
    starts = ends[:-1][ends[1:] > ends[:-1]]
    if not RISKY[np.frombuffer(text, np.uint8)[starts]].any():
        return False
    return bool(pc.any(pc.match_substring_regex(part, pattern=FORMULA)).as_py())


def _with_apostrophes(table: pa.Table, names: set[str]) -> pa.Table:
    for place, field in enumerate(table.schema):
        if field.name in names and not pa.types.is_primitive(field.type):
            marked = pc.replace_substring_regex(
                table.column(place), pattern=f"({FORMULA})", replacement="'\\1"
            )
            table = table.set_column(place, field.name, marked)
    return table


def _quoted_name(name: str) -> str:
    return f"'{name}" if re.match(FORMULA, name) else name


def _csv(table: pa.Table, *, header: bool, quoted: bool) -> bytes:
    """CSV with quotes only where some value needs them: Arrow would quote every text.

    All texts are `quoted` for spreadsheets, of which some divide cells at semicolons.
    """
    head = io.StringIO()
    if header:
        style = "unix" if quoted else "excel"  # which quote all, or what needs it
        csv.writer(head, style, lineterminator="\n").writerow(table.column_names)
    for quotes in ("needed",) if quoted else ("none", "needed"):
        sink = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(include_header=False, quoting_style=quotes)
        try:
            pa.csv.write_csv(table, sink, options)
            break
        except pa.ArrowInvalid:
            # Some value holds a comma, a quote or a line break.
            continue
    return head.getvalue().encode() + sink.getvalue().to_pybytes()
