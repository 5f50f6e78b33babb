"""The tables that Mosaic released, kept in the model as they left the vault."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import Column, table_columns
from nacre.histograms.crosstable import Axis, CrossTable, column_axis, label_axis, single_tables
from nacre.histograms.measured import measured
from nacre.histograms.measurement import Measurement

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator
    from nacre.methods.mosaic.learn import Loose, Pairs

Index = NDArray[np.int64]
HISTOGRAMS, PAIRS = "histograms", "pairs of columns"  # the names of releases that may be kept
WHOLE = "histograms of all rows"
MOST = 4_000_000  # counts that a model file keeps


def with_tables(generator: MosaicGenerator, pairs: Pairs, loose: Loose) -> MosaicGenerator:
    """The generator with the second release in it, if that is to be kept.

    Where there are loose columns, rows with many unusual values are clipped, and their pairs with
    them: such counts are no longer those of the table.  Counts without noise are nobody else's.
    """
    by_class, *whole = pairs.released or (pairs,)
    if loose.tables or not generator.noise.any():
        return generator
    kept: dict[str, Any] = {"pair_counts": _flat(by_class), "pair_noise": _noise(by_class)}
    for each in whole:
        kept |= {"whole_pair_counts": _flat(each)[0], "whole_pair_noise": _noise(each)}
    if sum(part.size for part in kept.values()) > MOST:
        return generator
    return dataclasses.replace(generator, **kept)


def _flat(pairs: Pairs) -> NDArray[np.float32]:
    """All tables beside each other, (C or 1, sum of their sizes)."""
    flat = [table.reshape(len(table), -1) for table in pairs.tables.values()]
    return np.concatenate(flat, axis=1).astype(np.float32)


def _noise(pairs: Pairs) -> NDArray[np.float32]:
    """The deviation of one count of each table; 0 where none was made."""
    noise = np.array([pairs.noise[key] for key in pairs.tables], np.float32)
    return np.where(np.isfinite(noise), noise, np.float32(0))


def measured_histograms(generator: MosaicGenerator) -> tuple[Measurement, ...]:
    """The histograms of the first release, if they are kept."""
    g = generator
    if g.counts is None:
        return ()
    columns = table_columns(g.layout, g.label, g.most)
    found = measured(g.counts, g.noise, columns, g.layout, g.label)
    if g.whole_counts is not None:
        whole = measured(g.whole_counts[None], g.whole_noise, columns, g.layout, None)
        both = [each.averaged(other) for each, other in zip(found, whole, strict=False)]
        found = (*both, *found[len(both) :])
    if g.target is None or g.target_classes is None or not found:
        return found
    # Of a numeric label only its own class was counted in each cell; the rest is noise.
    start, own = sum(g.sizes[: g.target]), np.arange(len(g.target_classes))
    counts = g.counts[g.target_classes, start + own].astype(np.float64)
    kept = dataclasses.replace(found[g.target], counts=counts, noise=float(g.noise[g.target]))
    if g.whole_counts is not None:
        kept = kept.averaged(whole[g.target])
    return (*found[: g.target], kept, *found[g.target + 1 :])


def released_tables(generator: MosaicGenerator) -> tuple[CrossTable, ...]:
    """Each column with the label, then each pair of joined columns, with the label where it was."""
    g, layout = generator, generator.layout
    if g.counts is None:
        return ()
    columns = table_columns(layout, g.label, g.most)
    if g.target is None or g.target_classes is None:
        found = list(single_tables(g.counts, g.noise, columns, layout, g.label))
    else:
        found = _by_target(g, columns, g.target, g.target_classes)
    if g.whole_counts is not None:
        whole = single_tables(g.whole_counts[None], g.whole_noise, columns, layout, None)
        # A numeric label's own cells are among the others already.
        found += [table for place, table in enumerate(whole) if place != g.target]
    if g.pair_counts is None or g.pair_noise is None:
        return tuple(found)
    found += _pairs(g, columns, g.pair_counts, g.pair_noise)
    if g.whole_pair_counts is not None and g.whole_pair_noise is not None:
        found += _pairs(g, columns, g.whole_pair_counts[None], g.whole_pair_noise)
    return tuple(found)


def _pairs(
    g: MosaicGenerator,
    columns: tuple[Column, ...],
    every: NDArray[np.float32],
    noises: NDArray[np.float32],
) -> Iterator[CrossTable]:
    """Each pair of joined columns that was counted, with the label where it was."""
    layout = g.layout
    start, first = 0, label_axis(layout, g.label) if len(every) > 1 else ()
    for (i, j), noise in zip(joined_pairs(g), noises.tolist(), strict=True):
        axes = (*first, *(column_axis(columns[c], layout, g.group(c)) for c in (i, j)))
        size = axes[-1].size * axes[-2].size
        counts = every[:, start : start + size].astype(np.float64)
        start += size
        table = counts.reshape([axis.size for axis in axes])
        if noise:
            yield CrossTable(axes, table, np.full(table.shape, noise))


def _by_target(
    g: MosaicGenerator, columns: tuple[Column, ...], target: int, classes: Index
) -> list[CrossTable]:
    """Each column with the classes of a numeric label, and that label's own cells.

    The classes were cut by an earlier release, whose noise is not in these counts.
    """
    if g.counts is None or not g.noise.any():
        return []
    counts, found = g.counts.astype(np.float64), []
    parts = np.split(counts, np.cumsum(g.sizes)[:-1], axis=1)
    first = column_axis(columns[target], g.layout, classes)
    for place, (column, part) in enumerate(zip(columns, parts, strict=True)):
        axes: tuple[Axis, ...] = (first, column_axis(column, g.layout))
        if place == target:  # a cell lies in one class only
            axes, part = axes[1:], part[classes, np.arange(len(classes))]
        found.append(CrossTable(axes, part, np.full(part.shape, g.noise[place])))
    return found


def kept_names(generator: MosaicGenerator) -> tuple[str, ...]:
    """The releases whose answers the generator keeps."""
    g = generator
    kept = {HISTOGRAMS: g.counts, WHOLE: g.whole_counts, PAIRS: g.pair_counts}
    return tuple(name for name, counts in kept.items() if counts is not None)


def joined_pairs(generator: MosaicGenerator) -> list[tuple[int, int]]:
    """All pairs of joined columns, in the order of their tables."""
    joined = filter(generator.is_joined, range(len(generator.sizes)))
    return list(itertools.combinations(joined, 2))
