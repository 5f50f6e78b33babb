"""Links of three and four columns with the label: chosen privately, counted, and taught.

Pairs say nothing about a label that is the parity of three columns.  So, after all that pairs tell
has been learned, every table of three or four columns is compared with what the model makes of it,
behind the wall and in few bins; the exponential mechanism names the worst (as AIM does), these are
counted, and the label model learns them.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.methods.mosaic.drawn import Drawn
from nacre.methods.mosaic.generator import MosaicGenerator
from nacre.methods.mosaic.tilts import SLOTS, WIDEST
from nacre.rows import Label
from nacre.vault import Bound, Choice, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.marginals import Places
    from nacre.histograms.histograms import Histograms
    from nacre.vault import Vault

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Columns = tuple[int, ...]

ORDERS = 3, 4  # how many columns a table has
COLUMNS = 12  # among which tables are looked for, at most
CHOSEN = 2  # tables
CHOOSING = 0.4  # share of the budget for links of several columns that choosing takes
SHARED = 2  # columns that two chosen tables have in common, at most: or both may show the same link
ROWS = 30_000  # that are compared, at most
SHARE = 0.1  # of the rows that a bin is to hold, at least


def candidates(columns: int) -> list[Columns]:
    """Places of the columns of each table that may be chosen, among so many columns."""
    return [each for order in ORDERS for each in itertools.combinations(range(columns), order)]


def crossed_columns(joined: int, classes: int, values: int) -> int:
    """Among how many columns tables are looked for; 0 if there are too few, or no label."""
    found = min(joined, COLUMNS) if classes > 1 else 0
    while found >= min(ORDERS) and len(candidates(found)) * WIDEST * classes > values:
        found -= 1
    return found if found >= min(ORDERS) else 0


def crossing_questions(columns: int, label: Label, share: float) -> tuple[Choice, Sum]:
    """Which tables of several columns to count, and their counts, by class.

    Sensitivity:
        a row lies in one cell of each table.  Choosing: an L1 norm of one in each block.  Counting:
        `CHOSEN` ones, none negative: add-remove sqrt(CHOSEN), replace-one sqrt(2 CHOSEN).
    """
    names = f"three or four of {columns} columns for each value of '{label.name}'"
    blocks = [
        Segment(size=SLOTS ** len(table), norm=1.0, signed=False) for table in candidates(columns)
    ]
    chosen = Segment(size=CHOSEN * WIDEST, norm=math.sqrt(CHOSEN), signed=False)
    return (
        Choice(
            name="choices of tables",
            meaning=f"which tables of {names} the model gets most wrong",
            bound=Bound(segments=tuple(blocks), by=label),
            share=CHOOSING * share,
            count=CHOSEN,
        ),
        Sum(
            name="chosen tables",
            meaning=f"how many rows lie in each cell of {CHOSEN} chosen tables of {names}",
            bound=Bound(segments=(chosen,), by=label),
            share=(1 - CHOOSING) * share,
        ),
    )


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Columns in few bins, among which tables are looked for.

    Attributes:
        columns: places in the table, increasing.
        bins: (cells,) the bin of every cell of the table, below `SLOTS`.
    """

    columns: Columns
    bins: Index

    @staticmethod
    def of(histograms: Histograms, columns: Sequence[int]) -> Crossing:
        """Bins of these columns from the first release; one bin for the others."""
        found = [np.zeros(column.size, np.int64) for column in histograms.columns]
        for column in columns:
            found[column] = histograms.group(
                column, most=SLOTS, floor=SHARE, rare=SHARE, slots=SLOTS
            )
        return Crossing(tuple(sorted(columns)), np.concatenate(found))

    def named(self, tables: Sequence[Columns]) -> list[Columns]:
        """Tables of places among the `columns` as places in the table."""
        return [tuple(self.columns[place] for place in table) for table in tables]


