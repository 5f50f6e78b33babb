"""The chapters about columns: figures within bands, then facts and statistics as a table."""

import numpy as np

from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.evaluate.findings.words import percent
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.tables.rows import Rows
from nacre.publish.bands import Band
from nacre.publish.findings import drowned
from nacre.publish.page.figures import draw_band
from nacre.publish.public import PublicReport
from nacre.report.builder import Cell, DataTable, right
from nacre.report.builder.text import short
from nacre.schema import Schema
from nacre.schema.written import value_at, value_names

MOST_FIGURES = 60
MEASURED = (
    "Noise hides where the private table’s histogram ends: somewhere in the strong gray, with 95% "
    "confidence for all bins of a figure together. The percentage is the largest share of the rows "
    "that may then be in the wrong cell; a bin that is drawn may hold several. “By cells” says "
    "that many rows lie in cells of several values, and where inside was not compared; “in "
    "stretches”, that cells were so many that only stretches of them could be. Where a number of "
    "cells is named, they are as many, and a difference shows in them although their noise adds "
    "up. This is about noise alone: the private rows are themselves a sample of the world. Least "
    "certain first."
)
NOT_MEASURED = (
    "The synthetic table’s own columns. How close they are to the private ones is not known here: "
    "no histogram was released."
)


def columns(report: PublicReport) -> Context:
    """Every column, the least certain first."""
    bands = sorted(report.bands, key=lambda band: -1.0 if band.at_most is None else -band.at_most)
    measured = any(band.at_most is not None for band in bands)
    rest = len(bands[MOST_FIGURES:])
    more = f" {rest} columns are not drawn." if rest else ""
    sources = sorted({band.source for band in bands if band.source})
    from_ = f" The bands come from {' and from '.join(sources)}." if sources else ""
    return {
        "measured": measured,
        "words": (MEASURED if measured else NOT_MEASURED) + more + from_,
        "columns": [
            {
                "name": band.column,
                "bound": _bound(band) if measured else "",
                "level": _level(band),
                "drawing": drawn(
                    draw_band(band, report.table.rows.schema),
                    f"Column {band.column}, synthetic, with the band of the private one",
                ),
            }
            for band in bands[:MOST_FIGURES]
        ],
    }


def _bound(band: Band) -> str:
    """How far off it may be, in a few words."""
    if band.at_most is None:
        return "not measured"
    if drowned(band):
        return "not known: all noise"
    least = f"{percent(band.at_least)} to " if band.at_least else "at most "
    return f"{least}{percent(band.at_most)} off{_where(band)}"


def _where(band: Band) -> str:
    """In what the distance was told, if not in single values."""
    if band.stretches is None and (band.inside or 0.0) > CARE_TV:
        return ", by cells" if band.cells is None else f", by {band.cells} cells"
    return f", {band.told_in}" if band.told_in else ""


def _level(band: Band) -> str | None:
    """Red where it is surely far off, amber where it may be."""
    if band.at_most is None:
        return None
    return (
        "bad" if (band.at_least or 0) > AVOID_TV else "doubt" if band.at_most > AVOID_TV else None
    )


def facts(report: PublicReport) -> Context:
    """What is public about each column, and the synthetic table's own statistics."""
    table = report.table.rows
    rows = [_line(table.schema, table, name) for name in table.names]
    read = report.schema.from_rows
    said = "In the schema" if read else "Declared"
    head = [Cell("Column"), Cell(said), Cell("In the synthetic table"), right("missing")]
    if not any(column.nullable for column in report.schema.columns.values()):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return {
        "words": f"{_origin(report.schema)}, and statistics of the synthetic table itself.",
        "table": DataTable(head, rows),
        "rules": [*map(str, report.schema.facts), *map(str, report.schema.constraints)],
    }


def _origin(schema: Schema) -> str:
    """Where the schema's facts come from."""
    bought = ", or bought from them and listed below" if schema.releases else ""
    if schema.from_rows:
        return (
            f"What the schema says, read from the private rows{bought} (a person said that it is "
            "public; the guarantee does not cover it)"
        )
    return f"What the schema declares, known without looking at the private rows{bought}"


def _line(schema: Schema, rows: Rows, name: str) -> list[Cell]:
    column = schema.columns[name]
    title = Cell(name, small="the label" if name == schema.label else "")
    if column.ticks is None:
        names = value_names(schema, name)
        counts = np.bincount(rows.bin(name).codes, rows.weights, len(names))
        gaps = counts[-1] / rows.total if column.nullable else None
        known = counts[: len(names) - bool(column.nullable)]
        top = int(np.argmax(known))
        declared = f"{column.type}, {len(known)} values"
        said = (
            f"{np.count_nonzero(known)} of them occur; "
            f"most often {short(names[top])} ({percent(known[top] / rows.total)})"
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
    missing_share = right("—" if gaps is None else percent(gaps))
    return [title, Cell(declared), Cell(said), missing_share]
