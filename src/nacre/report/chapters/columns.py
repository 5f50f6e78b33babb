"""The chapter of single columns."""

from typing import Any

from nacre.evaluate.evaluation import Evaluation, Score
from nacre.report.chapters.common import grid, key, lede, level, of_table, shades
from nacre.report.figures.canvas import plate
from nacre.report.figures.columns import draw_column, missing_shares
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
            _caption(evaluation, name, scores[name]),
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
    gaps = [_gap(score) for found in scores.values() for score in found]
    return join(
        lede(words + more),
        shades(gaps, "more than % of the rows beyond what fresh real rows would show"),
        key(evaluation),
        grid(figures),
    )


def _caption(evaluation: Evaluation, name: str, scores: list[Score]) -> Markup:
    """The column's name, how far off each table is, and how many values are missing."""
    parts: list[Any] = [tag("b", name)]
    for score in scores:
        text = tag("span", f"{score.value:.1%}", class_=level(_gap(score)))
        parts += [" ", of_table(evaluation, score.table, text)]
    missing = missing_shares(name, evaluation.comparisons)
    if missing:
        names = (None, *evaluation.tables)
        shares = (
            of_table(evaluation, table, f"{share:.1%}", mark=True)
            for table, share in zip(names, missing, strict=True)
        )
        parts.append(
            tag("span", "missing ", *(join(" ", share) for share in shares), class_="gaps")
        )
    return join(*parts)


def _gap(score: Score) -> float:
    """How much worse than fresh real rows."""
    return score.value - (score.reference or 0)
