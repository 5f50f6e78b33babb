"""The demo: bundled data to a private model, synthetic rows and a report, told step by step."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
from rich.console import Console
from rich.table import Table
from rich.text import Text

import nacre
from nacre.evaluate.tables.extras import require
from nacre.model import Model

EPSILON = 1.0
DELTA = 1e-5
ROWS = 30_000  # a round number: how many rows there really are is private
SHOWN = 5
MODEL, TABLE, REPORT = FILES = ("demo.nacre", "synthetic.csv", "report.html")
Report = Callable[[str, float | None], None]


def run(
    folder: Path,
    *,
    epsilon: float,
    seed: int | None,
    console: Console,
    bars: Callable[[], AbstractContextManager[Report]],
) -> Model:
    """Fit, sample and evaluate Adult; leave demo.nacre, synthetic.csv and report.html in `folder`.

    Files of these names are replaced: asking is the caller's. `bars` opens a progress display; it
    is closed again before anything is printed.
    """
    require("sklearn")  # before the work, not after it
    started = time.perf_counter()
    schema = nacre.datasets.adult_schema()
    train, test = nacre.datasets.adult()
    console.print(
        f"Adult, the 1994 US census extract: {train.num_rows:,} people to learn from, "
        f"{test.num_rows:,} kept to test with, {len(schema.names)} columns."
    )
    console.rule("plan: what will be released, before anything is spent", align="left")
    planned = nacre.plan(schema, epsilon=epsilon, delta=DELTA, rows=ROWS)
    console.print(str(planned), markup=False)

    console.rule("fit: the only step that reads the private rows", align="left")
    with bars() as report:
        model = nacre.fit(
            train, schema, epsilon=epsilon, delta=DELTA, seed=seed, on_progress=report
        )
    model.save(folder / MODEL, replace=True)
    console.print(f"{model.method}: {model.guarantee}", style="bold green", markup=False)

    console.rule("sample: as many rows as you like, at no further cost", align="left")
    synthetic = model.sample_arrow(ROWS, seed=seed)
    pa.csv.write_csv(synthetic, folder / TABLE)
    console.print(_rows(synthetic.slice(0, SHOWN)))

    console.rule("evaluate: the data holder's own eyes, not private", align="left")
    with bars() as report:
        found = nacre.evaluate(
            train,
            synthetic,
            schema,
            test=test,
            guarantee=model,
            on_progress=report,
        )
    found.to_html(folder / REPORT)
    shown = shlex.quote(str(folder / MODEL))
    console.print(found.summary(), markup=False)
    for name, what in (
        (REPORT, "how good the synthetic rows are; confidential"),
        (TABLE, f"{synthetic.num_rows:,} synthetic rows; yours to share"),
        (MODEL, f"the model and its certificate; try `nacre show {shown} --verify`"),
    ):
        console.print(Text.assemble((f"{folder / name}", "bold cyan"), f"  {what}"))
    console.print(f"Done in {time.perf_counter() - started:.0f} seconds.")
    return model


def _rows(table: pa.Table) -> Table:
    """A few rows, one column each, so that wide tables fit on the screen."""
    shown = Table(title=f"{table.num_rows} synthetic people", title_justify="left")
    shown.add_column("")
    for number in range(table.num_rows):
        shown.add_column(f"#{number + 1}")
    for name in table.column_names:
        values: list[Any] = table.column(name).to_pylist()
        shown.add_row(Text(name, style="bold"), *(Text(_text(value)) for value in values))
    return shown


def _text(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
