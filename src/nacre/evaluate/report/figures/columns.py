"""Figures of single columns: real as gray areas and bars, synthetic as lines and dots."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nacre.evaluate.report.figures.canvas import INK, LINE, MUTED, REAL, new_figure, series
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.rows import Rows
from nacre.report.builder.text import short
from nacre.report.figures.axes import on_axis, share_axis, value_axis
from nacre.report.figures.warp import Warp, warp_for
from nacre.schema import Column, Datetime, Integer, Real, Time
from nacre.schema.columns.timed import DAY, UNITS
from nacre.schema.written import value_names

WIDTH = 3.5
HEIGHT = 2.05
MOST_BARS = 9
MOST_BINS = 40
FEWEST_BARS = 4  # room for so many, so that two bars do not become two blocks


def draw_column(name: str, comparisons: Mapping[str, TableComparison]) -> Any:
    """One column of the real table and of every synthetic one."""
    first = next(iter(comparisons.values()))
    tables = [comparison.synthetic for comparison in comparisons.values()]
    if first.real.is_number(name):
        return _draw_number(name, first.real, tables)
    return _draw_category(name, first.real, tables)


def missing_shares(name: str, comparisons: Mapping[str, TableComparison]) -> list[float]:
    """The share of gaps of a number in the real table and in every synthetic one; empty if none."""
    first = next(iter(comparisons.values()))
    if not first.real.is_number(name):
        return []
    tables = [first.real, *(comparison.synthetic for comparison in comparisons.values())]
    found = [float(np.isnan(rows.unit(name)).mean()) for rows in tables]
    return found if max(found) > 0 else []


def draw_difference(earlier: str, later: str, comparisons: Mapping[str, TableComparison]) -> Any:
    """How far two columns are apart in the real table and in the synthetic ones.

    Dates in days, times of day in minutes.
    """
    first = next(iter(comparisons.values()))
    tables = [first.real, *(comparison.synthetic for comparison in comparisons.values())]
    kind = first.real.schema.columns[later]
    unit = DAY if isinstance(kind, Datetime) else UNITS["min"] if isinstance(kind, Time) else 1
    apart = [(rows.values(later) - rows.values(earlier)) / unit for rows in tables]
    apart = [values[~np.isnan(values)] for values in apart]
    low = math.floor(min((float(v.min()) for v in apart if len(v)), default=0.0))
    high = math.ceil(max((float(v.max()) for v in apart if len(v)), default=1.0))
    whole = all((values == np.rint(values)).all() for values in apart)
    high = max(high, low + 1)
    column = Integer(low=low, high=high) if whole else Real(low=low, high=high)
    return _draw_units([(values - low) / (high - low) for values in apart], column)


def _draw_number(name: str, real: Rows, tables: list[Rows]) -> Any:
    units = [rows.unit(name) for rows in (real, *tables)]
    return _draw_units([unit[~np.isnan(unit)] for unit in units], real.schema.columns[name])


def _draw_units(present: list[np.ndarray], column: Column) -> Any:
    """Histograms of values scaled to [0, 1] by the column's bounds, the real ones first."""
    ticks = column.ticks or 1
    edges = _edges(present, ticks)
    warp = warp_for(present[0], edges) if isinstance(column, Integer | Real) else None
    if warp is not None:
        # Half a tick off every possible value.
        places = warp.evenly(edges[0], edges[-1], MOST_BINS + 1)
        edges = np.unique((np.rint(places * ticks) - 0.5) / ticks)
    figure, axes = new_figure(WIDTH, HEIGHT)
    shares = [np.histogram(unit, edges)[0] / max(len(unit), 1) for unit in present]
    edges = on_axis(column, edges)
    axes.stairs(shares[0], edges, fill=True, color=REAL, alpha=0.45, linewidth=0)
    for place, share in enumerate(shares[1:]):
        axes.stairs(share, edges, color=series(place), linewidth=1.4, baseline=None)
    if max(share.max() for share in shares) > 0.6:
        axes.set_yscale("function", functions=(np.sqrt, np.square))
        axes.annotate(
            "square-root scale",
            (1, 1),
            xycoords="axes fraction",
            ha="right",
            va="top",
            color=MUTED,
            fontsize=7,
        )
    axes.set_ylim(0)
    axes.set_xlim(edges[0], edges[-1])
    value_axis(axes.xaxis, column)
    if warp is not None:
        low, high = on_axis(column, (0, 1))
        span = float(high - low)
        Warp(low + warp.center * span, warp.width * span).apply(axes)
    share_axis(axes.yaxis)
    axes.grid(axis="y")
    figure.tight_layout(pad=0.4)
    return figure


def _edges(present: list[np.ndarray], ticks: int) -> np.ndarray:
    """Bins over the range where nearly all values lie, one a value if these are few."""
    if not any(len(values) for values in present):
        return np.array([0.0, 1.0])
    # Of each table by itself: what a small one has beyond all others must not fall off the axis.
    there = [values for values in present if len(values)]
    low = np.rint(min(np.quantile(values, 0.0005) for values in there) * ticks)
    high = np.rint(max(np.quantile(values, 0.9995) for values in there) * ticks)
    count = int(high - low) + 1
    # Where the last bin would reach beyond the values it would look like a collapse. For each
    # number of bins the narrowest that hold all values leave least of it over.
    widest = max(2 * -(-count // MOST_BINS) - 1, 1)
    widths = {min(-(-count // bins), widest) for bins in range(MOST_BINS // 2, MOST_BINS + 1)}
    step = min(widths, key=lambda width: (-count % width / width, width))
    # Half a tick to either side, so that every bin holds the same number of possible values.
    return (np.arange(low, high + step + 1, step) - 0.5) / ticks


def _draw_category(name: str, real: Rows, tables: list[Rows]) -> Any:
    names = value_names(real.schema, name)
    shares = []
    for rows in (real, *tables):
        column = rows.bin(name)
        shares.append(np.bincount(column.codes, minlength=column.size) / len(rows))
    ordered = real.schema.columns[name].type in {"ordinal", "boolean"}
    order = np.argsort(-shares[0], kind="stable")
    # A single one left over has a name of its own.
    shown_bars = len(order) if len(order) <= MOST_BARS + 1 else MOST_BARS
    kept, rest = order[:shown_bars], order[shown_bars:]
    kept = np.sort(kept) if ordered else kept
    labels = [short(names[code], 20) for code in kept]
    shown = [share[kept] for share in shares]
    if len(rest):
        labels.append(f"{len(rest):,} others")
        shown = [np.append(s, share[rest].sum()) for s, share in zip(shown, shares, strict=True)]
    figure, axes = new_figure(WIDTH, HEIGHT)
    places = np.arange(len(labels))
    axes.barh(places, shown[0], 0.62, color=REAL, alpha=0.45, linewidth=0)
    for place, share in enumerate(shown[1:]):
        shift = (place - (len(tables) - 1) / 2) * 0.62 / max(len(tables), 1)
        axes.plot(
            share,
            places + shift,
            "o",
            color=series(place),
            markersize=4.2,
            markeredgewidth=0,
            clip_on=False,
        )
    axes.set_yticks(places, labels, color=INK)
    middle, half = (len(labels) - 1) / 2, max(len(labels), FEWEST_BARS) / 2
    axes.set_ylim(middle + half, middle - half)
    axes.set_xlim(0, max(float(s.max()) for s in shown) * 1.05 or 1)
    share_axis(axes.xaxis)
    axes.grid(axis="x")
    axes.spines["bottom"].set_visible(False)
    axes.axvline(0, color=LINE, linewidth=0.8)
    figure.tight_layout(pad=0.4)
    return figure
