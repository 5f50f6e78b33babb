"""The chapters about columns: figures within bands, then facts and statistics as a table."""

import json
from typing import Any

import numpy as np

from nacre.evaluate.findings.find import AVOID_TV
from nacre.evaluate.findings.words import percent
from nacre.evaluate.tables.names import value_at, value_names
from nacre.evaluate.tables.rows import Rows
from nacre.publish.bands import Band
from nacre.publish.public import PublicReport
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.figures.canvas import plate
from nacre.report.markup import Markup, join, short, tag
from nacre.report.public.figures import draw_band
from nacre.schema import Schema

MOST_FIGURES = 60
MEASURED = (
    "Noise hides where the private table’s histogram ends: somewhere in the strong gray, with 95% "
    "confidence for all bins of a figure together. The percentage is the largest share of the rows "
    "that may then be in the wrong bin. This is about noise alone: the private rows are themselves "
    "a sample of the world. Least certain first."
)
NOT_MEASURED = (
    "The synthetic table’s own columns. How close they are to the private ones is not known here: "
    "no histogram was released."
)


def columns(report: PublicReport) -> Markup:
    """Every column, the least certain first."""
    bands = sorted(report.bands, key=lambda band: -1.0 if band.at_most is None else -band.at_most)
    measured = any(band.at_most is not None for band in bands)
    figures = [
        plate(
            draw_band(band, report.schema),
            join(tag("b", band.column), _bound(band, measured)),
            f"Column {band.column}, synthetic, with the band of the private one",
        )
        for band in bands[:MOST_FIGURES]
    ]
    rest = len(bands) - len(figures)
    words = MEASURED if measured else NOT_MEASURED
    more = f" {rest} columns are not drawn." if rest else ""
    sources = sorted({band.source for band in bands if band.source})
    from_ = f" The bands come from {' and from '.join(sources)}." if sources else ""
    return join(lede(words + more + from_), _key(measured), grid(figures))


def _bound(band: Band, measured: bool) -> Markup:
    if band.at_most is None:
        return tag("span", " not measured") if measured else Markup("")
    kind = "bad" if (band.at_least or 0) > AVOID_TV else None
    kind = kind or ("doubt" if band.at_most > AVOID_TV else None)
    least = f"{percent(band.at_least)} to " if band.at_least else "at most "
    return tag("span", f" {least}{percent(band.at_most)} off", class_=kind)


def _key(measured: bool) -> Markup:
    private = [
        tag("span", "private table, certain", class_="sure"),
        tag("span", "open because of noise", class_="unsure"),
    ]
    return tag(
        "p",
        *(private if measured else ()),
        tag("span", "this synthetic table", class_="dot", style="--color: var(--series-1)"),
        class_="key",
    )


def facts(report: PublicReport) -> Markup:
    """What is public about each column, and the synthetic table's own statistics."""
    rows = [_line(report.schema, report.table.rows, name) for name in report.schema.names]
    head = ["Column", "Declared", "In the synthetic table", ("missing", "n")]
    if not any(column.nullable for column in report.schema.columns.values()):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return join(
        lede(
            "What the schema declares, known without looking at the private rows"
            f"{_bought(report.schema)}, and statistics of the synthetic table itself."
        ),
        data_table(head, rows),
        _rules(report.schema),
    )


def _rules(schema: Schema) -> Markup:
    """What the schema says of several columns together."""
    stated = schema.to_dict().get("constraints", ())
    if not stated:
        return Markup("")
    written = [rule if isinstance(rule, str) else json.dumps(rule) for rule in stated]
    return tag("p", f"Every sampled row satisfies: {'; '.join(written)}.", class_="muted")


def _bought(schema: Schema) -> str:
    return ", or bought from them and listed below" if schema.releases else ""


def _line(schema: Schema, rows: Rows, name: str) -> list[Any]:
    column = schema.columns[name]
    title = join(name, tag("small", "the label")) if name == schema.label else name
    if column.ticks is None:
        names = value_names(schema, name)
        counts = np.bincount(rows.bin(name).codes, minlength=len(names))
        gaps = counts[-1] / len(rows) if column.nullable else None
        known = counts[: len(names) - bool(column.nullable)]
        top = int(np.argmax(known))
        declared = f"{column.type}, {len(known)} values"
        said = (
            f"{np.count_nonzero(known)} of them occur; "
            f"most often {short(names[top])} ({percent(known[top] / len(rows))})"
        )
    else:
        unit, missing = rows.unit(name), rows.missing(name)
        gaps = None if missing is None else float(missing.mean())
        present = unit[~np.isnan(unit)]
        declared = f"{column.type}, {value_at(column, 0)} to {value_at(column, 1)}"
        said = "none is present"
        if len(present):
            low, middle, high = (
                value_at(column, float(q)) for q in np.quantile(present, (0.05, 0.5, 0.95))
            )
            said = f"median {middle}; 90% lie between {low} and {high}"
    return [title, declared, said, ("—" if gaps is None else percent(gaps), "n")]
