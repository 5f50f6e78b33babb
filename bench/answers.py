"""How often intervals of released tables hold the private counts: many fits of one table."""

import argparse

import numpy as np

from bench.made import hanging_together
from nacre.evaluate.tables.rows import Rows
from nacre.fit import fit
from nacre.histograms.crosstable import Axis, CrossTable, together
from nacre.histograms.measurement import MISSING
from nacre.methods.mosaic.mosaic import Mosaic

EVERY = 20  # fits after which the shares so far are printed
KINDS = ("one column and the label", "two columns and the label", "one column, all tables")


def true_counts(rows: Rows, axes: tuple[Axis, ...]) -> np.ndarray:
    """The private table's own counts in the bins of a released one."""
    places = []
    for axis in axes:
        if not rows.is_number(axis.column):
            places.append(axis.group[rows.bin(axis.column).codes])
            continue
        ticks = rows.ticks[rows.schema.layout.number(axis.column)].astype(np.int64)
        cell = np.searchsorted(axis.high[axis.low != MISSING], ticks)
        missing = rows.missing(axis.column)
        if missing is not None:
            cell = np.where(missing, len(axis.low) - 1, cell)
        places.append(axis.group[cell])
    found = np.zeros([axis.size for axis in axes])
    np.add.at(found, tuple(places), 1)
    return found


def held(table: CrossTable, rows: Rows) -> tuple[int, int]:
    """In how many cells a 95% interval holds the true count, of how many; not cut off at zero."""
    inside = np.abs(table.counts - true_counts(rows, table.axes)) <= 1.959964 * table.noise
    return int(inside.sum()), inside.size


def main(arguments: list[str]) -> None:
    """Print the share of intervals that held, by kind of table."""
    parser = argparse.ArgumentParser(prog="python -m bench answers")
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--rows", type=int, default=4000)
    options = parser.parse_args(arguments)
    table, schema = hanging_together(options.rows, 6, seed=0, label=True)
    rows, hits = Rows.narrow(schema, schema.encode(table)), np.zeros((3, 2))
    method = Mosaic(fits=1, components=4, steps=4, teacher=0)
    for seed in range(options.fits):
        model = fit(table, schema, method=method, epsilon=1, delta=1e-6, seed=seed, bad_rows="zero")
        for each in model.released:
            hits[len(each.axes) - 2] += held(each, rows)
        for name in schema.names:
            found = together(model.released, (name,))
            hits[2] += held(found, rows) if found else (0, 0)
        if (seed + 1) % EVERY == 0 or seed + 1 == options.fits:
            print(f"{seed + 1} fits")
            for kind, (inside, cells) in zip(KINDS, hits, strict=True):
                print(f"{kind:30}{inside / cells:8.1%} of {int(cells):,} intervals held")
            print(flush=True)
