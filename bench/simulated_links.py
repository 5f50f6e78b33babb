"""Tables made up so that one thing about them is known: links, tails, gaps, labels, parity.

Each maker returns rows to fit and rows to score on, and each has one score that tells what came
through.  What noise does to such a table is known in advance; settings may be chosen on them.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.schema import Boolean, Categorical, Integer, Real, Schema

Floats = NDArray[np.float64]
Scores = dict[str, float]


@dataclasses.dataclass(frozen=True)
class Made:
    """Rows to fit, rows to score on, and what is public about them."""

    train: pa.Table
    test: pa.Table
    schema: Schema


@dataclasses.dataclass(frozen=True)
class Case:
    """A table, what is measured of it, and at which epsilon."""

    make: Callable[[int], Made]
    score: Callable[[Made, pa.Table], Scores]
    epsilon: float = 1.0


def _split(columns: dict[str, Any], schema: Schema, rows: int) -> Made:
    table = pa.table(columns)
    return Made(table.slice(0, rows), table.slice(rows), schema)


def _names(prefix: str, codes: NDArray[np.integer]) -> list[str]:
    return [f"{prefix}{code}" for code in codes]


def _values(prefix: str, count: int) -> Categorical:
    return Categorical(values=[f"{prefix}{code}" for code in range(count)])


def _column(table: pa.Table, name: str) -> Floats:
    return table[name].to_numpy(zero_copy_only=False).astype(np.float64)


# -- strong links ------------------------------------------------------------------------------


def strong_links(seed: int, rows: int = 5000) -> Made:
    """Five numbers linked by .92, .88 and -.70, and seven columns that have weak links or none."""
    rng, n = np.random.default_rng(seed), rows + 5000
    a, d = rng.normal(size=(2, n))
    columns: dict[str, Any] = {
        "a": a,
        "b": 0.92 * a + np.sqrt(1 - 0.92**2) * rng.normal(size=n),
        "c": -0.7 * a + np.sqrt(1 - 0.49) * rng.normal(size=n),
        "d": d,
        "e": 0.88 * d + np.sqrt(1 - 0.88**2) * rng.normal(size=n),
    }
    for name in ("f", "g", "h"):
        columns[name] = 0.2 * a + rng.normal(size=n)
    columns = {name: np.clip(value, -5, 5) for name, value in columns.items()}
    schema: dict[str, Any] = {name: Real(low=-5, high=5) for name in columns}
    for place, size in enumerate((3, 6, 9)):
        codes = np.clip((0.5 * d + rng.normal(size=n) + 2.5) / 5 * size, 0, size - 1).astype(int)
        columns[f"k{place}"], schema[f"k{place}"] = _names("v", codes), _values("v", size)
    columns["label"] = rng.random(n) < 1 / (1 + np.exp(1 - a - d))
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def correlations(made: Made, synthetic: pa.Table) -> Scores:
    """The three strong correlations, and how far the others are off on average."""
    strong = {"a b": ("a", "b"), "d e": ("d", "e"), "a c": ("a", "c")}
    scores = {
        name: float(np.corrcoef(*(_column(synthetic, c) for c in pair))[0, 1])
        for name, pair in strong.items()
    }
    numbers = list("abcdefgh")
    real, found = (
        np.corrcoef([_column(t, name) for name in numbers]) for t in (made.train, synthetic)
    )
    off = np.abs(real - found)[np.triu_indices(len(numbers), 1)]
    return scores | {"mean error": float(off.mean())}


def money(seed: int, rows: int = 20_000) -> Made:
    """Two log-normal amounts whose values correlate by .99, beside columns that do not matter."""
    rng, n = np.random.default_rng(seed), rows + 1000
    wealth, noise = rng.normal(size=(2, n))
    columns: dict[str, Any] = {
        "earned": np.exp(9 + 1.2 * wealth).round(2).clip(0, 1e6),
        "spent": np.exp(9 + 1.2 * (wealth + 0.08 * noise)).round(2).clip(0, 1e6),
        "other": rng.normal(size=n).clip(-5, 5),
        "kind": _names("v", rng.integers(0, 3, n)),
        "label": rng.random(n) < 1 / (1 + np.exp(-wealth)),
    }
    amount = Real(low=0, high=1e6, decimals=2)
    schema: dict[str, Any] = {"earned": amount, "spent": amount, "other": Real(low=-5, high=5)}
    schema |= {"kind": _values("v", 3), "label": Boolean()}
    return _split(columns, Schema(schema, label="label"), rows)


def pearson(made: Made, synthetic: pa.Table) -> Scores:
    """The correlation of the two amounts, and of their ranks."""
    found: Scores = {}
    for name, table in (("real", made.train), ("made", synthetic)):
        values = np.stack([_column(table, column) for column in ("earned", "spent")])
        found[name] = float(np.corrcoef(values)[0, 1])
        found[f"{name} ranks"] = float(np.corrcoef(values.argsort(1).argsort(1))[0, 1])
    return found


# -- a column that another determines ----------------------------------------------------------


def code_and_group(seed: int, rows: int = 10_000) -> Made:
    """Thirty codes that determine one of six groups, beside columns that follow the group."""
    rng, n = np.random.default_rng(seed), rows + 1000
    chance = 1 / np.arange(2, 32) ** 0.7
    code = rng.choice(30, n, p=chance / chance.sum())
    group = (code * 7) % 6
    columns: dict[str, Any] = {"code": _names("c", code), "group": _names("g", group)}
    schema: dict[str, Any] = {"code": _values("c", 30), "group": _values("g", 6)}
    for place in range(5):
        columns[f"x{place}"] = np.clip(group * 0.3 * place + rng.normal(size=n), -5, 12)
        schema[f"x{place}"] = Real(low=-5, high=12)
    for place in range(3):
        columns[f"k{place}"] = _names("v", rng.integers(0, 4, n))
        schema[f"k{place}"] = _values("v", 4)
    columns["label"] = rng.random(n) < 0.2 + 0.1 * group
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def determined(made: Made, synthetic: pa.Table) -> Scores:
    """Share of rows whose code and group belong together."""
    known = set(zip(*(made.train[name].to_pylist() for name in ("code", "group")), strict=True))
    found = zip(*(synthetic[name].to_pylist() for name in ("code", "group")), strict=True)
    return {"right": float(np.mean([pair in known for pair in found]))}


# -- a numeric label ---------------------------------------------------------------------------


def prices(seed: int, rows: int = 10_000) -> Made:
    """Houses: price by district, area, quality and age, about log-normal."""
    rng, n = np.random.default_rng(seed), rows + 5000
    chance = rng.dirichlet(np.full(20, 3.0))
    district = rng.choice(20, n, p=chance)
    level = rng.normal(size=20)
    quality = np.clip(np.rint(5 + level[district] + 1.2 * rng.normal(size=n)), 0, 9)
    area = np.exp(4.6 + 0.08 * (quality - 5) + 0.3 * rng.normal(size=n))
    rooms = np.clip(np.rint(area / 28 + 0.8 * rng.normal(size=n)), 1, 12)
    age = np.clip(60 * rng.beta(1.2, 2, n) - 4 * (quality - 5), 0, 120)
    log_price = (
        12 + 0.3 * level[district] + 0.8 * (np.log(area) - 4.6) + 0.1 * (quality - 5) - 0.004 * age
    )
    columns: dict[str, Any] = {
        "area": np.clip(area, 20, 600).astype(int),
        "age": age.astype(int),
        "rooms": rooms.astype(int),
        "quality": quality.astype(int),
        "district": _names("d", district),
        "price": np.clip(np.exp(log_price + 0.12 * rng.normal(size=n)), 1e4, 3e6).astype(int),
    }
    schema: dict[str, Any] = {
        "area": Integer(low=20, high=600),
        "age": Integer(low=0, high=120),
        "rooms": Integer(low=1, high=12),
        "quality": Integer(low=0, high=9),
        "district": _values("d", 20),
        "price": Integer(low=10_000, high=3_000_000),
    }
    for place in range(4):
        columns[f"k{place}"] = _names("v", rng.integers(0, 3 + place, n))
        schema[f"k{place}"] = _values("v", 3 + place)
    return _split(columns, Schema(schema, label="price"), rows)


def price_scores(made: Made, synthetic: pa.Table) -> Scores:
    """R2 of log price by boosting on real rows; how median prices by district correlate."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    inputs = ("area", "age", "rooms", "quality")

    def features(table: pa.Table) -> Floats:
        district = [int(name[1:]) for name in table["district"].to_pylist()]
        codes = np.eye(20)[district]
        return np.column_stack([*(_column(table, name) for name in inputs), codes])

    model = HistGradientBoostingRegressor(random_state=0)
    model.fit(features(synthetic), np.log(_column(synthetic, "price")))
    r2 = float(model.score(features(made.test), np.log(_column(made.test, "price"))))
    medians = [
        [
            float(np.median(_column(t, "price")[np.array(t["district"].to_pylist()) == f"d{d}"]))
            for d in range(20)
        ]
        for t in (made.train, synthetic)
    ]
    return {"R2": r2, "medians": float(np.corrcoef(np.nan_to_num(medians))[0, 1])}


