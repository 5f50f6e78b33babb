"""The chapters about prediction, and about how the synthetic table's columns go together."""

import numpy as np

from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.pairs import MOST_COLUMNS, draw_matrix
from nacre.evaluate.tables.pairs import Pair, compare_pairs
from nacre.evaluate.tables.rows import Rows
from nacre.publish.page.figures import draw_roc
from nacre.publish.public import PublicReport
from nacre.publish.scores import PaidScore, majority
from nacre.report.builder import Cell, DataTable, right
from nacre.report.builder.text import number
from nacre.schema.written import value_names

PAIR_ROWS = 20_000
STRONGEST = 12


def prediction(report: PublicReport) -> Context | None:
    """What a classifier trained on synthetic rows does on private ones."""
    if not report.scores or report.outcomes is None or report.predictor is None:
        return None
    words = (
        f"A logistic regression of {report.schema.label}, trained on synthetic rows only and "
        "measured, with noise, on the rows behind the model. New rows would be a little less kind, "
        "but only a little, as a private model can hardly know any one of its rows. ± is what the "
        "noise leaves open, with 95% confidence."
    )
    head = [Cell("Measure"), right("private rows"), right("synthetic rows")]
    rows = [_line(score) for score in report.scores]
    guess = majority(report.outcomes), majority(report.predictor.synthetic)
    always = Cell("Always guessing the most frequent", small="Accuracy without any model.")
    rows.append([always, *(Cell(number(value), "n muted") for value in guess)])
    context: Context = {"words": words, "table": DataTable(head, rows), "curve": None}
    positive = report.predictor.positive
    if positive is not None and report.scores[0].value is not None:
        name = value_names(report.schema, report.schema.label or "")[positive]
        context["finding"] = f"{report.schema.label} = {name}"
        context["curve"] = drawn(draw_roc(report), "ROC curve on private and on synthetic rows")
    return context


def _line(score: PaidScore) -> list[Cell]:
    error = "" if score.error is None else f"± {score.error:.1g}"
    return [
        Cell(score.name, small=score.meaning),
        right(number(score.value), error),
        right(number(score.synthetic)),
    ]


def links(report: PublicReport) -> Context | None:
    """How strongly the synthetic table's columns go together."""
    rows = report.table.rows
    if len(rows.names) < 2 or len(rows) < 3:
        return None
    names = list(rows.names)
    if len(names) > MOST_COLUMNS:
        label = [name for name in names if name == report.schema.label]
        names = [n for n in names if n not in label][: MOST_COLUMNS - len(label)] + label
    some = _columns(rows.sample(PAIR_ROWS, np.random.default_rng(0)), names)
    matrix = compare_pairs(some, some).synthetic
    strongest = [
        [Cell(str(Pair(names[i], names[j]))), right(number(matrix[i, j], 2))]
        for i, j in _strongest(matrix)
    ]
    few = len(names) < len(rows.names)
    return {
        "some": f", {len(names)} of {len(rows.names)} columns" if few else "",
        "drawing": drawn(
            draw_matrix(matrix, names, "synthetic"), "Associations of the synthetic table"
        ),
        "strongest": DataTable([Cell("Strongest links"), right("strength")], strongest),
    }


def _strongest(matrix: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of columns that go together most."""
    first, second = np.triu_indices(len(matrix), 1)
    order = np.argsort(-np.abs(matrix[first, second]), kind="stable")[:STRONGEST]
    return [(int(first[k]), int(second[k])) for k in order]


def _columns(rows: Rows, names: list[str]) -> Rows:
    """Some columns of a table."""
    schema = rows.schema.select(names)
    numbers = {number.name: place for place, number in enumerate(rows.schema.layout.numbers)}
    codes = {(c.name, c.role): place for place, c in enumerate(rows.schema.layout.codes)}
    return Rows(
        schema,
        tuple(rows.ticks[numbers[n.name]] for n in schema.layout.numbers),
        tuple(rows.codes[codes[c.name, c.role]] for c in schema.layout.codes),
    )
