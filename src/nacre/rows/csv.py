"""CSV files as a stream of text: each record by itself, and nothing inferred from any.

A table here is the sequence of records that a file parses to.  A record with more or fewer fields
than the header is no row: it is left out, which is to say that it counts as zero.  Bytes that are
not UTF-8 become U+FFFD.  Neither stops a pass; a pass can count them for the holder.

Files are cut between records here and not by Arrow, whose streams read some records differently at
the end of a block and some not at all.
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
import enum
import io
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nacre.rows.errors import SourceError

BLOCK = 1 << 22  # bytes read at a time
LONGEST = 1 << 28  # bytes of a record; what is longer is a quote that nobody closed
SIGNS = {";": "semicolons", "\t": "tabs", "|": "bars"}
STOP = re.compile(rb"[,\r\n]")
# As Arrow's parser has it: a quote opens a field only at its start, and is a letter elsewhere.
FIELD = rb'(?:"(?:[^"]++|"")*+"[^,\r\n]*+|[^",\r\n][^,\r\n]*+|)'
RECORD = re.compile(FIELD + rb"(?:," + FIELD + rb")*+(?:\r\n|\n|\r)")
RECORDS = re.compile(rb"(?:" + RECORD.pattern + rb")*+")


@dataclasses.dataclass
class Faults:
    """What a pass over a CSV file met.  The holder's own view: exact, so not private.

    Attributes:
        records: how many had more or fewer fields than the header, and were left out.
        bytes: whether some bytes were not UTF-8.
    """

    records: int = 0
    bytes: bool = False


def header(file: Path) -> list[str]:
    """The columns of a CSV file, from its first record alone."""
    if (said := wide(file)) is not None:
        raise SourceError(said)
    first, _ = _split(next(_chunks(file, Faults()), b""))
    try:
        names = next(csv.reader(io.StringIO(first.decode(), newline="")), None)
    except csv.Error:
        raise SourceError(f"{file}: its header does not end. Check its quotes.") from None
    if names is None:
        raise SourceError(f"{file} is empty.")
    if any("\ufffd" in name for name in names):
        raise SourceError(not_utf8(file))
    return names


def records(file: Path, names: Sequence[str], faults: Faults) -> Iterator[pa.RecordBatch]:
    """Batches of text, an empty cell as null; `faults` is told what was met on the way."""
    everything = header(file)
    chunks = _chunks(file, faults)
    _, first = _split(next(chunks, b""))
    yield from _parse(first, everything, names, faults)
    for chunk in chunks:
        yield from _parse(chunk, everything, names, faults)


def not_utf8(file: Path | str) -> str:
    """What to do about a file in another encoding."""
    return (
        f"{file} is not UTF-8 text. Convert it first, for example with "
        f"`iconv -f LATIN1 -t UTF-8 {Path(file).name} > utf8.csv`."
    )


def wide(file: Path) -> str | None:
    """What to do about a file in UTF-16, as spreadsheets save "Unicode text"; None if it is not."""
    packed = "gzip" if file.name.lower().endswith(".gz") else None
    with pa.input_stream(str(file), compression=packed) as stream:
        start = stream.read(64)
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not marked and start[1::2].strip(b"\0") and start[::2].strip(b"\0"):
        return None
    if not start:
        return None
    name = shlex.quote(file.name)
    shown = f"zcat {name} | " if packed else ""
    return (
        f"{file} is UTF-16, not UTF-8 text. Convert it first, for example with `{shown}iconv -f "
        f"UTF-16 -t UTF-8 {'' if packed else f'{name} '}> utf8.csv`."
    )


def other_separator(file: Path | str, names: Sequence[str]) -> str:
    """What to do about a file that separates by other signs; nothing if it does not seem to."""
    sign = next((sign for sign in SIGNS if len(names) == 1 and sign in names[0]), None)
    if sign is None:
        return ""
    name = shlex.quote(Path(file).name)
    delimiter = "chr(9)" if sign == "\t" else f"'{sign}'"
    packed = str(file).lower().endswith(".gz")
    return (
        f"{file} looks separated by {SIGNS[sign]}: its header has no comma. Save it again with "
        'commas (spreadsheets call that "CSV UTF-8, comma delimited"), or convert it, for example '
        f'with `{f"zcat {name} | " if packed else ""}python -c "import csv, sys; '
        f'csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter={delimiter}))" '
        f"{'' if packed else f'< {name} '}> commas.csv`; write decimal commas as points too."
    )


def _parse(
    chunk: bytes, everything: Sequence[str], names: Sequence[str], faults: Faults
) -> list[pa.RecordBatch]:
    from pyarrow import csv as arrow

    if not chunk.strip(b"\r\n"):
        return []

    def skip(_: Any) -> str:
        faults.records += 1
        return "skip"

    table = arrow.read_csv(
        # Behind a blank line, as Arrow drops a byte order mark at the start of what it is given;
        # and one block, so that nothing depends on where it ends.
        pa.py_buffer(b"\n" + chunk),
        read_options=arrow.ReadOptions(column_names=everything, block_size=len(chunk) + 2),
        parse_options=arrow.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        convert_options=arrow.ConvertOptions(
            column_types={name: pa.string() for name in names},
            include_columns=list(names),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return table.to_batches()


def _split(chunk: bytes) -> tuple[bytes, bytes]:
    """The first record that is not blank, and what comes after it."""
    chunk = chunk.lstrip(b"\r\n")
    found = RECORD.match(chunk)
    end = found.end() if found else len(chunk)
    return chunk[:end], chunk[end:]


def _chunks(file: Path, faults: Faults) -> Iterator[bytes]:
    """The file in pieces of whole records, as UTF-8.

    A replaced byte takes no valid byte with it, so none reaches over a comma or the end of a line:
    what becomes of a cell is decided by that cell.
    """
    packed = "gzip" if file.name.lower().endswith(".gz") else None
    decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
    waiting, over = b"", False
    lost: Place | None = None  # in a record that is too long: where
    with pa.input_stream(str(file), compression=packed) as stream:
        while not over:
            data = stream.read(max(BLOCK, len(waiting)))
            over, before = not data, decoder.getstate()
            try:
                text = decoder.decode(data, final=over)
            except UnicodeDecodeError:
                faults.bytes = True
                decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
                decoder.setstate(before)
                text = decoder.decode(data, final=over)
            waiting += text.encode()
            if lost is not None:
                waiting, lost = _after(waiting, lost)
            end = len(waiting) if over else _end(waiting)
            if end:
                yield from _not_too_long(waiting[:end], faults)
            waiting = waiting[end:]
            if len(waiting) >= LONGEST:
                faults.records += 1  # and the file goes on behind it
                waiting, lost = _after(waiting, Place.START)


def _not_too_long(records: bytes, faults: Faults) -> Iterator[bytes]:
    """Whole records, without those that are too long: by their own length, wherever reads fell."""
    if len(records) < LONGEST:
        yield records
        return
    start = 0
    while start < len(records):
        found = RECORD.match(records, start)
        end = found.end() if found else len(records)
        record = records[start:end]
        if len(record.rstrip(b"\r\n")) >= LONGEST:
            faults.records += 1
        else:
            yield record
        start = end


class Place(enum.Enum):
    """Where in a record one is, as `FIELD` has it."""

    START = "at the start of a field"
    PLAIN = "in a field, where a quote is a letter"
    QUOTED = "between quotes"
    QUOTE = "behind a quote that ends the field, or begins a pair"


def _after(waiting: bytes, where: Place) -> tuple[bytes, Place | None]:
    """What comes behind the record that `waiting` is in the middle of, and None.

    Nothing, and where one is then, if the record goes on.
    """
    place = 0
    while place < len(waiting):
        quote = waiting[place : place + 1] == b'"'
        if where is Place.QUOTED:
            found = waiting.find(b'"', place)
            if found < 0:
                return b"", where
            place, where = found + 1, Place.QUOTE
        elif quote and where in (Place.START, Place.QUOTE):
            place, where = place + 1, Place.QUOTED
        else:
            stop = STOP.search(waiting, place)
            if stop is None:
                return b"", Place.PLAIN
            if stop.group() != b",":
                return waiting[stop.end() :], None
            place, where = stop.end(), Place.START
    return b"", where


def _end(waiting: bytes) -> int:
    """Where the last complete record ends."""
    if b'"' not in waiting:
        return max(waiting.rfind(b"\n"), waiting.rfind(b"\r")) + 1
    found = RECORDS.match(waiting)
    return found.end() if found else 0
