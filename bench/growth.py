"""What Mosaic costs as tables grow: fit and draw, by columns and by rows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import cost
from bench.made import hanging_together
from nacre.fit import fit

RESULTS = Path(__file__).parent / "results" / "growth.json"


def mosaic(rows: int, columns: int) -> None:
    """Fit at (1, 1e-7) and draw as many rows; the last column is the label."""
    table, schema = hanging_together(rows, columns, seed=0, label=True)
    model = fit(table, schema, method="mosaic", epsilon=1, delta=1e-7, seed=0)
    model.sample_arrow(rows, seed=0)


CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    **{
        f"columns-{columns}": (
            f"20,000 rows, {columns:,} columns",
            partial(mosaic, 20_000, columns),
        )
        for columns in (10, 50, 200, 1000)
    },
    **{
        f"rows-{rows}": (f"{rows:,} rows, 20 columns", partial(mosaic, rows, 20))
        for rows in (10_000, 100_000, 1_000_000)
    },
}


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    cost.main("growth", CASES, RESULTS, arguments)
