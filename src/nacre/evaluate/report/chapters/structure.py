"""The chapter of the table as a whole."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.metrics.dimension_probability import probabilities
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.structure import LARGE, SMALL, draw_diagonal, draw_planes
from nacre.report.builder import series_of

PREDICTIONS = {
    "dimension-prediction": "AUC, F1 or R², by type",
    "dimension-prediction-published": "with DP-auto-GAN’s models",
}


def structure(evaluation: Evaluation) -> Context | None:
    """The main plane, and each dimension against its real self."""
    first = next(iter(evaluation.comparisons.values()))
    probable = {t: list(probabilities(c)) for t, c in evaluation.comparisons.items()}
    predicted = {
        words: {table: _predicted(evaluation, table, metric) for table in evaluation.tables}
        for metric, words in PREDICTIONS.items()
    }
    predicted = {words: points for words, points in predicted.items() if any(points.values())}
    planes = len(evaluation.tables) + 1 if len(first.real) >= 3 else 0
    count = planes + any(probable.values()) + len(predicted)
    if not count:
        return None
    # As many side by side as leave no gap.
    width, size = ("two", LARGE) if count in (2, 4) else ("fill", SMALL)
    figures = _planes(evaluation, size) if planes else []
    if any(probable.values()):
        axes = ("share in the real table", "share in the synthetic table")
        figure = draw_diagonal(probable, axes, size=size, roots=True)
        figures.append(
            {
                "title": "Each value of each category",
                "words": "square-root scales",
                "drawing": drawn(figure, "Dimension-wise probability"),
            }
        )
    for words, points in predicted.items():
        axes = ("trained on real rows", "trained on synthetic rows")
        figure = draw_diagonal(points, axes, size=size, names=True)
        figures.append(
            {
                "title": "Each column predicted from the others",
                "words": words,
                "drawing": drawn(figure, f"Dimension-wise prediction, {words}"),
            }
        )
    tables = series_of(evaluation.tables).values()
    return {"tables": tables, "width": width, "figures": figures}


def _planes(evaluation: Evaluation, size: tuple[float, float]) -> list[Context]:
    clouds, explained = draw_planes(evaluation.comparisons, size)
    real = f"these directions hold {explained:.0%} of the variance"
    return [
        {
            "title": name,
            "words": real if name == "real" else "",
            "drawing": drawn(figure, f"Principal plane, {name}"),
        }
        for name, figure in clouds.items()
    ]


def _predicted(evaluation: Evaluation, table: str, metric: str) -> list[tuple[str, float, float]]:
    """How well each column follows from the others, by models of real and of synthetic rows."""
    return [
        (str(score.part), score.reference, score.value)
        for score in evaluation.parts(metric, table)
        if score.reference is not None
    ]
