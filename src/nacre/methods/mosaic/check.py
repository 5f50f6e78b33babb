"""Whether the parts of a Mosaic generator that came from a file fit together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import Calendars
from nacre.histograms.columns import known_columns
from nacre.histograms.heaps import Heaps
from nacre.histograms.measured import one_noise_each
from nacre.histograms.tied import check_bins
from nacre.methods.mosaic.tilts import SLOTS, WIDEST

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator

TOLERANCE = 1e-3
FAINTEST, LOUDEST = 1e-30, 1e30  # noise of a count, if it has any: its square is a number, too


def check(generator: MosaicGenerator) -> None:
    """Raise ValueError unless sampling is well defined, whatever the file said."""
    g, cells, classes = generator, sum(generator.sizes), generator.weights.shape[1]
    # First, as then there are no more columns than the schema has, nor more cells than theirs.
    known_columns(g.layout, g.label, g.most, g.sizes, classes)
    if not g.sizes or g.bins.shape != (cells,):
        raise NacreError("The columns of the mosaic have other sizes than its tables.")
    if not g.weights.sum(dtype=np.float64) > 0:
        raise NacreError("The mosaic's weights are all zero.")
    if g.counts is not None and not one_noise_each(g.noise, len(g.sizes)):
        raise NacreError("The mosaic has noise of other counts than it was made from.")
    _check_noise(g)
    _check_bins(g, g.components.shape[1])
    joined = _check_pairs(g, classes)
    _check_tables(g, joined)
    _check_kept(g)
    _check_target(g)
    check_bins(g.layout, [g.group(column) for column in range(len(g.sizes))])
    Atoms(g.atoms, g.atom_shares).check(g.layout, g.sizes)
    Heaps(g.heaps, g.heap_weights).check(g.layout)
    Calendars(g.dates, g.date_weights).check(g.layout)


def _check_target(g: MosaicGenerator) -> None:
    """A numeric label is a loose column whose cells belong to classes, in order."""
    if (g.target is None) != (g.target_classes is None):
        raise NacreError("The mosaic has a numeric label without its classes.")
    if g.target is None or g.target_classes is None:
        return
    if g.label is not None or g.target >= len(g.layout.numbers) or g.is_joined(g.target):
        raise NacreError("The mosaic's numeric label is no number, or not its only label.")
    classes, count = g.target_classes, g.weights.shape[1]
    if classes.shape != (g.sizes[g.target],) or not np.array_equal(
        np.unique(classes), np.arange(count)
    ):
        raise NacreError("The mosaic's numeric label has other classes than its mixture.")
    if (np.diff(classes) < 0).any():
        raise NacreError("The classes of the mosaic's numeric label are not in order.")


def _check_noise(g: MosaicGenerator) -> None:
    """Noise is none or such that precisions, one over its square, can be added up."""
    for noise in (g.noise, g.whole_noise, g.pair_noise, g.whole_pair_noise):
        some = noise[noise != 0] if noise is not None else np.zeros(0)
        if some.size and not FAINTEST <= some.min() <= some.max() <= LOUDEST:
            raise NacreError("The mosaic's counts have hardly any noise, or nothing but noise.")


def _check_kept(g: MosaicGenerator) -> None:
    """The second release is of all pairs of joined columns, by class or over all classes."""
    if (g.pair_counts is None) != (g.pair_noise is None):
        raise NacreError("The mosaic keeps counts of pairs without their noise.")
    _check_whole(g)
    if (g.whole_pair_counts is None) != (g.whole_pair_noise is None):
        raise NacreError("The mosaic keeps counts of pairs of all rows without their noise.")
    if g.whole_pair_counts is not None and (g.pair_counts is None or len(g.pair_counts) == 1):
        raise NacreError("The mosaic keeps counts of pairs of all rows without those by class.")
    if g.pair_counts is None or g.pair_noise is None:
        return
    number, size = pairs_of([g.width(c) for c in range(len(g.sizes)) if g.is_joined(c)])
    classes = g.weights.shape[1]
    if g.pair_noise.shape != (number,) or not (g.pair_noise > 0).all():
        raise NacreError("The mosaic keeps noise of other pairs than it counted.")
    if g.pair_counts.shape not in ((classes, size), (1, size)):
        raise NacreError("The mosaic keeps counts of other pairs than it joined.")
    if g.whole_pair_counts is None or g.whole_pair_noise is None:
        return
    if g.whole_pair_noise.shape != (number,) or g.whole_pair_counts.shape != (size,):
        raise NacreError("The mosaic keeps counts of all rows of other pairs than it joined.")


def pairs_of(widths: Sequence[int]) -> tuple[int, int]:
    """How many pairs of columns there are and how many cells these have, without a list of them.

    Examples:
        >>> pairs_of([2, 3, 4])
        (3, 26)
    """
    number, total = len(widths), sum(widths)
    return number * (number - 1) // 2, (total**2 - sum(width**2 for width in widths)) // 2


def _check_whole(g: MosaicGenerator) -> None:
    """Histograms of all rows stand beside those by class, both with noise or none."""
    if g.whole_counts is None:
        if g.whole_noise.size:
            raise NacreError("The mosaic keeps noise of all rows without their counts.")
        return
    if g.counts is None or len(g.counts) == 1:
        raise NacreError("The mosaic keeps counts of all rows without those by class.")
    noises = np.concatenate([g.noise, g.whole_noise])
    if g.whole_noise.shape != g.noise.shape or not one_noise_each(noises, len(noises)):
        raise NacreError("The mosaic has noise of other counts of all rows than it was made from.")


def _check_tables(g: MosaicGenerator, joined: list[bool]) -> None:
    """Tables of three or four different joined columns, with bins and coefficients for each."""
    if not len(g.tables):
        return
    if g.trust is None or g.coarse is None or g.coarse.max() >= SLOTS:
        raise NacreError("The mosaic has tables of several columns without their bins.")
    if g.table_tilt.shape != (g.weights.shape[1], len(g.tables) * WIDEST):
        raise NacreError("The mosaic's tables of several columns have other sizes.")
    for table in g.tables.tolist():
        named = [column for column in table if column >= 0]
        if len({*named}) != len(named) or not all(c < len(joined) and joined[c] for c in named):
            raise NacreError("A table of the mosaic names a column that is not there.")


def _check_bins(g: MosaicGenerator, bins: int) -> None:
    """Joined columns own consecutive stretches of bins, all of them used, each with some mass."""
    done, start = 0, 0
    for size in g.sizes:
        own, inside = g.bins[start : start + size], g.inside[:, start : start + size]
        start += size
        if (own == -1).all():
            if np.abs(inside.sum(1) - 1).max() > TOLERANCE:
                raise NacreError("A column of the mosaic does not add up to one.")
            continue
        used = np.unique(own)
        if not np.array_equal(used, done + np.arange(len(used))):
            raise NacreError("The bins of the mosaic are not consecutive.")
        top = done + len(used)
        for row in inside:
            if np.abs(np.bincount(own - done, row) - 1).max() > TOLERANCE:
                raise NacreError("A bin of the mosaic does not add up to one.")
        if top > bins or not (g.components[:, done:top].sum(1) > 0).all():
            raise NacreError("A component of the mosaic has no probability.")
        done = top
    if done != bins:
        raise NacreError("The mosaic has bins that no column owns.")


def _check_pairs(g: MosaicGenerator, classes: int) -> list[bool]:
    """Which columns are joined; the tables of pairs must be theirs."""
    joined, widths, start = [], [], 0
    for size in g.sizes:
        own = g.bins[start : start + size]
        joined.append(bool(own[0] >= 0))
        widths.append(int(own.max() - own.min()) + 1)
        start += size
    if g.trust is not None and not any(joined):
        raise NacreError("The mosaic has a teacher but no column that it could look at.")
    _check_finer(g, joined)
    for what, named, found in (("teacher", g.pairs, g.pair_tilt), ("links", g.links, g.linked)):
        total = 0
        for left, right in named.tolist():
            if not (0 <= left < len(joined) and 0 <= right < len(joined)):
                raise NacreError(f"The mosaic's {what} names a column that is not there.")
            if not (joined[left] and joined[right]):
                raise NacreError(f"The mosaic's {what} pairs a loose column.")
            total += widths[left] * widths[right]
        if found.shape != ((classes, total) if named is g.pairs else (total,)):
            raise NacreError(f"The mosaic's {what} has tables of other pairs.")
    return joined


def _check_finer(g: MosaicGenerator, joined: list[bool]) -> None:
    """Tables of pairs of cells are of two different joined columns each, and as large as these."""
    size = 0
    for left, right in g.finer.tolist():
        if left == right or not all(c < len(joined) and joined[c] for c in (left, right)):
            raise NacreError("The mosaic has pairs of values of a column that is not there.")
        size += g.sizes[left] * g.sizes[right]
    if g.finer_shares.shape != (size,):
        raise NacreError("The mosaic has pairs of values of other columns.")
