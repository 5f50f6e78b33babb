"""The chapter of single columns."""

from nacre.evaluate.evaluation import Evaluation, Score
from nacre.report.chapters.common import grid, key, lede, level
from nacre.report.figures.canvas import plate
from nacre.report.figures.columns import draw_column
from nacre.report.markup import Markup, join, tag

MOST_FIGURES = 60


def columns(evaluation: Evaluation) -> Markup:
    """Every column, the worst first."""
    scores: dict[str, list[Score]] = {name: [] for name in evaluation.schema.names}
    for score in evaluation.results:
        if score.metric == "tv1" and score.part:
            scores[score.part].append(score)
    names = sorted(scores, key=lambda name: -max((s.value for s in scores[name]), default=0))
    figures = [
        plate(
            draw_column(name, evaluation.comparisons),
            join(tag("b", name), *(_share(score) for score in scores[name])),
            f"Column {name}, real and synthetic",
        )
        for name in names[:MOST_FIGURES]
    ]
    rest = len(names) - len(figures)
    words = (
        "The percentage is the share of rows that would have to change for the column to be right. "
        "Worst first."
    )
    more = f" The {rest} best columns are not drawn." if rest else ""
    return join(lede(words + more), key(evaluation), grid(figures))


def _share(score: Score) -> Markup:
    return tag("span", f" {score.value:.1%}", class_=level(score.value - (score.reference or 0)))
