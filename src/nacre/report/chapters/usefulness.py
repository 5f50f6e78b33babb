"""The chapter of models trained on synthetic rows and tested on real ones."""

from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.find import AVOID_AUC, CARE_AUC
from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.scores.score import Score
from nacre.report.chapters.common import data_table, grid, key, lede, level, shades
from nacre.report.figures.canvas import plate
from nacre.report.figures.models import draw_curves
from nacre.report.markup import Markup, join, number, tag


def usefulness(evaluation: Evaluation) -> Markup:
    """Curves of the best model, then a table by model for each measure."""
    metrics = [m for m in evaluation.metrics if m.group == "usefulness"]
    if not metrics or evaluation.label is None:
        return Markup("")
    first = next(iter(evaluation.comparisons.values()))
    parts: list[Any] = [
        lede(
            f"Models that predict {evaluation.label}, trained on synthetic rows and tested on "
            f"{len(first.test):,} real rows kept for this, beside the same models trained on real "
            "rows."
        )
    ]
    ranked = evaluation.parts("auc", evaluation.tables[0])
    if ranked and first.classes == 2:
        best = max(ranked, key=lambda score: score.reference or 0).part
        titles = ("ROC curve", "Precision and recall")
        figures = [
            plate(figure, join(tag("b", title), f" {best}"), f"{title} of {best}")
            for figure, title in zip(draw_curves(evaluation.comparisons, best), titles, strict=True)
        ]
        parts += [key(evaluation, "trained on real rows"), grid(figures, "two")]
    tables = [table for metric in metrics if (table := _by_model(evaluation, metric))]
    wide = "one" if len(evaluation.tables) > 3 else "fill"
    gaps = [
        score.reference - score.value
        for score in evaluation.results
        if score.reference is not None and score.metric in {m.name for m in metrics}
    ]
    return join(
        *parts,
        shades(gaps, "more than # below the model trained on real rows", AVOID_AUC, CARE_AUC),
        grid(tables, f"{wide} tables"),
    )


def _by_model(evaluation: Evaluation, metric: Metric) -> Markup:
    models: dict[str, dict[str, Score]] = {}
    for score in evaluation.results:
        if score.metric == metric.name:
            models.setdefault(score.part, {})[score.table] = score
    named = [model for model in models if model]
    if not named:
        return Markup("")
    rows = [_row(evaluation, model, models[model]) for model in named]
    rows.append(_row(evaluation, f"mean of {len(named)}", models.get("", {})))
    head = [metric.title, *((table, "n") for table in evaluation.tables), ("real", "n")]
    return data_table(head, rows)


def _row(evaluation: Evaluation, name: str, scores: dict[str, Score]) -> list[Any]:
    real = next((s.reference for s in scores.values()), None)
    cells: list[Any] = [name]
    for table in evaluation.tables:
        score = scores.get(table)
        gap = 0.0 if score is None or real is None else real - score.value
        kind = level(gap, AVOID_AUC, CARE_AUC)
        cells.append((number(None if score is None else score.value), f"n {kind or ''}".strip()))
    return [*cells, (number(real), "n")]
