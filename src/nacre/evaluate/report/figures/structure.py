"""Figures of the table as a whole: its main plane, and each dimension against its real self."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nacre.evaluate.metrics.wasserstein import principal_plane
from nacre.evaluate.report.figures.canvas import (
    LINE,
    MUTED,
    RASTER,
    RASTER_SERIES,
    new_figure,
    series,
)
from nacre.evaluate.tables.comparison import TableComparison
from nacre.report.builder.text import short

POINTS = 3_000
SMALL, LARGE = (3.5, 3.2), (5.2, 4.2)  # three figures side by side, or two


def draw_planes(
    comparisons: Mapping[str, TableComparison], size: tuple[float, float] = SMALL
) -> tuple[dict[str, Any], float]:
    """The real rows, and those of each table, on the real table's two principal components.

    Returns:
        A figure for each, all with the same axes, and the share of the variance that the plane
        explains.
    """
    clouds, explained = project_tables(comparisons)
    every = np.concatenate(list(clouds.values()))
    low, high = every.min(axis=0), every.max(axis=0)
    margin = 0.04 * (high - low) + 1e-6
    figures = {}
    for place, (name, cloud) in enumerate(clouds.items()):
        figure, axes = new_figure(*size)
        color = RASTER_SERIES[(place - 1) % len(RASTER_SERIES)] if place else RASTER["real"]
        axes.scatter(*cloud.T, s=6, color=color, alpha=0.4, linewidths=0, rasterized=True)
        axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
        axes.set_ylim(low[1] - margin[1], high[1] + margin[1])
        axes.grid(True)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticklabels([])
        axes.set_yticklabels([])
        figure.tight_layout(pad=0.4)
        figures[name] = figure
    return figures, explained


def project_tables(
    comparisons: Mapping[str, TableComparison],
) -> tuple[dict[str, np.ndarray], float]:
    """Points of the real table and of each other on the plane, and the variance it explains."""
    first = next(iter(comparisons.values()))
    project, explained = principal_plane(first)
    rng = first.rng("clouds")
    tables = {"real": first.real, **{name: c.synthetic for name, c in comparisons.items()}}
    clouds = {}
    for name, rows in tables.items():
        plane = project(first.features.matrix(rows.sample(POINTS, rng)))
        # A single feature has no second component.
        clouds[name] = plane if plane.shape[1] == 2 else np.column_stack([plane, plane * 0])
    return clouds, explained


def draw_diagonal(
    points: Mapping[str, Sequence[tuple[str, float, float]]],
    axes_names: tuple[str, str],
    *,
    size: tuple[float, float] = SMALL,
    roots: bool = False,
    names: bool = False,
) -> Any:
    """Points (name, real, synthetic) of each table against the line where both agree."""
    figure, axes = new_figure(*size)
    every = [value for table in points.values() for _, x, y in table for value in (x, y)]
    low, high = min([0.0, *every]), max([1e-3, *every]) * 1.04
    axes.plot([low, high], [low, high], color=LINE, linewidth=1.2)
    for place, table in enumerate(points.values()):
        x, y = np.array([t[1] for t in table]), np.array([t[2] for t in table])
        axes.plot(x, y, "o", color=series(place), markersize=4, alpha=0.75, markeredgewidth=0)
        if names and place == 0:
            for worst in np.argsort(y - x)[:4]:
                axes.annotate(
                    short(table[worst][0], 18),
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
