"""A small form of the report for notebooks."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.scores.score import CONFIDENTIAL
from nacre.report.builder import fill
from nacre.report.builder.text import number


def render_card(evaluation: Evaluation | ImageEvaluation) -> str:
    """The findings and the overall scores."""
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        known = [score for score in scores if score is not None]
        if known:
            values = [None if score is None else score.value for score in scores]
            numbers = [number(value) for value in (*values, known[0].reference)]
            title = {"text": metric.title, "title": metric.meaning}
            rows.append([title, *({"text": t, "title": None} for t in (*numbers, metric.goal))])
    return fill(
        "card.html",
        banner=CONFIDENTIAL,
        silent=evaluation.silent,
        tables=[{"name": name, "findings": f} for name, f in evaluation.findings.items()],
        guarantee="",
        head=["", *evaluation.tables, "real data", "better"],
        rows=rows,
    )
