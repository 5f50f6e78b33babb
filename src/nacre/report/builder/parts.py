"""What templates are given: cells of tables, drawings, and which color is whose."""

import dataclasses
from collections.abc import Sequence

import markupsafe


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what it says.
        kind: "n" for a number; "n bad", "n doubt" or "n best" for one that is.
        small: what is said below, or after a number.
    """

    text: str
    kind: str | None = None
    small: str = ""


def right(text: str, small: str = "") -> Cell:
    """A number, which stands on the right."""
    return Cell(text, "n", small)


@dataclasses.dataclass(frozen=True)
class DataTable:
    """A head and rows."""

    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]


@dataclasses.dataclass(frozen=True, eq=False)
class Drawing:
    """A figure as SVG.

    Attributes:
        box: the `viewBox` of the image.
        content: what is inside; markup that Matplotlib made.
        label: what it shows, for readers who cannot see it.
    """

    box: str
    content: markupsafe.Markup
    label: str


@dataclasses.dataclass(frozen=True)
class Shades:
    """What the two colors of numbers mean."""

    doubt: str
    bad: str


@dataclasses.dataclass(frozen=True)
class Series:
    """A table, and the color in which it is drawn."""

    name: str
    color: str


REAL = Series("real", "real")
COLORS = 10  # of tables, in the style sheet


def series_of(tables: Sequence[str]) -> dict[str, Series]:
    """The colors of the synthetic tables; there are ten, and then they begin again.

    Examples:
        >>> [series.color for series in series_of(["a", "b"]).values()]
        ['series-1', 'series-2']
    """
    return {name: Series(name, f"series-{place % COLORS + 1}") for place, name in enumerate(tables)}
