"""Figures of the table as a whole: its main plane, and each dimension against its real self."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nacre.evaluate.comparison import Comparison
from nacre.evaluate.metrics.wasserstein import principal_plane
from nacre.report.canvas import LINE, MUTED, RASTER, new_figure, series

POINTS = 3_000


def draw_plane(comparison: Comparison) -> tuple[Any, float]:
    """Real and synthetic rows on the real table's first two principal components.

    Returns:
        The figure, and the share of the variance that the plane explains.
    """
    project, explained = principal_plane(comparison)
    rng = comparison.rng(20)
    points = []
    for rows in (comparison.real, comparison.synthetic):
        plane = project(comparison.features.matrix(rows.sample(POINTS, rng)))
        # A single feature has no second component.
        points.append(plane if plane.shape[1] == 2 else np.column_stack([plane, plane * 0]))
    figure, axes = new_figure(7.0, 3.3, ncols=2, sharex=True, sharey=True)
    titles = ("real", "synthetic")
    colors = (RASTER["real"], RASTER["series-1"])
    for axis, cloud, title, color in zip(axes, points, titles, colors, strict=True):
        axis.scatter(*cloud.T, s=5, color=color, alpha=0.35, linewidths=0, rasterized=True)
        axis.set_title(title, loc="left")
        axis.grid(True)
        axis.spines["bottom"].set_visible(False)
        axis.set_xticklabels([])
        axis.set_yticklabels([])
    figure.tight_layout(pad=0.4)
    return figure, explained


def draw_diagonal(
    points: Mapping[str, Sequence[tuple[str, float, float]]],
    axes_names: tuple[str, str],
    *,
    roots: bool = False,
    names: bool = False,
) -> Any:
    """Points (name, real, synthetic) of each table against the line where both agree."""
    figure, axes = new_figure(3.5, 3.3)
    every = [value for table in points.values() for _, x, y in table for value in (x, y)]
    low, high = min([0.0, *every]), max([1e-3, *every]) * 1.04
    axes.plot([low, high], [low, high], color=LINE, linewidth=1.2)
    for place, table in enumerate(points.values()):
        x, y = np.array([t[1] for t in table]), np.array([t[2] for t in table])
        axes.plot(x, y, "o", color=series(place), markersize=4, alpha=0.75, markeredgewidth=0)
        if names and place == 0:
            for worst in np.argsort(y - x)[:4]:
                axes.annotate(
                    table[worst][0][:18],
                    (x[worst], y[worst]),
                    (4, -7),
                    textcoords="offset points",
                    color=MUTED,
                    fontsize=7,
                )
    if roots:
        for setter in (axes.set_xscale, axes.set_yscale):
            setter("function", functions=(lambda v: np.sqrt(np.maximum(v, 0)), np.square))
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_xlabel(axes_names[0])
    axes.set_ylabel(axes_names[1])
    axes.grid(True)
    axes.spines["bottom"].set_visible(False)
    axes.set_aspect("equal")
    figure.tight_layout(pad=0.4)
    return figure
