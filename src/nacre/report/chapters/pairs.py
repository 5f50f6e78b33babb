"""The chapter of pairs of columns."""

from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.tables.comparison import Comparison
from nacre.report.chapters.common import grid, lede
from nacre.report.figures.canvas import RASTER, plate
from nacre.report.figures.pairs import MOST_COLUMNS, draw_matrix, draw_pair, shown_columns
from nacre.report.markup import Markup, join, tag

WORST_PAIRS = 6


def pairs(evaluation: Evaluation) -> Markup:
    """Matrices of association, their difference, and the worst pairs."""
    if len(evaluation.schema.names) < 2 or not _measured(evaluation):
        return Markup("")
    parts: list[Any] = [
        lede(
            "How strongly any two columns go together: correlation of two numbers, Cramér’s V if "
            "either is a category. The difference shows which links are weaker or stronger in the "
            "synthetic table than they should be."
        )
    ]
    for table, comparison in evaluation.comparisons.items():
        if len(evaluation.tables) > 1:
            parts.append(tag("h3", table))
        parts.append(_matrices(table, comparison))
        found = comparison.pairs
        places = {f"{found.names[i]} × {found.names[j]}": (i, j) for i, j in found.list()}
        worst = evaluation.parts("tv2", table)[:WORST_PAIRS]
        if worst:
            parts.append(tag("h3", "The pairs that are farthest off, cell by cell"))
            parts.append(
                tag(
                    "p",
                    "The stronger a cell’s color, the more rows (square-root scale).",
                    class_="shades",
                )
            )
            parts.append(
                grid(
                    plate(
                        draw_pair(comparison, *places[score.part]),
                        join(tag("b", score.part), f" {score.value:.1%} misplaced"),
                        f"Cross-table of {score.part} in {table}",
                    )
                    for score in worst
                )
            )
    return join(*parts)


def _measured(evaluation: Evaluation) -> bool:
    return any(metric.group == "pairs" for metric in evaluation.metrics)


def _scale(low: str, first: str, last: str, high: str) -> Markup:
    """What the colors of a matrix mean: a band from one to the other."""
    band = f"linear-gradient(90deg, {RASTER[first]}, transparent, {RASTER[last]})"
    return tag("span", low, tag("i", style=f"background: {band}"), high, class_="scale")


def _matrices(table: str, comparison: Comparison) -> Markup:
    found, shown = comparison.pairs, shown_columns(comparison)
    names = [found.names[i] for i in shown]
    real, synthetic = (matrix[shown][:, shown] for matrix in (found.real, found.synthetic))
    some = f", the {MOST_COLUMNS} columns farthest off" if len(shown) < len(found.names) else ""
    matrices = (
        (real, "Real", "real"),
        (synthetic, "Synthetic", "synthetic"),
        (abs(synthetic) - abs(real), "Difference", "difference"),
    )
    scales = {"difference": _scale("weaker", "less", "more", "stronger")}
    usual = _scale("−1", "minus", "plus", "1")
    return grid(
        (
            plate(
                draw_matrix(values, names, kind),
                join(tag("b", title), some, scales.get(kind, usual)),
                f"Associations of {table}, {kind}",
            )
            for values, title, kind in matrices
        ),
        "three trio",
    )
