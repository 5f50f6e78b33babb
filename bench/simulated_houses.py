"""Houses made up like those of a county: a numeric label, seventy districts, seventeen columns.

The price is about log-normal, by place, size, quality and age, a few of them together; many
columns follow from each other.  What a model of log price learns from synthetic rows, how well
median prices of districts come out, and how far groups' medians are off.
"""

import argparse
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.simulated_links import Case, Made, Scores, run
from nacre.schema import Boolean, Categorical, Integer, Ordinal, Real, Schema

Floats = NDArray[np.float64]
DISTRICTS = 70
NUMBERS = ("bedrooms", "bathrooms", "living", "lot", "floors", "condition", "grade", "above")
NUMBERS += ("built", "latitude", "longitude", "neighbors")


def houses(seed: int, rows: int = 20_000) -> Made:
    """Houses of a county; the districts differ in place, price level and age."""
    rng, n = np.random.default_rng(seed), rows + 5000
    center = rng.uniform(0, 1, (DISTRICTS, 2))
    middle = np.array([0.6, 0.4])
    level = 0.9 - 1.1 * np.linalg.norm(center - middle, axis=1) + 0.2 * rng.normal(size=DISTRICTS)
    district = rng.choice(DISTRICTS, n, p=rng.dirichlet(np.full(DISTRICTS, 4.0)))
    place = center[district] + 0.03 * rng.normal(size=(n, 2))
    built = np.clip(1970 + 25 * rng.normal(size=n) - 20 * level[district], 1900, 2015)
    wealth = 0.5 * level[district] + 0.012 * (built - 1970) / 2 + rng.normal(size=n)
    living = np.exp(7.5 + 0.3 * wealth + 0.2 * rng.normal(size=n))
    grade = np.clip(np.rint(7.2 + 1.1 * wealth + 0.5 * rng.normal(size=n)), 3, 13)
    basement = np.where(rng.random(n) < 0.4, rng.beta(3, 4, n), 0)
    water = rng.random(n) < 0.01 + 0.02 * (place[:, 0] < 0.15)
    view = np.where(water, 4, rng.choice(5, n, p=[0.88, 0.04, 0.04, 0.025, 0.015]))
    log_price = (
        12.9 + 0.45 * level[district] + 0.55 * (np.log(living) - 7.5) + 0.11 * (grade - 7)
        + 0.5 * water + 0.06 * view - 0.0015 * (built - 1970)
        + 0.15 * level[district] * (np.log(living) - 7.5) + 0.16 * rng.normal(size=n)
    )  # fmt: skip
    columns: dict[str, Any] = {
        "bedrooms": np.clip(np.rint(1 + living / 850 + 0.6 * rng.normal(size=n)), 0, 12),
        "bathrooms": np.clip(np.rint(4 * (living / 1100 + 0.35 * rng.normal(size=n))) / 4, 0, 8),
        "living": np.clip(np.rint(living / 10) * 10, 300, 14_000),
        "lot": np.clip(np.rint(np.exp(8.9 + 0.9 * rng.normal(size=n))), 500, 1_700_000),
        "floors": np.clip(np.rint(2 + (built - 1960) / 30 + 0.8 * rng.normal(size=n)) / 2, 1, 3.5),
        "condition": np.clip(np.rint(3.4 - (built - 1970) / 80 + 0.6 * rng.normal(size=n)), 1, 5),
        "grade": grade,
        "above": np.clip(np.rint(living * (1 - basement) / 10) * 10, 290, 10_000),
        "built": np.rint(built),
        "latitude": np.round(47 + 0.6 * place[:, 0], 4).clip(46.5, 48),
        "longitude": np.round(-122.5 + 0.8 * place[:, 1], 3).clip(-123, -121),
        "neighbors": np.clip(np.rint(living * np.exp(0.2 * rng.normal(size=n))), 400, 7000),
    }
    columns = {name: value.astype(np.float64) for name, value in columns.items()}
    whole = ("bedrooms", "living", "lot", "condition", "grade", "above", "built", "neighbors")
    columns |= {name: columns[name].astype(np.int64) for name in whole}
    columns["waterfront"] = water
    columns["view"] = [f"v{v}" for v in view]
    columns["district"] = [f"d{d}" for d in district]
    columns["price"] = np.clip(np.rint(np.exp(log_price)), 50_000, 8_000_000).astype(np.int64)
    table = pa.table(columns)
    return Made(table.slice(0, rows), table.slice(rows), _schema())


