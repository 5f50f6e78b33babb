"""The chapter of the table as a whole."""

from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.metrics.dimension_probability import probabilities
from nacre.report.chapters.common import grid, key, lede
from nacre.report.figures.canvas import plate
from nacre.report.figures.structure import draw_diagonal, draw_planes
from nacre.report.markup import Markup, join, tag


def structure(evaluation: Evaluation) -> Markup:
    """The main plane, and each dimension against its real self."""
    figures = [*_planes(evaluation), *_diagonals(evaluation)]
    if not figures:
        return Markup("")
    words = (
        "Does the table look right as a whole? The clouds are rows on the real table’s two main "
        "directions. In the other figures, points on the line are right."
    )
    return join(lede(words), key(evaluation), grid(figures, "two"))


def _planes(evaluation: Evaluation) -> list[Markup]:
    first = next(iter(evaluation.comparisons.values()))
    if len(first.real) < 3:
        return []
    clouds, explained = draw_planes(evaluation.comparisons)
    figures = []
    for name, figure in clouds.items():
        said = f" these directions hold {explained:.0%} of the variance" if name == "real" else ""
        figures.append(plate(figure, join(tag("b", name), said), f"Principal plane, {name}"))
    return figures


def _diagonals(evaluation: Evaluation) -> list[Markup]:
    figures = []
    points: dict[str, Any] = {t: list(probabilities(c)) for t, c in evaluation.comparisons.items()}
    if any(points.values()):
        axes = ("share in the real table", "share in the synthetic table")
        figures.append(
            plate(
                draw_diagonal(points, axes, roots=True),
                join(tag("b", "Each value of each category"), " square-root scales"),
                "Dimension-wise probability",
            )
        )
    points = {
        table: [
            (score.part, score.reference, score.value)
            for score in evaluation.parts("dimension-prediction", table)
            if score.reference is not None
        ]
        for table in evaluation.tables
    }
    if any(points.values()):
        axes = ("trained on real rows", "trained on synthetic rows")
        figures.append(
            plate(
                draw_diagonal(points, axes, names=True),
                join(tag("b", "Each column predicted from the others"), " AUC, F1 or R², by type"),
                "Dimension-wise prediction",
            )
        )
    return figures
