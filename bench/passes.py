"""What a row costs in one pass of a sum, as the table and what is asked of it grow; and a chart.

Everything is processor time of one core for rows that are encoded already, compilation left out:
a sum that grows with what it adds up costs the same for each value.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.made import hanging_together
from bench.scale import CASES, PAGE, first_question
from bench.scale import RESULTS as RATES
from nacre.evaluate.report.figures.canvas import SERIES, drawing, new_figure, write_svg
from nacre.methods import find
from nacre.rows import Stream
from nacre.schema import Schema

RESULTS = Path(__file__).parent / "results" / "passes.json"
CHART = PAGE.parent / "images" / "scale.svg"
ROWS, COLUMNS, REPEATS = 20_000, 20, 3
KINDS = {
    "rows": "rows, mosaic's histograms",
    "columns": "columns, mosaic's histograms",
    "classes": "classes, mosaic's histograms",
    "frequencies": "frequencies, merf's features",
}
LABELS = {2: "c14", 5: "c17", 15: "c13"}  # columns of so many values


def cases() -> Iterator[tuple[str, int, Any, Schema, Any]]:
    """What grows and to what, then a table, its schema and a method."""
    mosaic, merf = find("mosaic")(), find("merf")
    for rows in (20_000, 80_000, 320_000):
        yield "rows", rows, *hanging_together(rows, COLUMNS, seed=0, label=True), mosaic
    for columns in (10, 40, 160):
        yield "columns", columns, *hanging_together(ROWS, columns, seed=0, label=True), mosaic
    table, schema = hanging_together(ROWS, COLUMNS, seed=0)
    for classes, name in LABELS.items():
        yield "classes", classes, table, schema.with_label(name), mosaic
    table, schema = hanging_together(ROWS // 4, COLUMNS, seed=0, label=True)
    for frequencies in (250, 500, 1000):
        yield "frequencies", frequencies, table, schema, merf(frequencies=frequencies)


def seconds(table: Any, schema: Schema, method: Any) -> float:
    """The least of several passes over rows in memory."""
    asked = first_question(schema, method)
    exact, stream = asked.exact, Stream(asked.exact.encoder, table)
    exact.over(stream, asked.public)  # reads, and compiles
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        exact.over(stream, asked.public)
        times.append(time.process_time() - start)
    return min(times)


def main(arguments: list[str]) -> None:
    """Print the table, keep it, and draw it beside the rates of `python -m bench scale`."""
    parser = argparse.ArgumentParser(prog="python -m bench passes")
    parser.add_argument("--draw", action="store_true", help="only draw what was measured before")
    options = parser.parse_args(arguments)
    if not options.draw:
        found: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
        for kind, size, table, schema, method in cases():
            each = 1e6 * seconds(table, schema, method) / table.num_rows
            found[kind][str(size)] = round(each, 3)
            print(f"{size:>8,} {KINDS[kind]:40} {each:8.2f} microseconds a row", flush=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw()


def draw() -> None:
    """Rates beside their limits, and what a row costs as things grow, as a picture for the docs."""
    rates = json.loads(RATES.read_text(encoding="utf-8"))
    growth = json.loads(RESULTS.read_text(encoding="utf-8"))
    with drawing():
        figure, (left, right) = new_figure(9.0, 3.4, ncols=2)
        names = [name for name in CASES if name in rates]
        rate = [rates[name]["rate"] for name in names]
        left.barh([CASES[name][0] for name in names], rate, color=SERIES[0])
        left.set_xscale("log")
        left.invert_yaxis()
        left.xaxis.set_major_formatter("{x:,.0f}")
        left.set_xlabel("rows a second, one core")
        for color, (kind, points) in zip(SERIES, growth.items(), strict=False):
            sizes = [float(size) for size in points]
            costs = list(points.values())
            right.plot(
                [size / sizes[0] for size in sizes],
                [cost / costs[0] for cost in costs],
                color=color,
                marker="o",
                label=KINDS[kind],
            )
        right.set_xscale("log", base=2)
        right.set_yscale("log", base=2)
        for axis in (right.xaxis, right.yaxis):
            axis.set_major_formatter("{x:g}")
        right.set_xlabel("times as many")
        right.set_ylabel("times the cost of a row")
        right.legend(frameon=False, fontsize=7)
        figure.tight_layout()
        write_svg(figure, "Rates of reading, encoding and summing; costs as tables grow", CHART)
