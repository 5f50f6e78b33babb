"""What Mosaic will count: from the schema and the settings, and how finely from the rows' number.

All of it is public but for the number of rows, which may be a noisy one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nacre.histograms.cells import Column, NumberColumn, table_columns
from nacre.methods.mosaic.target import CLASSES, most_classes
from nacre.rows import TableEncoder

if TYPE_CHECKING:
    from nacre.methods.mosaic.mosaic import Mosaic

WIDTH = 10_000  # cells of all columns together, about, in a table of many columns
COARSE = 16  # cells of a number that are counted in any table


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    Attributes:
        most: cells of a number.
        joined: at most so many columns are counted in pairs.
        by_class: whether pairs are counted for each class, or over all of them.
        size: room for the second release's counts, in each class.
        crossed: among how many columns tables of three and four are looked for.
        classes: of the label, at most.
        target: the column that is a numeric label, if there is one.
    """

    columns: tuple[Column, ...]
    most: int
    joined: int
    by_class: bool
    size: int
    crossed: int
    classes: int
    target: int | None

    @property
    def wide(self) -> bool:
        """Whether there are more columns than pairs can be counted of."""
        return len(self.columns) - (self.target is not None) > self.joined

    @property
    def adapts(self) -> bool:
        """Whether a number has so many cells that a small table is better seen through fewer.

        A numeric label has been cut into classes by then, by its finest cells.
        """
        return self.target is None and any(
            isinstance(column, NumberColumn) and column.cells.size > COARSE
            for column in self.columns
        )

    def resolved(self, encoder: TableEncoder, rows: float, noise: float) -> Design:
        """The same with so few cells of a number that among so many rows one holds its noise.

        Of all classes together, in the mean; `noise` is that of one count in one class.  In finer
        cells of a small table there would be nothing but noise, which adds up wherever many of them
        are taken together.
        """
        seen = rows / (noise * math.sqrt(self.classes)) if noise else math.inf
        most = int(min(self.most, max(COARSE, seen)))
        columns = table_columns(encoder.layout, encoder.place(encoder.label), most)
        if sum(column.size for column in columns) > sum(column.size for column in self.columns):
            return self  # spikes may make cells of a number with few values even more
        return dataclasses.replace(self, columns=columns, most=most)


def design_of(method: Mosaic, encoder: TableEncoder) -> Design:
    """What will be counted, at most."""
    layout, label = encoder.layout, encoder.place(encoder.label)
    values = sum(code.role == "value" for code in layout.codes)
    # Numbers come first among the columns; a label alone has nothing to be told from.
    target = encoder.target if len(layout.numbers) + values > 1 else None
    classes = 1 if label is None else layout.codes[label].size
    if target is not None:
        classes = CLASSES + 1
    # Noise grows with the number of columns: wide tables are better seen through few cells.
    width = max(len(layout.numbers) + len(layout.codes), 1)
    room = min(WIDTH // width, method.values // (classes * max(len(layout.numbers), 1)))
    most = min(method.cells, max(COARSE, room))
    columns = table_columns(layout, label, most)
    if target is not None:
        classes = most_classes(columns[target])
    others = [column for place, column in enumerate(columns) if place != target]
    joined = min(method.columns, len(others))
    # Pairs are counted by class if four bins of every column that may be joined find room.
    # The classes of a number are many and alike: its pairs are counted over all of them.
    by_class = target is None and classes * _room(others, joined, 4) <= method.values
    room = method.values // (classes if by_class else 1)
    size = min(_room(others, len(others), method.bins), room)
    if target is not None:  # its classes are counted with each of the others
        from nacre.methods.mosaic.counting import labeled_bins

        size += classes * sum(labeled_bins(others, method.bins))
    from nacre.methods.mosaic.crossing import crossed_columns

    taught = method.several > 0 and method.teacher > 0 and by_class
    crossed = crossed_columns(joined, classes, method.values) if taught else 0
    return Design(columns, most, joined, by_class, size, crossed, classes, target)


def _room(columns: Sequence[Column], joined: int, bins: int) -> int:
    """How many values bins of all columns and pairs of the `joined` widest can need."""
    slots = [min(column.size, bins + bins // 2 + column.nullable) for column in columns]
    wide = sorted(slots)[-joined:]
    return (sum(wide) ** 2 - sum(s * s for s in wide)) // 2 + sum(slots)
