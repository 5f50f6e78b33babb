"""DP-auto-GAN's figures: a panel for each table side by side, and three-way distances."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nacre.evaluate.report.figures.canvas import (
    INK,
    LINE,
    RASTER,
    RASTER_SERIES,
    REAL,
    new_figure,
    series,
)
from nacre.evaluate.report.figures.structure import project_tables
from nacre.evaluate.tables.comparison import TableComparison
from nacre.report.figures.axes import share_axis

PANEL = 2.5
"""The side of a panel, in inches."""


class Point(NamedTuple):
    """One dimension: what it is in the real table and in the other, and what kind of column."""

    name: str
    real: float
    synthetic: float
    kind: str = ""


def draw_point_panels(
    tables: Mapping[str, Sequence[Point]], axes_names: tuple[str, str], *, low: float = 0.0
) -> Any:
    """A panel for each table, its points against the line where both agree.

    Colors tell kinds of columns apart, with a key if there are several.

    Args:
        tables: the points of each table; a point that a table lacks is not drawn there.
        axes_names: what is along and what is up.
        low: where both axes begin, unless a point lies below.
    """
    every = [value for points in tables.values() for p in points for value in p[1:3]]
    bottom, top = min([low, *every]), max([low + 1e-3, *every])
    margin = 0.03 * (top - bottom)
    kinds = list(dict.fromkeys(p.kind for points in tables.values() for p in points))
    figure, panels = _row_of_panels(len(tables))
    for panel, (name, points) in zip(panels, tables.items(), strict=True):
        panel.plot([bottom, top], [bottom, top], color=LINE, linewidth=1.2)
        for place, kind in enumerate(kinds):
            x, y = ([p[side] for p in points if p.kind == kind] for side in (1, 2))
            panel.plot(
                x,
                y,
                "o",
                color=series(place),
                markersize=3 if len(points) > 100 else 4.5,
                alpha=0.6,
                markeredgewidth=0,
                label=kind,
            )
        panel.set_xlim(bottom - margin, top + margin)
        panel.set_ylim(bottom - margin, top + margin)
        panel.set_aspect("equal")
        panel.set_xlabel(axes_names[0])
        panel.set_title(name, loc="left", color=INK)
        panel.grid(True)
    panels[0].set_ylabel(axes_names[1])
    if len(kinds) > 1:
        panels[0].legend(loc="upper left", handletextpad=0.1, borderpad=0, fontsize=7.5)
    figure.tight_layout(pad=0.4)
    return figure


def draw_plane_panels(comparisons: Mapping[str, TableComparison]) -> tuple[Any, float]:
    """The real rows and those of each table on the real table's first two components.

    Returns:
        The figure, and the share of the variance that the plane explains.
    """
    clouds, explained = project_tables(comparisons)
    figure, panels = _row_of_panels(len(clouds), sharex=True, sharey=True)
    for place, (panel, (name, cloud)) in enumerate(zip(panels, clouds.items(), strict=True)):
        color = RASTER_SERIES[(place - 1) % len(RASTER_SERIES)] if place else RASTER["real"]
        panel.scatter(*cloud.T, s=5, color=color, alpha=0.4, linewidths=0, rasterized=True)
        panel.set_title(name, loc="left", color=INK)
        panel.grid(True)
        panel.set_xticklabels([])
        panel.set_yticklabels([])
    figure.tight_layout(pad=0.4)
    return figure, explained


def draw_distances(
    tables: Mapping[str, Sequence[float]], reference: Sequence[float], what: str
) -> Any:
    """Which share of marginals is within each distance of the real ones; further left is better.

    Args:
        tables: for each table, a distance of each marginal that was looked at.
        reference: the same of held-out real rows.
        what: the marginals, for the axis.
    """
    figure, axes = new_figure(4.8, 3.0)
    lines = [
        (reference, REAL, "real, held out", 2.4),
        *((values, series(i), name, 1.4) for i, (name, values) in enumerate(tables.items())),
    ]
    for values, color, name, width in lines:
        ordered = np.concatenate([[0.0], np.sort(np.asarray(values))])
        shares = np.arange(len(ordered)) / max(len(ordered) - 1, 1)
        axes.step(ordered, shares, where="post", color=color, linewidth=width, label=name)
    axes.set_xlim(0)
    axes.set_ylim(0, 1.02)
    share_axis(axes.yaxis)
    axes.set_xlabel(f"distance (summed difference of shares) of {what}")
    axes.set_ylabel("share of them within it")
    axes.grid(True)
    axes.legend(loc="lower right", fontsize=7.5)
    figure.tight_layout(pad=0.4)
    return figure


def _row_of_panels(count: int, **settings: Any) -> tuple[Any, list[Any]]:
    figure, panels = new_figure(PANEL * count, PANEL + 0.45, ncols=count, squeeze=False, **settings)
    return figure, list(panels[0])