def learn_crossings(
    vault: Vault,
    questions: tuple[Choice, Sum],
    generator: MosaicGenerator,
    crossing: Crossing,
    places: Places,
    total: float,
    drawn: Drawn,
) -> MosaicGenerator:
    """The generator with a label model that knows the chosen tables, too; `drawn` are its rows."""
    from nacre.embed.blocks import cross_features

    choice, counting = questions
    tables = crossing.named(candidates(len(crossing.columns)))
    generator = dataclasses.replace(generator, coarse=crossing.bins)
    drawn = drawn.first(ROWS)
    cells, chance, scale = drawn.cells, drawn.chances(generator), total / len(drawn.cells)
    found = _tables(generator, cells, tables, chance)
    starts = np.cumsum([0, *(table.shape[1] for table in found)])[:-1]
    choose = vault.choose(choice, cross_features(places, crossing.bins, tables, SLOTS, starts))
    noise = vault.noise(counting)
    # What counting would get wrong by its noise alone (AIM, section 4.2).
    penalties = [math.sqrt(2 / math.pi) * noise * table.size for table in found]
    expected = np.concatenate(found, axis=1) * scale
    known = [p for p, table in enumerate(tables) if all(map(generator.is_joined, table))]
    picked: list[int] = []
    for _ in range(CHOSEN):
        among = [p for p in known if _apart(tables[p], [tables[q] for q in picked])]
        if among:
            picked.append(choose(expected, penalties=penalties, among=among))
    # What was announced is asked, so that whether it was depends on no answer.
    chosen = [tables[place] for place in sorted(picked) or [0]]
    starts = np.arange(len(chosen)) * WIDEST
    sums = vault.sum(counting, cross_features(places, crossing.bins, chosen, SLOTS, starts))
    if not picked:
        return dataclasses.replace(generator, coarse=None)
    counts = [sums.values[:, s : s + SLOTS ** len(t)] for s, t in zip(starts, chosen, strict=True)]
    return _taught(generator, cells, chance, chosen, counts, sums.noise[0], 1 / scale)


def _apart(table: Columns, others: Sequence[Columns]) -> bool:
    return all(len({*table} & {*other}) <= SHARED for other in others)


def _tables(
    generator: MosaicGenerator, cells: Index, tables: Sequence[Columns], chance: Array
) -> list[Array]:
    """What each cell of each table holds of each class, (C, size)."""
    own = {column: generator.crossed(cells, [column])[0] for table in tables for column in table}
    known: dict[Columns, Index] = {(column,): bins for column, bins in own.items()}
    found = []
    for table in tables:
        for end in range(2, len(table)):  # where tables begin alike
            if table[:end] not in known:
                known[table[:end]] = known[table[: end - 1]] * SLOTS + own[table[end - 1]]
        cell, size = known[table[:-1]] * SLOTS + own[table[-1]], SLOTS ** len(table)
        others = [np.bincount(cell, column, size) for column in chance.T[1:]]
        every = np.bincount(cell, minlength=size)  # chances add up to one
        found.append(np.stack([every - np.sum(others, axis=0), *others]))
    return found


def _taught(
    generator: MosaicGenerator,
    cells: Index,
    chance: Array,
    tables: Sequence[Columns],
    counts: Sequence[Array],
    noise: float,
    scale: float,
) -> MosaicGenerator:
    """Tilt the label model as far as the counts say, each table with a prior of its own."""
    from nacre.methods.mosaic.prior import Prior
    from nacre.methods.mosaic.teacher import evidence, gap_deviation, teach

    shares, known = chance.mean(0), []
    for table, noisy in zip(tables, counts, strict=True):
        cell, _ = generator.crossed(cells, table)
        seen = noisy * scale, (max(noise, 1e-3) * scale) ** 2, shares
        each = evidence(cell, *seen, Prior.apart(noisy.shape[1], 1.0), scale)
        deviation = gap_deviation(each, chance)
        if deviation:
            prior = Prior.apart(noisy.shape[1], deviation)
            known.append((table, dataclasses.replace(each, prior=prior)))
    if not known:
        return dataclasses.replace(generator, coarse=None)
    learned = teach(np.log(np.maximum(chance, 1e-9)), [each for _, each in known])
    tilt = np.zeros((len(shares), len(known) * WIDEST), np.float32)
    named = np.full((len(known), max(ORDERS)), -1, np.int64)
    for place, ((table, _), found) in enumerate(zip(known, learned, strict=True)):
        named[place, : len(table)] = table
        tilt[:, place * WIDEST : place * WIDEST + found.shape[1]] = found
    return dataclasses.replace(generator, tables=named, table_tilt=tilt)
