"""How often what a public page says is true: many fits of a table with spikes inside cells.

Each statement is held against the private rows.  Of each column: the band holds the private
histogram in all bins at once; the share of rows in wrong cells lies between the two ends that are
named; no more rows than said lie in cells of several values.  Of the page: no column is called
right, without a word of cells, whose single values are farther off than it says.
"""

import argparse
import collections

import numpy as np
import pandas as pd

from nacre.evaluate.findings.columns import AVOID_TV
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows
from nacre.fit import fit
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.model import Model
from nacre.publish import Band, publish
from nacre.publish.bins import cell_counts
from nacre.publish.findings import hidden
from nacre.schema import Categorical, Integer, Real, Schema

SCHEMA = Schema(
    {
        "paid": Integer(low=0, high=20_000),
        "hours": Integer(low=0, high=168, nullable=True),
        "score": Real(low=-50, high=50, decimals=1),
        "kind": Categorical(values=tuple("abcdefgh")),
        "label": Categorical(values=("no", "yes")),
    },
    label="label",
)
EVERY = 10  # fits after which the counts so far are printed
# Nothing looks for single values here, so spikes are lost, which a page must not hide.
METHOD = Mosaic(fits=1, components=4, steps=4, teacher=0, single=0, heaps=0, several=0, bins=4)


def spiked(rows: int, seed: int) -> pd.DataFrame:
    """Half of what was paid is 1,249, a third of the hours 37: no cell of either is that alone."""
    rng = np.random.default_rng(seed)
    paid = np.where(rng.random(rows) < 0.5, 1249, rng.gamma(2, 900, rows).round())
    hours = np.where(rng.random(rows) < 0.3, 37, rng.normal(40, 20, rows).round()).clip(0, 168)
    yes = rng.random(rows) < np.where(paid == 1249, 0.7, 0.2)
    return pd.DataFrame(
        {
            "paid": paid.clip(0, 20_000).astype(int),
            "hours": np.where(rng.random(rows) < 0.1, np.nan, hours),
            "score": rng.normal(0, 10, rows).round(1).clip(-50, 50),
            "kind": rng.choice([*"abcdefgh"], rows, p=np.arange(8, 0, -1) / 36),
            "label": np.where(yes, "yes", "no"),
        }
    )


def statements(model: Model, private: Rows, seed: int) -> dict[str, list[bool]]:
    """What the page of a model says, by kind, and whether it is so."""
    page = publish(model, rows=len(private), seed=seed)
    told: dict[str, list[bool]] = collections.defaultdict(list)
    said = [band for band in page.bands if band.at_most is not None]
    fine = [b for b in said if not hidden(b) and (b.at_most or 0) <= AVOID_TV]
    for band in said:
        mine = [m for m in model.measurements if m.column == band.column]
        cells = min(mine, key=lambda m: m.total_noise)
        ends = cells.low, cells.high
        here, there = (
            cell_counts(rows, band.column, *ends) / len(rows) for rows in (private, page.table.rows)
        )
        for kind, holds in _held(band, here, there, cells.high > cells.low):
            told[f"{kind}: {band.column}"].append(holds)
    claim = max((band.at_most or 0.0 for band in fine), default=1.0)
    off = [_apart(private, page.table.rows, band.column) for band in fine]
    told["called right, and so it is"].append(all(each <= claim for each in off))
    return told


def _held(
    band: Band, here: np.ndarray, there: np.ndarray, wide: np.ndarray
) -> list[tuple[str, bool]]:
    shares = band.bins.add_up(here)
    if band.stretches is not None:
        wide = wide | (np.bincount(band.stretches) > 1)[band.stretches]
        apart = np.bincount(band.stretches, here - there)
    else:
        apart = here - there
    off = float(np.abs(apart).sum() / 2)
    lower, upper = np.asarray(band.lower), np.asarray(band.upper)
    hair = 1e-9
    return [
        ("band", bool(((lower <= shares + hair) & (shares <= upper + hair)).all())),
        ("distance", (band.at_least or 0.0) - hair <= off <= (band.at_most or 0.0) + hair),
        ("inside cells", float(here[wide].sum()) <= (band.inside or 0.0) + hair),
    ]


def _apart(first: Rows, second: Rows, name: str) -> float:
    """The share of rows that would have to move for two tables to agree in single values."""
    places = [
        rows.values(name) if rows.is_number(name) else rows.bin(name).codes * 1.0
        for rows in (first, second)
    ]
    places = [np.where(np.isnan(each), -1e300, each) for each in places]
    values = np.unique(np.concatenate(places))
    p, q = (
        np.bincount(np.searchsorted(values, each), minlength=len(values)) / len(each)
        for each in places
    )
    return float(np.abs(p - q).sum() / 2)


def main(arguments: list[str]) -> None:
    """Print in which share of the fits each statement held."""
    parser = argparse.ArgumentParser(prog="python -m bench public", description=__doc__)
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--epsilon", type=float, default=2.0)
    options = parser.parse_args(arguments)
    found: dict[str, list[bool]] = collections.defaultdict(list)
    private = spiked(options.rows, 0)
    table = read(private, SCHEMA, "The private table")
    for seed in range(options.fits):
        model = fit(private, SCHEMA, method=METHOD, epsilon=options.epsilon, delta=1e-6, seed=seed)
        for kind, holds in statements(model, table, seed).items():
            found[kind] += holds
        if (seed + 1) % EVERY == 0 or seed + 1 == options.fits:
            for kind, holds in sorted(found.items()):
                print(f"{kind:40} held in {sum(holds):4} of {len(holds)} fits")
            print(flush=True)
