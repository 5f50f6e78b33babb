"""The chapters about prediction, and about how the synthetic table's columns go together."""

from typing import Any

import numpy as np

from nacre.evaluate.tables.names import value_names
from nacre.evaluate.tables.pairs import compare_pairs
from nacre.evaluate.tables.rows import Rows
from nacre.publish.public import PublicReport
from nacre.publish.scores import PaidScore, majority
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.figures.canvas import plate
from nacre.report.figures.pairs import MOST_COLUMNS, draw_matrix
from nacre.report.markup import Markup, join, number, tag
from nacre.report.public.figures import draw_roc

PAIR_ROWS = 20_000
STRONGEST = 12


def prediction(report: PublicReport) -> Markup:
    """What a classifier trained on synthetic rows does on private ones."""
    if not report.scores or report.outcomes is None or report.predictor is None:
        return Markup("")
    words = (
        f"A logistic regression of {report.schema.label}, trained on synthetic rows only and "
        "measured, with noise, on the rows behind the model. New rows would be a little less kind, "
        "but only a little, as a private model can hardly know any one of its rows. ± is what the "
        "noise leaves open, with 95% confidence."
    )
    head = ["Measure", ("private rows", "n"), ("synthetic rows", "n")]
    rows = [_line(score) for score in report.scores]
    guess = majority(report.outcomes), majority(report.predictor.synthetic)
    always = join("Always guessing the most frequent", tag("small", "Accuracy without any model."))
    rows.append([always, *((number(value), "n muted") for value in guess)])
    table = data_table(head, rows)
    if report.predictor.classes != 2 or report.scores[0].value is None:
        return join(lede(words), table)
    name = value_names(report.schema, report.schema.label or "")[report.predictor.positive]
    figure = plate(
        draw_roc(report),
        join(tag("b", "ROC curve"), f" finding {report.schema.label} = {name}"),
        "ROC curve on private and on synthetic rows",
    )
    key = tag(
        "p",
        tag("span", "private rows, with noise", class_="area", style="--color: var(--real)"),
        tag("span", "synthetic rows", class_="dot", style="--color: var(--series-1)"),
        class_="key",
    )
    return join(lede(words), key, grid([figure, table], "two"))


def _line(score: PaidScore) -> list[Any]:
    value: Any = number(score.value)
    if score.error is not None:
        value = join(value, tag("small", f"± {score.error:.1g}"))
    return [
        join(score.name, tag("small", score.meaning)),
        (value, "n"),
        (number(score.synthetic), "n"),
    ]


def links(report: PublicReport) -> Markup:
    """How strongly the synthetic table's columns go together."""
    rows = report.table.rows
    if len(rows.names) < 2 or len(rows) < 3:
        return Markup("")
    names = list(rows.names)
    if len(names) > MOST_COLUMNS:
        label = [name for name in names if name == report.schema.label]
        names = [n for n in names if n not in label][: MOST_COLUMNS - len(label)] + label
    some = _columns(rows.sample(PAIR_ROWS, np.random.default_rng(0)), names)
    matrix = compare_pairs(some, some).synthetic
    shown = f", {len(names)} of {len(rows.names)} columns" if len(names) < len(rows.names) else ""
    figure = plate(
        draw_matrix(matrix, names, "synthetic"),
        join(tag("b", "Synthetic"), shown),
        "Associations of the synthetic table",
    )
    strongest = data_table(
        ["Strongest links", ("strength", "n")],
        [
            [f"{names[i]} × {names[j]}", (number(matrix[i, j], 2), "n")]
            for i, j in _strongest(matrix)
        ],
    )
    return join(
        lede(
            "How strongly any two columns of the synthetic table go together: correlation of two "
            "numbers (teal if positive, plum if negative), Cramér’s V if either is a category. "
            "Nothing here was compared with the private table."
        ),
        grid([figure, strongest], "two"),
    )


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
