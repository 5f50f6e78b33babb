"""Hours of the day and days of the week: real as gray bars, synthetic as lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nacre.evaluate.report.figures.canvas import REAL, new_figure, series
from nacre.evaluate.report.figures.columns import HEIGHT, WIDTH
from nacre.evaluate.tables.clock import Clock
from nacre.report.figures.axes import share_axis

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def draw_clock(clocks: Sequence[Clock]) -> Any:
    """One cycle of a column in the real table and in every synthetic one."""
    figure, axes = new_figure(WIDTH, HEIGHT)
    size = len(clocks[0].real)
    edges = np.arange(size + 1) - 0.5
    axes.stairs(clocks[0].real, edges, fill=True, color=REAL, alpha=0.45, linewidth=0)
    for place, clock in enumerate(clocks):
        axes.stairs(clock.synthetic, edges, color=series(place), linewidth=1.4, baseline=None)
    if size == len(DAYS):
        axes.set_xticks(np.arange(size), DAYS)
    else:
        hours = np.arange(0, size + 1, 6)
        axes.set_xticks(hours - 0.5, [f"{hour}:00" for hour in hours])
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0)
    share_axis(axes.yaxis)
    axes.grid(axis="y")
    figure.tight_layout(pad=0.4)
    return figure
