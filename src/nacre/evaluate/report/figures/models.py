"""Figures of usefulness: ROC and precision-recall curves, and distances to the closest record."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.metrics.closest_record import ROWS, nearest
from nacre.evaluate.report.figures.canvas import LINE, REAL, new_figure, series
from nacre.evaluate.tables.classifiers import Prediction
from nacre.evaluate.tables.comparison import DISTANCE_ROWS, TableComparison
from nacre.evaluate.tables.extras import require
from nacre.report.figures.axes import share_axis

POINTS = 200


def draw_curves(comparisons: Mapping[str, TableComparison], model: str) -> tuple[Any, Any]:
    """ROC and precision-recall curves of one model, trained on real and on each synthetic table."""
    first = next(iter(comparisons.values()))
    lines: list[tuple[Prediction, str, float]] = []
    if first.real_trained is not None:
        lines += [(_named(first.real_trained, model), REAL, 2.6)]
    lines += [
        (_named(comparison, model), series(place), 1.4)
        for place, comparison in enumerate(comparisons.values())
    ]
    figures = []
    for kind in ("roc", "pr"):
        figure, axes = new_figure(4.8, 3.4)
        if kind == "roc":
            axes.plot([0, 1], [0, 1], color=LINE, linewidth=1, linestyle=(0, (3, 3)))
        for prediction, color, width in lines:
            x, y = _curve(kind, prediction, first.positive)
            axes.plot(x, y, color=color, linewidth=width, solid_capstyle="round")
        axes.set_xlabel("false positive rate" if kind == "roc" else "recall")
        axes.set_ylabel("true positive rate" if kind == "roc" else "precision")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.01)
        axes.grid(True)
        figure.tight_layout(pad=0.4)
        figures.append(figure)
    return figures[0], figures[1]


def _named(comparison: TableComparison, model: str) -> Prediction:
    return next(p for p in comparison.predictions if p.model == model)


def _curve(kind: str, prediction: Prediction, positive: int) -> tuple[np.ndarray, np.ndarray]:
    """The curve thinned to some 200 points; more cannot be seen."""
    metrics = require("sklearn.metrics")
    scores = prediction.scores
    if scores is None:
        raise NacreError("A regression has no ROC curve.")
    truth = prediction.truth == positive
    if kind == "roc":
        x, y, _ = metrics.roc_curve(truth, scores[:, positive])
    else:
        y, x, _ = metrics.precision_recall_curve(truth, scores[:, positive])
    keep = np.unique(np.linspace(0, len(x) - 1, POINTS).round().astype(int))
    return x[keep], y[keep]


def draw_closest(comparison: TableComparison, place: int = 0) -> Any:
    """How far synthetic rows, and held-out real rows, are from the closest real row."""
    rng = comparison.rng("closest-record")
    among = comparison.train.sample(DISTANCE_ROWS, rng)
    synthetic = nearest(comparison, comparison.synthetic.sample(ROWS, rng), among)
    held_out = nearest(comparison, comparison.test.sample(ROWS, rng), among)
    top = max(float(np.quantile(np.concatenate([synthetic, held_out]), 0.995)), 1e-6)
    edges = np.linspace(0, top, 41)
    figure, axes = new_figure(4.8, 2.5)
    for values, settings in (
        (held_out, {"fill": True, "color": REAL, "alpha": 0.45, "linewidth": 0}),
        (synthetic, {"color": series(place), "linewidth": 1.4, "baseline": None}),
    ):
        axes.stairs(np.histogram(values, edges)[0] / len(values), edges, **settings)
    axes.set_xlim(0, top)
    axes.set_ylim(0)
    share_axis(axes.yaxis)
    axes.set_xlabel("distance to the closest real row")
    axes.grid(axis="y")
    figure.tight_layout(pad=0.4)
    return figure
