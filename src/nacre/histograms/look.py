"""Which cells of wide numbers are looked into: those in which single values may stand out.

Public but for noisy histograms: heavy cells first, then of columns that seem to have few values the
others that are not empty.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, NumberColumn
from nacre.histograms.clean import SURE
from nacre.histograms.few import jagged
from nacre.histograms.histograms import Histograms
from nacre.schema import Layout

Index = NDArray[np.int64]

CLOSER = 2  # times the weight of others, for columns that seem to have few values
LIGHT = 10_000  # ticks of light cells that are looked at, at most


def looked_at(
    columns: tuple[NumberColumn | CodeColumn, ...], layout: Layout, room: int
) -> tuple[int, ...]:
    """The columns with cells of several ticks, but not of more than there is room for.

    A function of one row must be able to tell the ticks apart.
    """
    return tuple(
        place
        for place, column in enumerate(columns)
        if isinstance(column, NumberColumn)
        and layout.numbers[column.number].shift == 0
        and _wide(column, room).any()
    )


def _wide(column: NumberColumn, room: int) -> NDArray[np.bool_]:
    return (column.cells.widths > 1) & (column.cells.widths <= room)


@final
@dataclasses.dataclass(frozen=True)
class Look:
    """Which ticks are counted: those of some heavy cells.

    Attributes:
        starts: by column, for each cell the place of its first tick, -1 if it is not looked into;
            each column has a stretch of its own.
        size: how many ticks there are.
        heavy: by column, the cells in which a single value could stand out by itself.
        few: the columns that seem to have few values only.
    """

    starts: dict[int, Index]
    size: int
    heavy: dict[int, NDArray[np.bool_]]
    few: frozenset[int]

    @staticmethod
    def of(histograms: Histograms, columns: tuple[int, ...], *, room: int, noise: float) -> Look:
        """The heaviest cells in which a single value could stand out, as many as find room.

        And of columns that seem to have few values only, the others that are not empty, those
        with most rows for a tick first.  `noise` is the deviation of a count of rows, if all
        columns are looked at.  Where no cell is heavy the heaviest one is looked into: what is
        asked does not depend on any answer.
        """
        found = []
        for place in columns:
            column = number_column(histograms, place)
            mass = histograms.cleaned[place].sum(0)[: column.cells.size]
            widths = column.cells.widths
            found += [
                (-mass[j], place, int(j), int(widths[j]))
                for j in np.flatnonzero(_wide(column, room))
            ]
        chosen: list[tuple[int, int, int]] = []
        taken = 0
        for less, place, cell, width in sorted(found):
            stands_out = -less > sure_among(room) * noise or not chosen
            if stands_out and taken + width <= room:
                chosen.append((place, cell, width))
                taken += width
        heavy: dict[int, NDArray[np.bool_]] = {}
        for place, cell, _ in chosen:
            heavy.setdefault(place, np.zeros(histograms.columns[place].size, bool))[cell] = True
        few = frozenset(place for place in columns if _jagged(histograms, place))
        light = [(less / width, p, cell, width) for less, p, cell, width in found if p in few]
        most = min(room, taken + LIGHT)
        for less, place, cell, width in sorted(light):
            known = place in heavy and heavy[place][cell]
            if not known and -less * width > noise and taken + width <= most:
                chosen.append((place, cell, width))
                taken += width
        starts: dict[int, Index] = {}
        size = 0
        for place, cell, width in sorted(chosen):
            own = starts.setdefault(place, np.full(histograms.columns[place].size, -1))
            own[cell] = size
            size += width
        return Look(starts, size, heavy, few)

    def weights(self, norm: int) -> Index:
        """How much each column of `starts` counts, whose squares fill `norm` squared.

        Those that seem to have few values count more: others are seldom looked into in vain.
        """
        part = np.array([CLOSER if place in self.few else 1 for place in self.starts], np.int64)
        return part * math.floor(norm / math.sqrt(max(int((part**2).sum()), 1)))

    def spans(self) -> list[slice]:
        """Where the ticks of each column of `starts` lie."""
        firsts = [int(own[own >= 0].min()) for own in self.starts.values()]
        return [slice(*ends) for ends in itertools.pairwise([*firsts, self.size])]

    def counted(self, histograms: Histograms) -> int:
        """How many ticks there are in heavy cells."""
        widths = [number_column(histograms, p).cells.widths for p in self.heavy]
        return int(
            sum(w[own[: len(w)]].sum() for w, own in zip(widths, self.heavy.values(), strict=True))
        )


def number_column(histograms: Histograms, place: int) -> NumberColumn:
    """A column that has ticks."""
    column = histograms.columns[place]
    if isinstance(column, CodeColumn):
        raise NacreError("A column with a list of values has no ticks to look at.")
    return column


def _jagged(histograms: Histograms, place: int) -> bool:
    """Whether a number seems to have few values: neighboring wide cells are not alike."""
    cells = number_column(histograms, place).cells
    wide = cells.widths > 1
    noise = float(histograms.pooled[place])
    return jagged(histograms.noisy[place].sum(0)[: cells.size][wide], noise, cells.widths[wide])


def sure_among(counted: int) -> float:
    """So many deviations above zero a count must be among so many: hardly one of noise is."""
    return float(np.sqrt(SURE**2 + 2 * np.log(max(counted, 1))))
