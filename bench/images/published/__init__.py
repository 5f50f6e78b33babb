"""The papers' numbers for MNIST and Fashion-MNIST, as printed, each with its source."""

from bench.images.published import functional, imagebench, merf, pearl
from bench.images.published.row import Row

__all__ = ["ROWS", "Row"]

ROWS: tuple[Row, ...] = (*functional.ROWS, *pearl.ROWS, *merf.ROWS, *imagebench.ROWS)
