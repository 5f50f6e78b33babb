"""How far off may a histogram be because of noise?  Bands and bounds from noisy counts alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nacre.evaluate.findings.columns import AVOID_TV
from nacre.evaluate.tables.rows import Rows
from nacre.histograms.measurement import MISSING, Measurement
from nacre.publish.bins import Bins, cell_counts, choose_bins, schema_cells
from nacre.publish.distance import MOST, distance_at_least, distance_at_most

CONFIDENCE = 0.95
STRETCHES = 24  # of a number with more cells than a distance can be told in; and one for gaps

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
        stretches: (cells,) where a number has so many cells that noise alone fills the distance,
            the stretch of each, in which all three are meant instead; None for cells.
        cells: of such a number, how many cells there are.
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
    stretches: NDArray[np.int64] | None = None
    cells: int | None = None
    source: str = ""

    @property
    def told_in(self) -> str:
        """In what the distance of a number of many cells is told; nothing for all others."""
        if self.stretches is not None:
            return f"in {int(self.stretches.max()) + 1} stretches"
        return "" if self.cells is None else f"in {self.cells} cells"


def bands(
    rows: Rows, measured: Sequence[tuple[str, Measurement]], fresh: Collection[str] = ()
) -> tuple[Band, ...]:
    """A band for each column; where several releases measured one, from the least noisy.

    Args:
        rows: the synthetic table.
        measured: what was released, each with where it comes from.
        fresh: of these, where noise was drawn after the synthetic table, which knows nothing of it.
    """
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
        found.append(_band(rows, measurement, best, source, fresh=source in fresh))
    return tuple(found)


def _plain(rows: Rows, name: str) -> Band:
    low, high = schema_cells(rows.schema, name)
    counts = cell_counts(rows, name, low, high)
    bins = choose_bins(rows.schema, name, low, high, counts)
    return Band(column=name, bins=bins, synthetic=bins.add_up(counts) / rows.total)


def _band(
    rows: Rows, measurement: Measurement, total: Measurement, source: str, *, fresh: bool
) -> Band:
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
    noise = np.sqrt(bins.add_up(m.variance))
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
    stretches = _stretches(m) if rows.is_number(name) else None
    distance = _distance(counts / rows.total, m, stretches, (n, total.total_noise), fresh=fresh)
    return Band(
        column=name,
        bins=bins,
        synthetic=synthetic,
        measured=noisy / n,
        lower=np.clip((noisy - z * noise) / (n + spread), 0.0, 1.0),
        upper=np.clip((noisy + z * noise) / (n - spread), 0.0, 1.0),
        at_least=distance.at_least,
        at_most=distance.at_most,
        inside=_inside(m, distance.stretches, n - spread, z),
        stretches=distance.stretches,
        cells=None if stretches is None else len(m.counts),
        source=source,
    )


class _Distance(NamedTuple):
    """See `Band`."""

    at_least: float
    at_most: float
    stretches: NDArray[np.int64] | None


def _distance(
    known: Array,
    measurement: Measurement,
    stretches: NDArray[np.int64] | None,
    total: tuple[float, float],
    *,
    fresh: bool,
) -> _Distance:
    """How far off the synthetic shares are: in cells, or in stretches where that says too little.

    Each end has 2% of the 5%, the number of rows (which moves no distance by more) the rest.  Where
    there are stretches, which follow from the schema, either end has 1% in cells and 1% in them, so
    that all four hold at once and the better statement may be chosen: in the cells that were
    counted if they show a difference beyond noise, or leave little room for one.
    """
    m, (n, total_noise) = measurement, total
    slack = float(ndtri(1 - 0.1 * (1 - CONFIDENCE))) * total_noise / n
    tail = 0.4 * (1 - CONFIDENCE)
    cells = np.arange(len(m.counts))
    places = [cells] if stretches is None else [cells, stretches]
    found = []
    for group in places:
        shares, noisy = (
            np.bincount(group, each).astype(np.float64) for each in (known, m.counts / n)
        )
        noise = np.sqrt(np.bincount(group, m.variance)) / n
        part = tail / len(places)
        least = distance_at_least(shares, noisy, noise, tail=part) - slack
        most = distance_at_most(shares, noisy, noise, tail=part, fresh=fresh) + slack
        found.append((max(least, 0.0), min(most, 1.0)))
    enough = found[0][0] > 0 or found[0][1] <= max(AVOID_TV, found[-1][1])
    if stretches is None or enough:
        return _Distance(*found[0], None)
    return _Distance(*found[1], stretches)


def _stretches(measurement: Measurement) -> NDArray[np.int64] | None:
    """Neighboring cells of a number put together until they are few; None if they are already."""
    m = measurement
    known = int((m.low != MISSING).sum())
    if known <= MOST:
        return None
    found = np.arange(len(m.counts)) * STRETCHES // known
    found[m.low == MISSING] = STRETCHES
    return found


def _inside(
    measurement: Measurement, stretches: NDArray[np.int64] | None, rows: float, z: float
) -> float:
    """The largest share of the rows that may lie in cells, or stretches, of several values."""
    wide = measurement.high > measurement.low
    if stretches is not None:
        wide = (np.bincount(stretches) > 1)[stretches] | wide
    noise = z * np.sqrt(measurement.variance[wide].sum())
    return float(np.clip((measurement.counts[wide].sum() + noise) / rows, 0.0, 1.0))


def deviations(count: int) -> float:
    """How many standard deviations hold `count` Gaussians at once with 95% confidence.

    Examples:
        >>> round(deviations(1), 2), round(deviations(20), 2)
        (1.96, 3.02)
    """
    return float(ndtri((1 + CONFIDENCE ** (1 / count)) / 2))
