"""The chapter of the table as a whole."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.metrics.dimension_probability import probabilities
from nacre.report.chapters.common import grid, key, lede
from nacre.report.figures.canvas import plate
from nacre.report.figures.structure import LARGE, SMALL, draw_diagonal, draw_planes
from nacre.report.markup import Markup, join, tag


def structure(evaluation: Evaluation) -> Markup:
    """The main plane, and each dimension against its real self."""
    first = next(iter(evaluation.comparisons.values()))
    probable = {t: list(probabilities(c)) for t, c in evaluation.comparisons.items()}
    predicted = {table: _predicted(evaluation, table) for table in evaluation.tables}
    planes = len(evaluation.tables) + 1 if len(first.real) >= 3 else 0
    count = planes + any(probable.values()) + any(predicted.values())
    if not count:
        return Markup("")
    # As many side by side as leave no gap.
    wide, size = ("two", LARGE) if count in (2, 4) else ("fill", SMALL)
    figures = _planes(evaluation, size) if planes else []
    if any(probable.values()):
        axes = ("share in the real table", "share in the synthetic table")
        figures.append(
            plate(
                draw_diagonal(probable, axes, size=size, roots=True),
                join(tag("b", "Each value of each category"), " square-root scales"),
                "Dimension-wise probability",
            )
        )
    if any(predicted.values()):
        axes = ("trained on real rows", "trained on synthetic rows")
        figures.append(
            plate(
                draw_diagonal(predicted, axes, size=size, names=True),
                join(tag("b", "Each column predicted from the others"), " AUC, F1 or R², by type"),
                "Dimension-wise prediction",
            )
        )
    words = (
        "Does the table look right as a whole? The clouds are rows on the real table’s two main "
        "directions. In the other figures, points on the line are right."
    )
    return join(lede(words), key(evaluation), grid(figures, wide))


def _planes(evaluation: Evaluation, size: tuple[float, float]) -> list[Markup]:
    clouds, explained = draw_planes(evaluation.comparisons, size)
    figures = []
    for name, figure in clouds.items():
        said = f" these directions hold {explained:.0%} of the variance" if name == "real" else ""
        figures.append(plate(figure, join(tag("b", name), said), f"Principal plane, {name}"))
    return figures


def _predicted(evaluation: Evaluation, table: str) -> list[tuple[str, float, float]]:
    """How well each column follows from the others, by models of real and of synthetic rows."""
    return [
        (score.part, score.reference, score.value)
        for score in evaluation.parts("dimension-prediction", table)
        if score.reference is not None
    ]