def _schema() -> Schema:
    return Schema(
        {
            "bedrooms": Integer(low=0, high=12),
            "bathrooms": Real(low=0, high=8, decimals=2),
            "living": Integer(low=300, high=14_000),
            "lot": Integer(low=500, high=1_700_000),
            "floors": Real(low=1, high=3.5, decimals=1),
            "condition": Integer(low=1, high=5),
            "grade": Integer(low=1, high=13),
            "above": Integer(low=290, high=10_000),
            "built": Integer(low=1900, high=2015),
            "latitude": Real(low=46.5, high=48, decimals=4),
            "longitude": Real(low=-123, high=-121, decimals=3),
            "neighbors": Integer(low=400, high=7000),
            "waterfront": Boolean(),
            "view": Ordinal(values=[f"v{v}" for v in range(5)]),
            "district": Categorical(values=[f"d{d}" for d in range(DISTRICTS)]),
            "price": Integer(low=50_000, high=8_000_000),
        },
        label="price",
    )


def _column(table: pa.Table, name: str) -> Floats:
    return table[name].to_numpy(zero_copy_only=False).astype(np.float64)


def scores(made: Made, synthetic: pa.Table) -> Scores:
    """R2 of log price by boosting, medians of districts, correlations with the price."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    def features(table: pa.Table) -> Floats:
        codes = [int(name[1:]) for name in table["district"].to_pylist()]
        view = [int(name[1:]) for name in table["view"].to_pylist()]
        numbers = [_column(table, name) for name in (*NUMBERS, "waterfront")]
        return np.column_stack([*numbers, view, codes])

    model = HistGradientBoostingRegressor(random_state=0, categorical_features=[14])
    model.fit(features(synthetic), np.log(_column(synthetic, "price")))
    r2 = float(model.score(features(made.test), np.log(_column(made.test, "price"))))
    medians = np.array([_medians(table) for table in (made.train, synthetic)])
    both = np.isfinite(medians).all(0)
    off = np.abs(medians[0] - medians[1])[both] / 2_000_000
    names = [*NUMBERS, "price"]
    real, found = (
        np.corrcoef(np.argsort(np.argsort([_column(t, name) for name in names])))
        for t in (made.train, synthetic)
    )
    error = np.abs(real - found)
    return {
        "R2": r2,
        "medians": float(np.corrcoef(medians[:, both])[0, 1]),
        "median off": float(np.mean(off)),
        "links with price off": float(error[-1, :-1].mean()),
        "links off": float(error[np.triu_indices(len(names), 1)].mean()),
        "worst link off": float(error.max()),
    }


def _medians(table: pa.Table) -> list[float]:
    price, district = _column(table, "price"), np.array(table["district"].to_pylist())
    groups = [price[district == f"d{d}"] for d in range(DISTRICTS)]
    return [float(np.median(group)) if len(group) else np.nan for group in groups]


CASES = {
    "houses": Case(houses, scores),
    "few houses": Case(lambda seed: houses(seed, 5000), scores),
}


def main(arguments: list[str]) -> None:
    """Print what came through of the price."""
    parser = argparse.ArgumentParser(prog="python -m bench houses")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--methods", default="mosaic,mst")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    for name in options.cases.split(","):
        made = [CASES[name].make(seed) for seed in range(options.seeds)]
        real = [scores(each, each.train) for each in made]
        _print(name, "real", real)
        for method in options.methods.split(","):
            _print(name, method, [run(CASES[name], method, s) for s in range(options.seeds)])


def _print(case: str, what: str, found: list[Scores]) -> None:
    mean = {key: np.mean([each[key] for each in found]) for key in found[0]}
    said = ", ".join(f"{key} {value:.3f}" for key, value in mean.items())
    print(f"{case:10} {what:8} {said}", flush=True)
