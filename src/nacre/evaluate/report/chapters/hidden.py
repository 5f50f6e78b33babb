"""The chapter of hidden columns: marginals that should not be the real ones (α-LMDP)."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.lmdp.report import NO_DP
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.columns import draw_column
from nacre.report.builder import Cell, DataTable, right, series_of
from nacre.report.builder.text import number

MOST_FIGURES = 12
WORDS = (
    "How these columns are distributed is itself a secret: a synthetic table should not show it. A "
    "test compares the real rows with the synthetic ones. Only if it tells them apart, at level α, "
    "is the secret called hidden (α-LMDP): here a small p is the wanted one. A test of the model's "
    "own density stands beside it and decides nothing: a density can be far from the data while "
    "the samples are not."
)
HIDDEN = "The test tells all of these columns from the real ones, so α-LMDP is satisfied."
SHOWN = (
    "Where α-LMDP is not satisfied, the test finds no difference: treat the distribution of those "
    "columns in the synthetic table as the real one."
)


def hidden(evaluation: Evaluation) -> Context:
    """The tests that were asked for, and the columns real against synthetic."""
    tests = [test for report in evaluation.lmdp.values() for test in report.tests]
    names = list(dict.fromkeys(name for test in tests for name in test.columns))
    rest = len(names[MOST_FIGURES:])
    return {
        "words": WORDS + (f" {rest:,} more columns are not drawn." if rest else ""),
        "tests": _tests(evaluation),
        "verdict": HIDDEN if all(test.lmdp_satisfied for test in tests) else SHOWN,
        "tables": series_of(evaluation.tables).values(),
        "columns": [
            {
                "name": name,
                "drawing": drawn(
                    draw_column(name, evaluation.comparisons),
                    f"Hidden column {name}, real and synthetic",
                ),
            }
            for name in names[:MOST_FIGURES]
        ],
        "no_dp": NO_DP,
    }


def _tests(evaluation: Evaluation) -> DataTable:
    rows = [
        [
            Cell(table),
            Cell(", ".join(test.columns)),
            right(f"{test.alpha:g}"),
            right(number(test.mmd_p)),
            right(number(None if test.density is None else test.density.stein_p)),
            Cell("satisfied" if test.lmdp_satisfied else "not satisfied"),
        ]
        for table, report in evaluation.lmdp.items()
        for test in report.tests
    ]
    numbers = (right(name) for name in ("α", "p, MMD of samples", "p, Stein of the density"))
    return DataTable([Cell("Table"), Cell("Columns"), *numbers, Cell("α-LMDP")], rows)
