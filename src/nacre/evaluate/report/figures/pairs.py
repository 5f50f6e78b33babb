"""Figures of pairs of columns: matrices of association, and the worst pairs drawn out."""

from typing import Any

import numpy as np

from nacre.evaluate.report.figures.canvas import INK, LINE, RASTER, diverging, fading, new_figure
from nacre.evaluate.tables.cells import joint
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.names import bin_names
from nacre.evaluate.tables.rows import Coded, Rows
from nacre.evaluate.tables.watch import links
from nacre.report.builder.text import short

MOST_COLUMNS = 30


def shown_columns(comparison: TableComparison) -> list[int]:
    """All columns, or the thirty whose associations change most."""
    size = len(comparison.pairs.names)
    if size <= MOST_COLUMNS:
        return list(range(size))
    # Squared, so that one link that is lost counts for more than noise on all of them.
    change = (links(comparison) ** 2).mean(axis=1)
    return sorted(np.argsort(-change, kind="stable")[:MOST_COLUMNS].tolist())


def draw_matrix(values: np.ndarray, names: list[str], kind: str) -> Any:
    """A square matrix of associations or of their differences, from -1 to 1."""
    size = len(names)
    side = 3.5 if size <= 20 else min(0.17 * size, 7.0)
    figure, axes = new_figure(side, side)
    colors = (
        diverging(RASTER["less"], RASTER["more"])
        if kind == "difference"
        else diverging(RASTER["minus"], RASTER["plus"])
    )
    shown = values.copy()
    np.fill_diagonal(shown, 0 if kind == "difference" else 1)
    reach = 0.5 if kind == "difference" else 1.0
    axes.imshow(shown, cmap=colors, vmin=-reach, vmax=reach, interpolation="none")
    labels = [short(name, 16) for name in names]
    font = 8 if size <= 16 else 6.5 if size <= 20 else 5.5
    axes.set_xticks(range(size), labels, rotation=90, fontsize=font, color=INK)
    axes.set_yticks(range(size), labels, fontsize=font, color=INK)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(LINE)
    figure.tight_layout(pad=0.4)
    return figure


def draw_pair(comparison: TableComparison, first: int, second: int) -> Any:
    """The cross-table of two columns, real above synthetic, in the same shades.

    Shades follow the square root of the share, so that small cells are seen.
    """
    names = comparison.real.names
    # The column with more values runs along the page, where there is more room.
    sizes = [comparison.real.binned[i].size for i in (first, second)]
    if sizes[0] > sizes[1]:
        first, second = second, first
    down = _shown(comparison, first, 8)
    along = _shown(comparison, second, 16)
    tables = [
        _cross_table(rows, (first, down), (second, along))
        for rows in (comparison.real, comparison.synthetic)
    ]
    labels = [
        [short(n, 13) for n in bin_names(comparison.real, names[c], comparison.real.binned[c].size)]
        for c in (first, second)
    ]
    figure, axes = new_figure(3.5, 4.0, nrows=2, sharex=True)
    top = max(float(table.max()) for table in tables) ** 0.5
    for axis, table, title in zip(axes, tables, ("real", "synthetic"), strict=True):
        axis.imshow(
            np.sqrt(table),
            cmap=fading(RASTER["cells"]),
            vmin=0,
            vmax=top,
            aspect="auto",
            interpolation="none",
        )
        _label(axis.set_yticks, down, labels[0], 10)
        axis.set_title(title, loc="left", pad=3)
        axis.spines[:].set_visible(True)
    _label(axes[1].set_xticks, along, labels[1], 20, rotation=90)
    figure.tight_layout(pad=0.4, h_pad=0.8)
    return figure


def _label(write: Any, shown: np.ndarray, names: list[str], most: int, **style: Any) -> None:
    """Names along an axis, of every second or third bin where there are many."""
    stride = -(-len(shown) // most)
    places = range(0, len(shown), stride)
    write(places, [names[shown[place]] for place in places], fontsize=8, color=INK, **style)


def _shown(comparison: TableComparison, column: int, most: int) -> np.ndarray:
    """The codes to draw: a number's bins without a hole, in order; else the most frequent ones.

    A number's bins go from the first to the last that either table has; one for missing values is
    there if there are such.
    """
    name = comparison.real.names[column]
    codes, size = comparison.real.binned[column]
    counts = np.bincount(codes, minlength=size)
    if comparison.real.is_number(name):
        both = counts + np.bincount(comparison.synthetic.binned[column].codes, minlength=size)
        gaps = comparison.real.missing(name) is not None
        bins = np.flatnonzero(both[: size - gaps])
        whole = np.arange(bins[0], bins[-1] + 1) if len(bins) else np.zeros(0, np.int64)
        return np.append(whole, size - 1) if gaps and both[-1] else whole
    found = np.argsort(-counts, kind="stable")[:most]
    ordered = comparison.real.schema.columns[name].type in {"ordinal", "boolean"}
    return np.sort(found) if ordered else found


def _cross_table(
    rows: Rows, first: tuple[int, np.ndarray], second: tuple[int, np.ndarray]
) -> np.ndarray:
    """The share of all rows in each combination of the chosen codes."""
    kept = []
    for column, codes in (first, second):
        place = np.full(rows.binned[column].size, len(codes))
        place[codes] = np.arange(len(codes))
        kept.append(Coded(place[rows.binned[column].codes], len(codes) + 1))
    both = joint(kept)
    counts = np.bincount(both.codes, minlength=both.size).reshape(kept[0].size, kept[1].size)
    return np.asarray(counts[:-1, :-1] / len(rows))
