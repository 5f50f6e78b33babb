"""The chapter of pairs of columns."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import RASTER, drawn
from nacre.evaluate.report.figures.pairs import MOST_COLUMNS, draw_matrix, draw_pair, shown_columns
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.pairs import Pair

WORST_PAIRS = 6


def pairs(evaluation: Evaluation) -> Context | None:
    """Matrices of association, their difference, and the worst pairs."""
    measured = any(metric.group == "pairs" for metric in evaluation.metrics)
    if len(evaluation.schema.names) < 2 or not measured:
        return None
    return {
        "several": len(evaluation.tables) > 1,
        "tables": [
            {
                "name": table,
                "matrices": _matrices(table, comparison),
                "some": _some(comparison),
                "worst": _worst(evaluation, table),
            }
            for table, comparison in evaluation.comparisons.items()
        ],
    }


def _some(comparison: TableComparison) -> str:
    few = len(shown_columns(comparison)) < len(comparison.pairs.names)
    return f", the {MOST_COLUMNS} columns that change most" if few else ""


def _matrices(table: str, comparison: TableComparison) -> list[Context]:
    """The association in the real table, in this one, and what is between them."""
    found, shown = comparison.pairs, shown_columns(comparison)
    names = [found.names[i] for i in shown]
    real, synthetic = (matrix[shown][:, shown] for matrix in (found.real, found.synthetic))
    usual = {"low": "−1", "high": "1", "colors": (RASTER["minus"], RASTER["plus"])}
    difference = {"low": "weaker", "high": "stronger", "colors": (RASTER["less"], RASTER["more"])}
    return [
        {
            "title": kind.capitalize(),
            "drawing": drawn(draw_matrix(values, names, kind), f"Associations of {table}, {kind}"),
            **scale,
        }
        for values, kind, scale in (
            (real, "real", usual),
            (synthetic, "synthetic", usual),
            (abs(synthetic) - abs(real), "difference", difference),
        )
    ]


def _worst(evaluation: Evaluation, table: str) -> list[Context]:
    """The pairs that are farthest off."""
    comparison = evaluation.comparisons[table]
    found = comparison.pairs
    counts, links = (
        [score.part for score in evaluation.parts(metric, table) if isinstance(score.part, Pair)]
        for metric in ("tv2", "association")
    )
    # First the one that is named at the top of the page: the link that changes most.
    chosen = list(dict.fromkeys([*links[:1], *counts]))[:WORST_PAIRS]
    return [
        {
            "name": str(pair),
            "misplaced": f"{found.total_variation[found.place(pair)]:.1%}",
            "drawing": drawn(
                draw_pair(comparison, *found.place(pair)), f"Cross-table of {pair} in {table}"
            ),
        }
        for pair in chosen
    ]
