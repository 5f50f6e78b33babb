"""Figures of single columns: real as gray areas and bars, synthetic as lines and dots."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nacre.evaluate.comparison import Comparison
from nacre.evaluate.rows import Rows
from nacre.report.figures.canvas import INK, LINE, MUTED, REAL, new_figure, series
from nacre.report.figures.names import value_at, value_names
from nacre.report.markup import short

WIDTH = 3.5
HEIGHT = 2.05
MOST_BARS = 9
MOST_BINS = 40


def draw_column(name: str, comparisons: Mapping[str, Comparison]) -> Any:
    """One column of the real table and of every synthetic one."""
    first = next(iter(comparisons.values()))
    tables = [comparison.synthetic for comparison in comparisons.values()]
    if first.real.is_number(name):
        return _draw_number(name, first.real, tables)
    return _draw_category(name, first.real, tables)


def _draw_number(name: str, real: Rows, tables: list[Rows]) -> Any:
    units = [rows.unit(name) for rows in (real, *tables)]
    missing = [float(np.isnan(unit).mean()) for unit in units]
    present = [unit[~np.isnan(unit)] for unit in units]
    column = real.schema.columns[name]
    edges = _edges(present, column.ticks or 1)
    figure, axes = new_figure(WIDTH, HEIGHT)
    shares = [np.histogram(unit, edges)[0] / max(len(unit), 1) for unit in present]
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
    _share_axis(axes.yaxis, max(share.max() for share in shares))
    axes.grid(axis="y")
    ticks = np.linspace(edges[0], edges[-1], 4)
    axes.set_xticks(ticks, [value_at(column, min(max(t, 0), 1)) for t in ticks])
    for label, side in zip(
        axes.get_xticklabels(), ("left", "center", "center", "right"), strict=True
    ):
        label.set_horizontalalignment(side)
    if max(missing) > 0:
        shown = ", ".join(f"{share:.1%}" for share in missing)
        axes.set_xlabel(f"missing: {shown}", loc="right")
    figure.tight_layout(pad=0.4)
    return figure


def _edges(present: list[np.ndarray], ticks: int) -> np.ndarray:
    """Bins over the range where nearly all values lie, one a value if these are few."""
    values = np.concatenate([p[:200_000] for p in present])
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = (np.rint(np.quantile(values, q) * ticks) for q in (0.0005, 0.9995))
    count = int(high - low) + 1
    step = max(1, -(-count // MOST_BINS))
    # Half a tick to either side, so that every bin holds the same number of possible values.
    return (np.arange(low, high + step + 1, step) - 0.5) / ticks


def _draw_category(name: str, real: Rows, tables: list[Rows]) -> Any:
    names = value_names(real.schema, name)
    shares = []
    for rows in (real, *tables):
        column = rows.bin(name)
        shares.append(np.bincount(column.codes, minlength=column.size) / len(rows))
    ordered = real.schema.columns[name].type in {"ordinal", "boolean"} and len(names) <= MOST_BARS
    order = np.arange(len(names)) if ordered else np.argsort(-shares[0], kind="stable")
    kept, rest = order[:MOST_BARS], order[MOST_BARS:]
    labels = [short(names[code], 22) for code in kept]
    shown = [share[kept] for share in shares]
    if len(rest):
        labels.append(f"{len(rest)} others")
        shown = [np.append(s, share[rest].sum()) for s, share in zip(shown, shares, strict=True)]
    figure, axes = new_figure(WIDTH, HEIGHT)
    places = np.arange(len(labels))
    axes.barh(
        places, shown[0], min(0.62, 0.2 + 0.08 * len(labels)), color=REAL, alpha=0.45, linewidth=0
    )
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
    axes.invert_yaxis()
    axes.set_xlim(0, max(float(s.max()) for s in shown) * 1.05 or 1)
    _share_axis(axes.xaxis, max(float(s.max()) for s in shown))
    axes.grid(axis="x")
    axes.spines["bottom"].set_visible(False)
    axes.axvline(0, color=LINE, linewidth=0.8)
    figure.tight_layout(pad=0.4)
    return figure


def _share_axis(axis: Any, largest: float) -> None:
    """Shares in percent, few ticks."""
    digits = 0 if largest > 0.04 else 1 if largest > 0.004 else 2
    axis.set_major_locator(_locator())
    axis.set_major_formatter(lambda value, _: f"{value:.{digits}%}")


def _locator() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10])
