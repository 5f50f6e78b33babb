"""Whether the parts of a Mosaic generator that came from a file fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nacre.errors import NacreError
from nacre.histograms.columns import check_most

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator

TOLERANCE = 1e-3


def check(generator: MosaicGenerator) -> None:
    """Raise ValueError unless sampling is well defined, whatever the file said."""
    g = generator
    check_most(g.most)
    if min(g.sizes, default=0) < 1 or not (g.trust is None or 0 <= g.trust <= 1):
        raise NacreError("The settings of the mosaic are out of range.")
    cells, bins = sum(g.sizes), g.components.shape[-1]
    classes = g.weights.shape[-1]
    wanted = {
        "components": (len(g.weights), bins),
        "weights": (len(g.components), classes),
        "bins": (cells,),
        "inside": (classes, cells),
        "tilt": (classes, cells),
        "pairs": (len(g.pairs), 2),
        "links": (len(g.links), 2),
    }
    wrong = [name for name, shape in wanted.items() if getattr(g, name).shape != shape]
    if wrong or classes < 1 or not len(g.weights):
        raise NacreError(f"Tables of the mosaic have shapes that do not agree: {wrong}.")
    for name in ("components", "weights", "inside", "tilt", "pair_tilt", "linked"):
        table = getattr(g, name)
        if not np.isfinite(table).all() or ("tilt" not in name and (table < 0).any()):
            raise NacreError(f"The table '{name}' of the mosaic holds something else.")
    if not g.weights.sum() > 0:
        raise NacreError("The mosaic's weights are all zero.")
    if g.counts.size and (g.counts.shape != (classes, cells) or not 0 < g.noise < np.inf):
        raise NacreError("The counts that the mosaic was made from do not fit its columns.")
    if not np.isfinite(g.counts).all():
        raise NacreError("The counts that the mosaic was made from hold something else.")
    _check_bins(g, bins)
    _check_pairs(g, classes)


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


def _check_pairs(g: MosaicGenerator, classes: int) -> None:
    joined, widths, start = [], [], 0
    for size in g.sizes:
        own = g.bins[start : start + size]
        joined.append(bool(own[0] >= 0))
        widths.append(int(own.max() - own.min()) + 1)
        start += size
    if g.trust is not None and not any(joined):
        raise NacreError("The mosaic has a teacher but no column that it could look at.")
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
