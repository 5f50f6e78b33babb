"""Figures of the public report: columns within their bands, and a classifier's ROC curve."""

from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.report.figures.canvas import INK, LINE, MUTED, REAL, new_figure, series
from nacre.publish.bands import Band
from nacre.publish.public import PublicReport
from nacre.report.builder.text import short
from nacre.report.figures.axes import on_axis, share_axis, value_axis
from nacre.schema import Schema

WIDTH, HEIGHT = 3.5, 2.05
SURE, UNSURE = 0.28, 0.75  # how strongly the private share is drawn below and within its band
STEEP = 0.6
FEWEST_BARS = 4  # room for so many, so that two bars do not become two blocks


def draw_band(band: Band, schema: Schema) -> Any:
    """One column: private shares in gray, stronger where noise leaves them open, synthetic ones."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    if schema.columns[band.column].ticks is None:
        _bars(axes, band)
    else:
        _stairs(axes, band, schema)
    figure.tight_layout(pad=0.4)
    return figure


def _stairs(axes: Any, band: Band, schema: Schema) -> None:
    bins, column = band.bins, schema.columns[band.column]
    drawn = bins.drawn
    most = max(column.ticks or 1, 1)
    edges = on_axis(column, (np.append(bins.low[drawn], bins.high[drawn][-1] + 1) - 0.5) / most)
    synthetic = band.synthetic[drawn]
    top = float(synthetic.max())
    if band.lower is not None and band.upper is not None:
        lower, upper = band.lower[drawn], band.upper[drawn]
        gray = {"fill": True, "color": REAL, "linewidth": 0}
        axes.stairs(lower, edges, alpha=SURE, **gray)
        axes.stairs(upper, edges, baseline=lower, alpha=UNSURE, **gray)
        top = max(top, float(upper.max()))
    else:
        axes.stairs(synthetic, edges, fill=True, color=series(0), alpha=0.18, linewidth=0)
    axes.stairs(synthetic, edges, color=series(0), linewidth=1.4, baseline=None)
    if top > STEEP:
        axes.set_yscale("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), np.square))
        axes.annotate(
            "square-root scale",
            (1, 1),
            xycoords="axes fraction",
            ha="right",
            va="top",
            color=MUTED,
            fontsize=7,
        )
    axes.set_ylim(0, top * 1.04 or 1)
    axes.set_xlim(edges[0], edges[-1])
    share_axis(axes.yaxis)
    axes.grid(axis="y")
    value_axis(axes.xaxis, column)
    if said := _rest(band):
        axes.set_xlabel(said, loc="right")


def _rest(band: Band) -> str:
    """The shares of what has no place on the axis."""
    said = []
    for place in np.flatnonzero(~band.bins.drawn):
        share = f"{band.bins.names[place]}: {band.synthetic[place]:.1%}"
        if band.lower is not None and band.upper is not None:
            share += f" (private {band.lower[place]:.1%} to {band.upper[place]:.1%})"
        if band.synthetic[place] >= 0.0005 or band.bins.names[place] == "missing":
            said.append(share)
    return "; ".join(said)


def _bars(axes: Any, band: Band) -> None:
    labels = [short(name, 22) for name in band.bins.names]
    places = np.arange(len(labels))
    height = 0.62
    top = float(band.synthetic.max())
    if band.lower is not None and band.upper is not None:
        gray = {"color": REAL, "linewidth": 0}
        axes.barh(places, band.lower, height, alpha=SURE, **gray)
        axes.barh(places, band.upper - band.lower, height, left=band.lower, alpha=UNSURE, **gray)
        top = max(top, float(band.upper.max()))
    else:
        axes.barh(places, band.synthetic, height, color=series(0), alpha=0.18, linewidth=0)
    axes.plot(
        band.synthetic,
        places,
        "o",
        color=series(0),
        markersize=4.2,
        markeredgewidth=0,
        clip_on=False,
    )
    axes.set_yticks(places, labels, color=INK)
    middle, half = (len(labels) - 1) / 2, max(len(labels), FEWEST_BARS) / 2
    axes.set_ylim(middle + half, middle - half)
    axes.set_xlim(0, top * 1.05 or 1)
    share_axis(axes.xaxis)
    axes.grid(axis="x")
    axes.spines["bottom"].set_visible(False)
    axes.axvline(0, color=LINE, linewidth=0.8)


def draw_roc(report: PublicReport) -> Any:
    """The classifier's ROC curve on private rows, with noise, and on synthetic ones."""
    figure, axes = new_figure(4.6, 3.4)
    axes.plot([0, 1], [0, 1], color=LINE, linewidth=1, linestyle=(0, (3, 3)))
    predictor = report.predictor
    if predictor is None or predictor.positive is None or report.outcomes is None:
        raise NacreError("There is no classifier in this report.")
    order = [1 - predictor.positive, predictor.positive]
    for counts, color, width in (
        (report.outcomes, REAL, 2.6),
        (predictor.synthetic, series(0), 1.4),
    ):
        sides = [np.append(0, np.cumsum(counts[c][::-1])) for c in order]
        x, y = (np.clip(side / max(side[-1], 1e-9), 0, 1) for side in sides)
        axes.plot(x, y, color=color, linewidth=width, solid_capstyle="round")
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.01)
    axes.grid(True)
    figure.tight_layout(pad=0.4)
    return figure
