"""The columns that a generator was made for, without believing what a file says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, Column, table_columns
from nacre.schema import Layout

OTHER = "The generator was made for another layout."


def known_columns(
    layout: Layout, label: int | None, most: int, sizes: Sequence[int], classes: int
) -> tuple[Column, ...]:
    """The columns of a layout, if they have these `sizes` and the label has so many classes.

    The numbers of cells are compared before a cell is made, so that columns for which a file
    holds no tables cost nothing.
    """
    values = sum(code.role == "value" for code in layout.codes)
    if label is not None:
        own = layout.codes[label : label + 1]
        if [(code.role, code.size) for code in own] != [("value", classes)]:
            raise NacreError(OTHER)
        values -= 1
    if len(sizes) != len(layout.numbers) + values:
        raise NacreError(OTHER)
    for number, size in zip(layout.numbers, sizes, strict=False):
        if size <= number.ticks < most and number.stretch == 1:  # it has a cell for each tick
            raise NacreError(OTHER)
    found = table_columns(layout, label, most)
    if tuple(column.size for column in found) != tuple(sizes):
        raise NacreError(OTHER)
    return found


def fixed_cells(
    columns: tuple[Column, ...], fixed: Mapping[int, int], label: int | None
) -> dict[int, int]:
    """The fixed codes other than the label's, by column."""
    place = {c.code: k for k, c in enumerate(columns) if isinstance(c, CodeColumn)}
    if any(code != label and code not in place for code in fixed):
        raise NacreError("Only columns with a list of values can be fixed.")
    return {place[code]: value for code, value in fixed.items() if code != label}
