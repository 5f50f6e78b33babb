"""A classifier trained on synthetic rows only, in whole numbers so that the vault can run it."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.marginals import cell_places
from nacre.evaluate.tables.extras import require
from nacre.evaluate.tables.rows import Rows
from nacre.histograms.cells import Column, table_columns
from nacre.rows import Row, TableEncoder

CELLS = 24  # of a number
STEPS = 20  # in which the score of a label with two values is counted
ROWS = 30_000
WORK = 4_000_000  # rows times columns times classes; wide tables are learned from fewer rows
HELD = 0.2  # of the synthetic rows, to test on
ONE = 1 << 12  # what a coefficient of one is in whole numbers
BLOCK = 4096

Index = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class Predictor:
    """Logistic regression on the cells of the columns, its coefficients rounded to integers.

    Attributes:
        columns: all but the label.
        label: its place among the codes.
        positive: of two classes, the one that high scores mean; None if there are more.
        table: (cells, outputs) coefficients; one output for two classes, else one for each.
        start: (outputs,) intercepts.
        edges: where one step of the score ends and the next begins, 0 among them.
        synthetic: (classes, steps) how held-out synthetic rows are counted; steps are those of the
            score, or the predicted classes.
    """

    columns: tuple[Column, ...]
    label: int
    classes: int
    positive: int | None
    table: NDArray[np.int32]
    start: NDArray[np.int32]
    edges: NDArray[np.int32]
    synthetic: NDArray[np.float64]

    @property
    def steps(self) -> int:
        """How many outcomes are told apart."""
        return self.synthetic.shape[1]

    @property
    def cut(self) -> int:
        """The first step at which the positive class is predicted."""
        return int(np.searchsorted(self.edges, 0)) + 1

    def outcome(self, layout: Any) -> Callable[[Row], Any]:
        """A function of one row: its class and its step as one number, in integers throughout."""
        import jax.numpy as jnp

        places = cell_places(layout, self.columns)
        table, start, edges = (jnp.asarray(a) for a in (self.table, self.start, self.edges))

        def one_row(row: Row) -> Any:
            score = table[places(row)].sum(0, dtype=jnp.int32) + start
            step = (score[0] >= edges).sum(dtype=jnp.int32) if self.classes == 2 else None
            step = jnp.argmax(score).astype(jnp.int32) if step is None else step
            given = jnp.clip(row.codes[self.label], 0, self.classes - 1)
            return given * self.steps + step

        return one_row


def train(rows: Rows) -> Predictor | None:
    """Learn the label of the synthetic rows; None if there is none, or only one value of it.

    It learns from rows, and is tested by what rows count for, as on the private ones.
    """
    encoder = TableEncoder(rows.schema)
    layout, label = encoder.layout, encoder.place(encoder.label)
    if label is None:
        return None
    classes = int(layout.sizes[label])
    columns = table_columns(layout, label, CELLS)
    most = max(WORK // (len(columns) * classes), ROWS // 10)
    rows = rows.sample(min(ROWS, most), np.random.default_rng(0))
    truth = rows.codes[label].astype(np.int64)
    kept = int(len(rows) * (1 - HELD))
    if classes < 2 or len(np.unique(truth[:kept])) < 2 or kept == len(rows):
        return None
    table_rows = _grid(rows)
    cells = _mapped(cell_places(layout, columns), table_rows)
    coefficients, intercepts = _fit(cells[:kept], truth[:kept], classes, columns)
    positive = None
    if classes == 2:
        positive = int(np.argmin(np.bincount(truth, minlength=2)[::-1]) ^ 1)
        if positive == 0:
            coefficients, intercepts = -coefficients, -intercepts
    limit = 2**30 // (len(columns) + 1)
    table = np.clip(np.rint(coefficients * ONE), -limit, limit).astype(np.int32)
    start = np.clip(np.rint(intercepts * ONE), -limit, limit).astype(np.int32)
    edges, steps = np.zeros(0, np.int32), classes
    if classes == 2:
        score = table[cells[:kept], 0].sum(1) + start[0]
        quantiles = np.quantile(score, np.arange(1, STEPS) / STEPS)
        edges = np.unique(np.append(np.ceil(quantiles), 0)).astype(np.int32)
        steps = len(edges) + 1
    empty = np.zeros((classes, steps))
    found = Predictor(columns, label, classes, positive, table, start, edges, empty)
    held = Row(*(part[kept:] for part in table_rows))
    outcome = _mapped(found.outcome(layout), held)
    weights = None if rows.weights is None else rows.weights[kept:]
    counts = np.bincount(outcome, weights, empty.size).reshape(empty.shape)
    return dataclasses.replace(found, synthetic=counts.astype(np.float64))


def _fit(
    cells: Index, truth: Index, classes: int, columns: tuple[Column, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients (cells, outputs) and intercepts; a class that never occurs is never chosen."""
    linear, sparse = require("sklearn.linear_model"), require("scipy.sparse")
    width = int(sum(column.size for column in columns))
    ones = np.ones(cells.size, np.float32)
    ends = np.arange(0, cells.size + 1, cells.shape[1])
    hot = sparse.csr_matrix((ones, cells.reshape(-1), ends), shape=(len(cells), width))
    with warnings.catch_warnings():
        # One that was stopped early is a classifier too, and is measured as what it is.
        warnings.simplefilter("ignore", require("sklearn.exceptions").ConvergenceWarning)
        fitted = linear.LogisticRegression(C=1.0, max_iter=200).fit(hot, truth)
    if classes == 2:
        return fitted.coef_.T.astype(np.float64), fitted.intercept_.astype(np.float64)
    table, start = np.zeros((width, classes)), np.full(classes, -1e6)
    if len(fitted.classes_) == 2:
        # Two of several classes: one difference of scores, put on the second.
        table[:, fitted.classes_[1]] = fitted.coef_[0]
        start[fitted.classes_] = (0.0, float(fitted.intercept_[0]))
    else:
        table[:, fitted.classes_] = fitted.coef_.T
        start[fitted.classes_] = fitted.intercept_
    return table, start


def _grid(rows: Rows) -> Row:
    """The rows as the vault shows them to a function of one row."""
    shifted = [
        (ticks >> number.shift).astype(np.int32)
        for ticks, number in zip(rows.ticks, rows.schema.layout.numbers, strict=True)
    ]
    nothing = np.zeros((len(rows), 0), np.int32)
    return Row(
        np.stack(shifted, axis=1) if shifted else nothing,
        np.stack([codes.astype(np.int32) for codes in rows.codes], axis=1),
    )


def _mapped(one_row: Callable[[Row], Any], rows: Row) -> Index:
    """A function of one row applied to many: the very code that the vault will run."""
    import jax

    every, found = jax.jit(jax.vmap(one_row)), []
    for begin in range(0, len(rows.codes), BLOCK):
        part = Row(*(values[begin : begin + BLOCK] for values in rows))
        found.append(np.asarray(every(part), np.int64))
    return np.concatenate(found)
