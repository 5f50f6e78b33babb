"""Released tables in the form that Private-PGM (the package `mbi`) estimates models from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.histograms.crosstable import Axis, CrossTable


def as_measurements(tables: Sequence[CrossTable]) -> tuple[Any, list[Any]]:
    """`mbi.Domain` and a list of `mbi.LinearMeasurement`; a column has one set of bins in all.

    Where a column has coarser bins in some tables, the others are left out (`together`).
    """
    from nacre.methods.graphical.fit import require_mbi

    mbi = require_mbi()
    axes: dict[str, Axis] = {}
    for axis in (axis for table in tables for axis in table.axes):
        known = axes.get(axis.column)
        axes[axis.column] = axis if known is None or axis.size < known.size else known
    if not axes:
        raise NacreError("The model keeps no counts: there is nothing to give to mbi.")
    domain = mbi.Domain(tuple(axes), tuple(axis.size for axis in axes.values()))
    found = []
    for table in tables:
        if table.has([axes[name] for name in table.columns]):
            values = np.asarray(table.counts, np.float64).ravel()
            found.append(mbi.LinearMeasurement(values, table.columns, table.noise.ravel()))
    return domain, found
