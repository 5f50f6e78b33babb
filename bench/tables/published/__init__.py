"""The numbers of the papers' tables, as printed, with delta = 1e-5.

DP-CGAN's numbers are those that the authors of DP-MERF and of PEARL measured.
"""

from bench.tables.published import autogan, merf, pearl
from bench.tables.published.cell import AVERAGE, SCORES, STATISTICS, Cell, Table

__all__ = ["AVERAGE", "SCORES", "STATISTICS", "TABLES", "UNCOUNTED", "Cell", "Table"]

TABLES = (*merf.TABLES[:2], *pearl.TABLES, *merf.TABLES[2:], *autogan.TABLES)
UNCOUNTED = (*pearl.METRICS, *autogan.METRICS)
"""Statistics that are compared for orientation only: no winner is declared."""
