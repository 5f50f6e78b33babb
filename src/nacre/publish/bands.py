"""How far off may a histogram be because of noise?  Bands and bounds from noisy counts alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nacre.evaluate.tables.rows import Rows
from nacre.histograms.measurement import Measurement
from nacre.publish.bins import Bins, cell_counts, choose_bins, schema_cells
from nacre.publish.distance import distance_at_least, distance_at_most

CONFIDENCE = 0.95

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """One column of the synthetic table, and where the private table's histogram lies.

    Attributes:
        column: its name.
        bins: what is counted.
        synthetic: the share of the synthetic rows in each bin.
        measured: the private share in each bin, with noise; None if nothing was measured.
        lower: the lower end of the band for each bin.
        upper: the upper end. With 95% confidence the whole private histogram is in between.
        at_least: with 95% confidence at least this share of the rows is in the wrong cell.
        at_most: and at most this share.  Cells are what was counted; a bin may hold several.
        inside: at most this share of the private rows lies in cells of several values, and where
            in them it lies nobody has counted: a value that many rows share may be lost there.
        source: the release that it rests on.
    """

    column: str
    bins: Bins
    synthetic: Array
    measured: Array | None = None
    lower: Array | None = None
    upper: Array | None = None
    at_least: float | None = None
    at_most: float | None = None
    inside: float | None = None
    source: str = ""


def bands(rows: Rows, measured: Sequence[tuple[str, Measurement]]) -> tuple[Band, ...]:
    """A band for each column; where several releases measured one, from the least noisy."""
    found = []
    for name in rows.names:
        mine = [(source, m) for source, m in measured if m.column == name]
        if not mine:
            found.append(_plain(rows, name))
            continue
        source, measurement = min(mine, key=lambda pair: pair[1].total_noise)
        # The number of rows is read off the column that tells it best, of the same release only:
        # another may have been of other rows.
        totals = [m for other, m in measured if other == source]
        best = min(totals, key=lambda m: m.total_noise)
        found.append(_band(rows, measurement, best, source))
    return tuple(found)


def _plain(rows: Rows, name: str) -> Band:
    low, high = schema_cells(rows.schema, name)
    counts = cell_counts(rows, name, low, high)
    bins = choose_bins(rows.schema, name, low, high, counts)
    return Band(column=name, bins=bins, synthetic=bins.add_up(counts) / rows.total)


def _band(rows: Rows, measurement: Measurement, total: Measurement, source: str) -> Band:
    """The band of one column.

    With c the private counts, n their sum, e the noise: the share c_j / n lies between
    (c_j + e_j - z s_j) / (n + e - z s) and so on unless some |e_j| > z s_j or |e| > z s, and by
    Šidák's inequality (1967), which holds for Gaussians however they hang together, that has a
    chance of at most 1 - (2 Phi(z) - 1)^(cells + 1).  All cells count, also where a bin is drawn
    for several: which are joined was chosen after the noise was drawn.
    """
    m, name = measurement, measurement.column
    counts = cell_counts(rows, name, m.low, m.high)
    bins = choose_bins(rows.schema, name, m.low, m.high, counts)
    synthetic = bins.add_up(counts) / rows.total
    noisy = bins.add_up(m.counts)
    noise = m.noise * np.sqrt(np.bincount(bins.group, minlength=len(bins.names)))
    z = deviations(len(m.counts) + 1)
    n, spread = total.total, z * total.total_noise
    if n <= 2 * spread:  # a table of so few rows is all noise
        nothing, all_ = np.zeros(len(noisy)), np.ones(len(noisy))
        return Band(
            column=name,
            bins=bins,
            synthetic=synthetic,
            measured=None,
            lower=nothing,
            upper=all_,
            at_least=0.0,
            at_most=1.0,
            inside=float((m.high > m.low).any()),
            source=source,
        )
    shares = noisy / n
    # Each end has 2% of the 5%, the number of rows (which moves no distance by more) the rest.
    # In the cells that were counted, not in the fewer bins that are drawn: what is wrong between
    # the cells of a bin is wrong.
    cells = np.full(len(m.counts), float(m.noise))
    known = (counts / rows.total, m.counts / n, cells / n)
    slack = float(ndtri(1 - 0.1 * (1 - CONFIDENCE))) * total.total_noise / n
    tail = 0.4 * (1 - CONFIDENCE)
    return Band(
        column=name,
        bins=bins,
        synthetic=synthetic,
        measured=shares,
        lower=np.clip((noisy - z * noise) / (n + spread), 0.0, 1.0),
        upper=np.clip((noisy + z * noise) / (n - spread), 0.0, 1.0),
        at_least=max(distance_at_least(*known, tail=tail) - slack, 0.0),
        at_most=min(distance_at_most(*known, tail=tail) + slack, 1.0),
        inside=_inside(m, n - spread, z),
        source=source,
    )


def _inside(measurement: Measurement, rows: float, z: float) -> float:
    """The largest share of the rows that may lie in cells of several values."""
    wide = measurement.high > measurement.low
    noise = z * measurement.noise * np.sqrt(np.count_nonzero(wide))
    return float(np.clip((measurement.counts[wide].sum() + noise) / rows, 0.0, 1.0))


def deviations(count: int) -> float:
    """How many standard deviations hold `count` Gaussians at once with 95% confidence.

    Examples:
        >>> round(deviations(1), 2), round(deviations(20), 2)
        (1.96, 3.02)
    """
    return float(ndtri((1 + CONFIDENCE ** (1 / count)) / 2))
