"""Rows a second of reading, encoding and summing, beside the machine's own limits.

Everything is one core's processor time, so that other work on the machine matters little; each
measurement is a process of its own, so that its memory is.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.made import hanging_together
from nacre.methods.method import AbstractMethod
from nacre.rows import Stream, TableEncoder, open_source
from nacre.schema import Schema
from nacre.sites.terms import Terms
from nacre.vault.doors.sum import Sums
from nacre.vault.exact_sum import BLOCK
from nacre.vault.rounds import Answered, Asked

COLUMNS, PART = 20, 250_000
ROWS = 1e6  # by which the histograms are laid out
Run = Callable[[Path], None]
RESULTS = Path(__file__).parent / "results" / "scale.json"
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BILLIONS = (10**9, 10**12)


def made(folder: Path, rows: int) -> Path:
    """A Parquet file of so many rows: the same part over and over, a row group each."""
    table, schema = hanging_together(min(PART, rows), COLUMNS, seed=0, label=True)
    file = folder / "rows.parquet"
    (folder / "schema.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    found = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
    with pq.ParquetWriter(file, found.schema) as writer:
        for start in range(0, rows, found.num_rows):
            writer.write_table(found.slice(0, min(found.num_rows, rows - start)))
    return file


def batches(file: Path, schema: Schema) -> Iterator[pa.RecordBatch]:
    yield from open_source(file, schema).batches()


def read(schema: Schema) -> Run:
    """The limit of everything: Arrow decodes the file."""

    def run(file: Path) -> None:
        for _ in batches(file, schema):
            pass

    return run


def count(schema: Schema) -> Run:
    """The limit of histograms: read, and count each column's values, coarsely."""

    def run(file: Path) -> None:
        for batch in batches(file, schema):
            for column in batch.columns:
                values = column.dictionary_encode().indices if _is_text(column) else column
                codes = np.nan_to_num(values.to_numpy(zero_copy_only=False)).astype(np.int64) & 255
                np.bincount(codes, minlength=256)

    return run


def multiply(schema: Schema) -> Run:
    """The limit of Fourier features: read, a float32 product, its sine and cosine.

    As many features as merf's, of a matrix that is in memory already.
    """
    rng, width = np.random.default_rng(0), first_question(schema, "merf").exact.bound.size
    w = rng.normal(size=(COLUMNS, width // 2)).astype(np.float32)
    x = rng.random((4096, COLUMNS), np.float32)

    def run(file: Path) -> None:
        for batch in batches(file, schema):
            for _ in range(0, batch.num_rows, len(x)):
                angles = x @ w
                np.sin(angles).sum(0)
                np.cos(angles).sum(0)

    return run


def encode(schema: Schema) -> Run:
    """What nacre makes of the file before anything is asked."""

    def run(file: Path) -> None:
        for _ in Stream(TableEncoder.of(schema), file).blocks(BLOCK):
            pass

    return run


def first_question(schema: Schema, method: str | AbstractMethod) -> Asked:
    """The first sum of features that a method asks for; before it, it may count `ROWS` rows."""
    encoder = TableEncoder.of(schema)
    terms = Terms.of(encoder, method, seed=0, adjacency="add-remove", rows=None)
    asked, given = terms.next_question(terms.nominal(), []), []
    while not (bound := asked.exact.bound).size:
        sums = Sums(np.zeros((bound.classes, 0)), (), np.full(bound.classes, ROWS / bound.classes))
        given.append(Answered(asked.question.name, asked.program, sums=sums))
        asked = terms.next_question(terms.nominal(), given)
    return asked


def first_sum(method: str) -> Callable[[Schema], Run]:
    """The first sum of a method over the file, before noise."""

    def prepare(schema: Schema) -> Run:
        asked = first_question(schema, method)
        return lambda file: (
            asked.exact.over(Stream(asked.exact.encoder, file), asked.public) and None
        )

    return prepare


CASES: dict[str, tuple[str, Callable[[Schema], Run], str | None]] = {
    "read": ("reading alone", read, None),
    "count": ("reading and counting alone", count, None),
    "multiply": ("reading, a product, sine and cosine alone", multiply, None),
    "encode": ("reading and encoding", encode, "read"),
    "mosaic": ("mosaic's histograms", first_sum("mosaic"), "count"),
    "merf": ("merf's features", first_sum("merf"), "multiply"),
}


def _is_text(column: pa.Array) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)


def measure(name: str, file: Path, repeats: int) -> tuple[float, int]:
    """Processor seconds and peak memory in MB of one case, in a process of its own."""
    command = [sys.executable, "-m", "bench", "scale", "--case", name, "--file", str(file)]
    said = subprocess.run(
        [*command, "--repeats", str(repeats)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds, memory = said.split()[-2:]
    return float(seconds), int(memory)


def run_case(name: str, file: Path, repeats: int) -> None:
    """In a process of its own: what the case takes beyond its start, the least of several runs.

    The first one compiles, so that it counts only where it is the only one.
    """
    schema = Schema.read(file.with_name("schema.yaml"))
    run, times = CASES[name][1](schema), []
    for _ in range(repeats):
        start = time.process_time()
        run(file)
        times.append(time.process_time() - start)
    print(min(times), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(prog="python -m bench scale")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--cases", default=",".join(CASES), help="which, separated by commas")
    parser.add_argument("--repeats", type=int, default=4, help="runs, of which the least counts")
    options = parser.parse_args(arguments)
    if options.case:
        run_case(options.case, options.file, options.repeats)
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        # A tenth of the rows tells what memory grows by; of a single run, also what it starts with.
        small, large = options.rows // 10, options.rows
        files = {rows: made(_room(Path(folder), rows), rows) for rows in (small, large)}
        for name in options.cases.split(","):
            few, less = measure(name, files[small], 1)
            many, memory = measure(name, files[large], options.repeats)
            once = options.repeats == 1
            kept[name] = {
                "rows": large,
                "rate": (large - small) / (many - few) if once else large / many,
                "memory": [less, memory],
            }
            print(name, json.dumps(kept[name]), flush=True)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    print(table := rendered(kept))
    head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- scale -->\n")
    PAGE.write_text(
        f"{head}<!-- scale -->\n{table}\n<!-- /scale -->{rest.partition('<!-- /scale -->')[2]}",
        encoding="utf-8",
    )


def _room(folder: Path, rows: int) -> Path:
    found = folder / str(rows)
    found.mkdir()
    return found


def rendered(kept: dict[str, Any]) -> str:
    """The measurements as the documentation has them."""
    lines = [
        "| one pass, one core, 20 columns | rows a second | against its limit | peak memory, MB |"
        + "".join(f" core-hours for 10^{len(str(n)) - 1} |" for n in BILLIONS),
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (meaning, _, limit) in CASES.items():
        if name not in kept:
            continue
        found = kept[name]
        ratio = f"{kept[limit]['rate'] / found['rate']:.1f} x" if limit in kept else ""
        hours = [f" {n / found['rate'] / 3600:,.1f} |" for n in BILLIONS]
        lines.append(
            f"| {meaning} | {found['rate']:,.0f} | {ratio} | "
            f"{found['memory'][0]:,} → {found['memory'][1]:,} ({found['rows']:,} rows) |"
            + "".join(hours)
        )
    return "\n".join(lines)
