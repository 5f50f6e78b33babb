"""The chapter of models trained on synthetic rows and tested on real ones."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.models import AVOID_AUC, CARE_AUC
from nacre.evaluate.report.chapters.common import Context, level, shades
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.models import draw_curves
from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.scores.score import Score
from nacre.report.builder import Cell, DataTable, right, series_of
from nacre.report.builder.text import number

LIMITS = AVOID_AUC, CARE_AUC


def usefulness(evaluation: Evaluation) -> Context | None:
    """Curves of the best model, then a table by model for each measure."""
    metrics = [m for m in evaluation.metrics if m.group == "usefulness"]
    if not metrics or evaluation.label is None:
        return None
    first = next(iter(evaluation.comparisons.values()))
    words = (
        f"Models that predict {evaluation.label}, trained on synthetic rows and tested on "
        f"{len(first.test):,} real rows kept for this, beside the same models trained on real rows."
    )
    names = {metric.name for metric in metrics}
    gaps = [
        score.reference - score.value
        for score in evaluation.results
        if score.reference is not None and score.metric in names
    ]
    best = _best(evaluation) if first.classes == 2 else ""
    tables = [_by_model(evaluation, metric) for metric in metrics]
    return {
        "words": words,
        "tables": series_of(evaluation.tables).values(),
        "best": best,
        "curves": _curves(evaluation, best) if best else [],
        "shades": shades(gaps, "more than {} below the model trained on real rows", LIMITS),
        "width": "one" if len(evaluation.tables) > 3 else "fill",
        "scores": [table for table in tables if table is not None],
    }


def _best(evaluation: Evaluation) -> str:
    """The model that does best when trained on real rows."""
    ranked = evaluation.parts("auc", evaluation.tables[0])
    return str(max(ranked, key=lambda score: score.reference or 0).part) if ranked else ""


def _curves(evaluation: Evaluation, best: str) -> list[Context]:
    titles = ("ROC curve", "Precision and recall")
    figures = draw_curves(evaluation.comparisons, best)
    return [
        {"title": title, "drawing": drawn(figure, f"{title} of {best}")}
        for figure, title in zip(figures, titles, strict=True)
    ]


def _by_model(evaluation: Evaluation, metric: Metric) -> DataTable | None:
    models: dict[str, dict[str, Score]] = {}
    for score in evaluation.results:
        if score.metric == metric.name:
            models.setdefault(str(score.part), {})[score.table] = score
    named = [model for model in models if model]
    if not named:
        return None
    rows = [_row(evaluation, model, models[model]) for model in named]
    rows.append(_row(evaluation, f"mean of {len(named)}", models.get("", {})))
    head = [Cell(metric.title), *(right(table) for table in (*evaluation.tables, "real"))]
    return DataTable(head, rows)


def _row(evaluation: Evaluation, name: str, scores: dict[str, Score]) -> list[Cell]:
    real = next((s.reference for s in scores.values()), None)
    cells = [Cell(name)]
    for table in evaluation.tables:
        score = scores.get(table)
        gap = 0.0 if score is None or real is None else real - score.value
        kind = f"n {level(gap, *LIMITS) or ''}".strip()
        cells.append(Cell(number(None if score is None else score.value), kind))
    return [*cells, right(number(real))]
