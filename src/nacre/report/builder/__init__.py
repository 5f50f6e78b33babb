"""How a page is made: templates that escape what a schema brings, and what they are given."""

from nacre.report.builder.page import Chapter, Page, build, environment, fill
from nacre.report.builder.parts import Cell, DataTable, Drawing, Series, Shades, right, series_of

__all__ = [
    "Cell",
    "Chapter",
    "DataTable",
    "Drawing",
    "Page",
    "Series",
    "Shades",
    "build",
    "environment",
    "fill",
    "right",
    "series_of",
]