# -- tails and gaps ----------------------------------------------------------------------------


def heavy_counts(seed: int, rows: int = 10_000) -> Made:
    """Counts that are mostly zero under wide bounds, and amounts with a heavy tail."""
    rng, n = np.random.default_rng(seed), rows + 1000
    rare = np.where(rng.random(n) < 0.04, 1 + rng.poisson(0.5, n), 0)
    some = np.where(rng.random(n) < 0.3, 1 + rng.geometric(0.4, n), 0)
    amount = np.where(rng.random(n) < 0.5, np.exp(3 + 1.2 * rng.normal(size=n)), 0)
    columns: dict[str, Any] = {
        "rare": np.clip(rare, 0, 100).astype(int),
        "some": np.clip(some, 0, 500).astype(int),
        "amount": np.clip(amount, 0, 100_000).astype(int),
    }
    schema: dict[str, Any] = {
        "rare": Integer(low=0, high=100),
        "some": Integer(low=0, high=500),
        "amount": Integer(low=0, high=100_000),
    }
    for place in range(9):
        columns[f"k{place}"] = _names("v", rng.integers(0, 4, n))
        schema[f"k{place}"] = _values("v", 4)
    columns["label"] = rng.random(n) < 0.2 + 0.3 * (rare > 0)
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def hidden_amounts(seed: int, rows: int = 9000) -> Made:
    """Amounts of one row in eight beside zeros, under bounds ten times too wide, and a few values.

    Noise hides every single cell of the amounts; of the few values it hides the last ones.
    """
    rng, n = np.random.default_rng(seed), rows + 1000
    kind = rng.integers(0, 6, n)
    paid = rng.random(n) < 0.04 + 0.03 * kind
    columns: dict[str, Any] = {
        "grant": np.where(paid, rng.lognormal(6.5, 0.8, n) // 50 * 50 + 50, 0).clip(0, 30_000),
        "refund": np.where(rng.random(n) < 0.12, rng.lognormal(6, 1.2, n), 0).clip(0, 100_000),
        "children": rng.choice(7, n, p=[0.59, 0.288, 0.092, 0.023, 0.0057, 0.001, 0.0003]),
    }
    columns = {name: value.astype(int) for name, value in columns.items()}
    schema: dict[str, Any] = {
        "grant": Integer(low=0, high=30_000, step=50),
        "refund": Integer(low=0, high=100_000),
        "children": Integer(low=0, high=8),
    }
    for place in range(12):
        columns[f"x{place}"] = np.clip(kind + 3 * rng.normal(size=n), -20, 30)
        schema[f"x{place}"] = Real(low=-20, high=30)
    columns["kind"], schema["kind"] = _names("v", kind), _values("v", 6)
    columns["label"] = rng.random(n) < 0.1 + 0.1 * kind
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def amounts_kept(made: Made, synthetic: pa.Table) -> Scores:
    """Means over the real ones, rows of three children and more over the real ones: one is right.

    Also the amounts' share of rows that are not zero, over the real share.
    """
    scores = {}
    for name in ("grant", "refund"):
        real, found = _column(made.train, name), _column(synthetic, name)
        scores[f"{name} mean"] = float(found.mean() / real.mean())
        scores[f"{name} paid"] = float((found > 0).mean() / (real > 0).mean())
    many = [float((_column(each, "children") > 2).mean()) for each in (made.train, synthetic)]
    return scores | {"children": many[1] / many[0]}


def tails(made: Made, synthetic: pa.Table) -> Scores:
    """Mean over the real one and 99 % point over the real one, by column; one is right."""
    scores = {}
    for name in ("rare", "some", "amount"):
        real, found = _column(made.train, name), _column(synthetic, name)
        scores[f"{name} mean"] = float(found.mean() / real.mean())
        scores[f"{name} 99%"] = float(np.quantile(found, 0.99) / np.quantile(real, 0.99))
    return scores


def rare_gaps(seed: int, rows: int = 10_000) -> Made:
    """Twelve columns, numbers and categories, each missing in one row of a thousand."""
    rng, n = np.random.default_rng(seed), rows + 1000
    columns: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for place in range(12):
        gap = rng.random(n) < 0.001
        if place < 8:
            values = np.clip(50 + 15 * rng.normal(size=n), 0, 100).astype(int)
            columns[f"x{place}"] = pa.array(values, mask=gap)
            schema[f"x{place}"] = Integer(low=0, high=100, nullable=True)
        else:
            columns[f"x{place}"] = pa.array(_names("v", rng.integers(0, 4, n)), mask=gap)
            schema[f"x{place}"] = dataclasses.replace(_values("v", 4), nullable=True)
    columns["label"] = rng.random(n) < 0.3
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def gaps(made: Made, synthetic: pa.Table) -> Scores:
    """The share of missing values, on average and in the worst column."""
    shares = [synthetic[n].null_count / synthetic.num_rows for n in made.schema.names]
    return {"mean": float(np.mean(shares)), "worst": float(max(shares))}


# -- parity ------------------------------------------------------------------------------------


def parity(seed: int, order: int, rows: int = 20_000) -> Made:
    """Ten columns of two to five values and numbers; the label is the parity of `order` of them."""
    rng, n = np.random.default_rng(seed), rows + 5000
    bits = rng.integers(0, 2, (n, 6))
    columns: dict[str, Any] = {f"b{k}": bits[:, k].astype(bool) for k in range(6)}
    schema: dict[str, Any] = {f"b{k}": Boolean() for k in range(6)}
    for place in range(2):
        columns[f"x{place}"] = np.clip(50 + 15 * rng.normal(size=n), 0, 100).astype(int)
        schema[f"x{place}"] = Integer(low=0, high=100)
        columns[f"k{place}"] = _names("v", rng.integers(0, 3 + 2 * place, n))
        schema[f"k{place}"] = _values("v", 3 + 2 * place)
    columns["label"] = bits[:, :order].sum(1) % 2 == 1
    schema["label"] = Boolean()
    return _split(columns, Schema(schema, label="label"), rows)


def label_scores(made: Made, synthetic: pa.Table) -> Scores:
    """AUC and accuracy on real rows of a forest that learns from synthetic ones.

    Boosted trees grow greedily and stop early: they do not learn a parity of four from real rows
    either.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    from bench.protocol import features

    model = RandomForestClassifier(random_state=0, min_samples_leaf=3)
    model.fit(*features(synthetic, made.schema))
    x, y = features(made.test, made.schema)
    chance = model.predict_proba(x)[:, 1]
    return {"AUC": float(roc_auc_score(y, chance)), "accuracy": float(((chance > 0.5) == y).mean())}


CASES: dict[str, Case] = {
    "links": Case(strong_links, correlations),
    "money": Case(money, pearson),
    "codes": Case(code_and_group, determined),
    "prices": Case(prices, price_scores),
    "tails": Case(heavy_counts, tails),
    "amounts": Case(hidden_amounts, amounts_kept),
    "gaps": Case(rare_gaps, gaps, epsilon=0.2),
    "xor-3": Case(lambda seed: parity(seed, 3), label_scores),
    "xor-4": Case(lambda seed: parity(seed, 4), label_scores),
}


def run(case: Case, method: Any, seed: int) -> Scores:
    """Fit, draw as many rows, and score them."""
    import time

    from nacre.fit import fit

    made = case.make(seed)
    start = time.process_time()
    model = fit(made.train, made.schema, method=method, epsilon=case.epsilon, delta=1e-5, seed=seed)
    synthetic = model.sample_arrow(made.train.num_rows, seed=seed)
    seconds = time.process_time() - start
    return case.score(made, synthetic) | {"seconds": seconds}


def main(arguments: list[str]) -> None:
    """Print what came through of each table."""
    import argparse
    import warnings

    parser = argparse.ArgumentParser(prog="python -m bench links")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--methods", default="mosaic")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    for name in options.cases.split(","):
        for method in options.methods.split(","):
            found = [run(CASES[name], method, seed) for seed in range(options.seeds)]
            mean = {key: np.mean([each[key] for each in found]) for key in found[0]}
            said = ", ".join(f"{key} {value:.3f}" for key, value in mean.items())
            print(f"{name:8} {method:8} {said}", flush=True)
