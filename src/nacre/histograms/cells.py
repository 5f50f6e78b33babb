"""Public cells of each column: where a mixture of products puts its probability.

A category's cells are its codes.  A number's are its ticks while there are few of them, otherwise
intervals with the two ends as cells of their own, since clamped and zero-inflated columns pile up
there; so have the values that many rows share by the schema's word, and those that by custom stand
for none or unknown (0, -1, 999).  A nullable number has one cell more, for 'missing'.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Layout, Number


@dataclasses.dataclass(frozen=True)
class Cells:
    """The cells of one number: cell j holds ticks low[j] to high[j] (both included).

    Of a cell that is there for one tick alone, among wider ones, `spike` holds that tick (from
    which a function of one row may not tell those beside it apart); -1 for other cells.  Of these
    the schema states some (`stated`), the others are such by custom.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    spike: NDArray[np.int64] | None = None
    stated: NDArray[np.bool_] | None = None

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.low)

    @property
    def widths(self) -> NDArray[np.float64]:
        """How many ticks each cell holds."""
        return np.asarray(self.high - self.low + 1, np.float64)

    def transform(self, frequencies: NDArray[np.float64], ticks: int) -> NDArray[np.complex128]:
        """E exp(i t u) over each cell, u uniform on its ticks in units of the range: [k, cells]."""
        t = frequencies[:, None] / max(ticks, 1)
        center, width = (self.low + self.high) / 2, self.high - self.low + 1
        # The mean of exp(i t u) over `width` equally spaced ticks (Dirichlet's kernel).
        half = t / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            kernel = np.sin(half * width) / (width * np.sin(half))
        kernel = np.where(np.abs(np.sin(half)) < 1e-12, 1.0, kernel)
        return np.asarray(np.exp(1j * t * center) * kernel)

    def draw(self, cell: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """A tick for each given cell, uniform within it; of a spike's cell the spike."""
        found = rng.integers(self.low[cell], self.high[cell], endpoint=True)
        if self.spike is None:
            return found
        return np.where(self.spike[cell] >= 0, self.spike[cell], found)


def number_cells(
    ticks: int, *, spikes: Sequence[int] = (), most: int = 128, intervals: int = 64
) -> Cells:
    """Each tick its own cell if there are at most `most`, otherwise `intervals` and two ends.

    Each of the `spikes` is a cell of its own, too.
    """
    if ticks < most:
        every = np.arange(ticks + 1, dtype=np.int64)
        return Cells(every, every)
    edges = np.rint(np.linspace(1, ticks, intervals + 1)).astype(np.int64)
    alone = np.array([edge for spike in spikes for edge in (spike, spike + 1)], np.int64)
    low = np.unique(np.r_[0, edges, alone])
    return Cells(low, np.r_[low[1:] - 1, ticks])


def layout_cells(layout: Layout) -> list[Cells]:
    """The cells of every number of a layout."""
    return [number_cells(number.ticks, spikes=number.spikes) for number in layout.numbers]


EXACT_TICKS = 1 << 14  # a number with more ticks is cut on a grid of 2^16
FEWEST_CELLS = 4  # of a number: both ends, and two between
FEWEST_SPIKES = 2
WIDE = 256  # cells of a number that has too many ticks for one cell each
FEW = 64  # so many of them, at least, are equally wide
NEAR = 1 << 12  # what is nearer to zero than this part of the range is as good as zero


def fine_cells(number: Number, most: int) -> Cells:
    """At most `most` cells of a number; each end is a cell by itself, as rows pile up there.

    So is each spike, which may come on top of these.  Where a number has a stretch of its own, such
    as a week, cells are as wide.  Only such cells as a function of one row can tell apart: where it
    sees the leading bits of a tick, every cell begins where these change.
    """
    ticks, unit = number.ticks, 1 << number.shift
    if ticks < most and number.stretch == 1:
        every = np.arange(ticks + 1, dtype=np.int64)
        return Cells(every, every)
    last = ticks // unit * unit
    inner = sorted({-(-tick // unit) * unit for tick in _cuts(number, most)})
    base = {0, unit, *inner, last}
    begins = {tick // unit * unit: tick for tick in alone(number, most)}
    apart = {begin: tick for begin, tick in begins.items() if not {begin, begin + unit} <= base}
    cuts = {*base, *apart, *(begin + unit for begin in apart)}
    low = np.array(sorted(tick for tick in cuts if tick <= last), np.int64)
    found = Cells(low, np.r_[low[1:] - 1, ticks])
    if not apart:
        return found
    spike = np.full(found.size, -1, np.int64)
    spike[np.searchsorted(low, list(apart))] = list(apart.values())
    return dataclasses.replace(found, spike=spike, stated=np.isin(spike, number.spikes))


def alone(number: Number, most: int) -> tuple[int, ...]:
    """The ticks of a number that get a cell each, for they may be spikes; none if all ticks do.

    What the schema states comes before what is common, as an eighth of the cells is for spikes;
    of two that a function of one row cannot tell apart the first one counts.
    """
    if number.ticks < most:
        return ()
    found: dict[int, int] = {}
    for tick in (*number.spikes, *number.common):
        found.setdefault(tick >> number.shift, tick)
    room = max(FEWEST_SPIKES, most // 8)
    ends = (0, number.positions)
    return tuple(tick for position, tick in found.items() if position not in ends)[:room]


def _cuts(number: Number, most: int) -> list[int]:
    """The ticks at which the intervals between the two ends begin, the first left out.

    Half of the intervals are equally wide.  The others grow with the distance from zero, so that
    amounts that lie far below a generous bound are told apart, too; of a few intervals, or
    without a zero, all are equal.  Python integers, as ticks may be close to 2^63.
    """
    ticks, stretch = number.ticks, number.stretch
    if stretch > 1 and ticks // stretch < min(WIDE, most) - 2:
        return list(range(stretch, ticks, stretch))
    grid, intervals = ticks if ticks <= EXACT_TICKS else 1 << 16, min(WIDE, most) - 2
    position = np.arange(1, grid, dtype=np.float64)
    share = (position - 1) / (grid - 1)
    if number.zero is not None and intervals > FEW:
        zero = round(number.zero / ticks * grid)
        scale = grid / NEAR
        signed = np.sign(position - zero) * np.log1p(np.abs(position - zero) / scale)
        signed = (signed - signed[0]) / (signed[-1] - signed[0]) * (grid - 2) / (grid - 1)
        share = share + (signed - share) * (1 - max(0.5, FEW / intervals))
    cell = np.floor(share * intervals + 1e-9)
    found = (np.flatnonzero(np.diff(cell)) + 2).tolist()
    if grid == ticks:
        return list(found)
    return [(2 * p - 1) * ticks // (1 << 17) + 1 for p in found]


@final
@dataclasses.dataclass(frozen=True)
class NumberColumn:
    """A number of the table as cells, with its missing indicator.

    Attributes:
        number: its place among the layout's numbers.
        cells: of its ticks.
        missing: the place of its missing indicator among the layout's codes, if it is nullable.
    """

    number: int
    cells: Cells
    missing: int | None

    @property
    def nullable(self) -> bool:
        """Whether there is one cell more, the last, that means 'missing'."""
        return self.missing is not None

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.cells.size + self.nullable


@final
@dataclasses.dataclass(frozen=True)
class CodeColumn:
    """A category of the table, whose cells are its codes.

    Attributes:
        code: its place among the layout's codes.
        size: how many cells there are.
    """

    code: int
    size: int

    nullable: ClassVar[bool] = False  # 'missing' is a code like the others


Column = NumberColumn | CodeColumn


def table_columns(layout: Layout, label: int | None, most: int) -> tuple[Column, ...]:
    """The columns other than the label (a place among the codes): numbers, then codes."""
    missing = {
        code.name: place for place, code in enumerate(layout.codes) if code.role == "missing"
    }
    numbers = [
        NumberColumn(place, fine_cells(number, most), missing.get(number.name))
        for place, number in enumerate(layout.numbers)
    ]
    codes = [
        CodeColumn(place, code.size)
        for place, code in enumerate(layout.codes)
        if place != label and code.role == "value"
    ]
    return (*numbers, *codes)


def column_name(column: Column, layout: Layout) -> str:
    """What a column is called."""
    if isinstance(column, CodeColumn):
        return layout.codes[column.code].name
    return layout.numbers[column.number].name
