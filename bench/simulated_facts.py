"""Simulated tables with spikes, few values, facts and rules: is what holds in the rows still so?

Each table is fitted twice: as a schema of bounds and values alone describes it (`plain`), and with
all that is public about it said (`stated`: step, spikes, facts, constraints).  ε = 1, δ = 1e-5.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nacre
from bench import simulated_dental, simulated_rents, simulated_visits

RESULTS = Path(__file__).parent / "results" / "simulated-facts.json"
ROWS = 20_000
CODES = [f"{group}{number}" for group in "ABCDE" for number in range(6)]
Case = tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]
Measure = Callable[[pd.DataFrame, pd.DataFrame], dict[str, float]]


def labeled(frame: pd.DataFrame, score: Any, rng: np.random.Generator) -> pd.DataFrame:
    """The table with a label that follows from a score in [0, 1]."""
    return frame.assign(label=np.where(rng.random(len(frame)) < score, "yes", "no"))


def columns(**said: dict[str, Any]) -> dict[str, Any]:
    """A schema's plain form; the label is the last column."""
    label = {"type": "categorical", "values": ["no", "yes"]}
    return {"nacre": 1, "label": "label", "columns": {**said, "label": label}}


def stated(plain: dict[str, Any], said: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The same schema with more facts about some columns, and more beside the columns."""
    each = {name: column | said.get(name, {}) for name, column in plain["columns"].items()}
    return plain | {"columns": each} | more


def number(low: float, high: float, **more: Any) -> dict[str, Any]:
    """An integer column, or a real one if it has decimals."""
    return {"type": "real" if "decimals" in more else "integer", "low": low, "high": high, **more}


def spikes(rng: np.random.Generator) -> Case:
    """Zeros and sentinel codes inside bounds that were rounded outward."""
    zero = rng.random(ROWS) < 0.4
    frame = pd.DataFrame(
        {
            "income": np.where(zero, 0, rng.lognormal(9, 1, ROWS)).round().clip(-20_000, 200_000),
            "duration": np.where(rng.random(ROWS) < 0.48, 0, rng.geometric(0.01, ROWS)),
            "since": np.where(rng.random(ROWS) < 0.96, 999, rng.integers(0, 30, ROWS)),
            "paid": np.where(rng.random(ROWS) < 0.2, 1250, rng.gamma(2, 900, ROWS).round()),
            "smooth": rng.normal(0, 100, ROWS).round(1).clip(-1000, 1000),
        }
    )
    frame = frame.astype({"income": int, "paid": int})
    frame["duration"], frame["paid"] = (
        frame["duration"].clip(0, 1000),
        frame["paid"].clip(0, 20_000),
    )
    plain = columns(
        income=number(-20_000, 200_000),
        duration=number(-1, 1000),
        since=number(0, 1023),
        paid=number(0, 20_000),
        smooth=number(-1000, 1000, decimals=1),
    )
    more = stated(plain, {"paid": {"spikes": [1250]}, "since": {"spikes": [999]}})
    return labeled(frame, np.where(zero, 0.7, 0.3), rng), plain, more


def spikes_kept(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """How far the share of each spike is off, of all rows; how many rows are where none was."""
    places = {"income": 0, "duration": 0, "since": 999, "paid": 1250}
    found = {
        f"{name} = {value}": abs((made[name] == value).mean() - (real[name] == value).mean())
        for name, value in places.items()
    }
    commonest = [table["smooth"].value_counts(normalize=True).iloc[0] for table in (real, made)]
    return found | {
        "negative income or duration": ((made["income"] < 0) | (made["duration"] < 0)).mean(),
        "commonest smooth value": abs(commonest[1] - commonest[0]),
    }


def few_values(rng: np.random.Generator) -> Case:
    """Numbers that take a few values only, quarters, and mostly hundreds."""
    eleven, more = np.sort(rng.integers(0, 40_000, 11)), np.sort(rng.integers(0, 10_000, 26))
    amount = rng.lognormal(7.5, 0.4, ROWS)
    whole = rng.random(ROWS) < 0.956
    frame = pd.DataFrame(
        {
            "eleven": rng.choice(eleven, ROWS),
            "twenty_six": rng.choice(more, ROWS, p=rng.dirichlet(np.full(26, 3.0))),
            "quarters": (rng.gamma(3, 8, ROWS) * 4).round().clip(0, 800) / 4,
            "hundreds": np.where(whole, (amount / 100).round() * 100, amount.round()).astype(int),
        }
    )
    plain = columns(
        eleven=number(0, 50_000),
        twenty_six=number(0, 10_000),
        quarters=number(0, 200, decimals=2),
        hundreds=number(0, 20_000),
    )
    said = stated(plain, {"quarters": {"step": 0.25}, "hundreds": {"step": 100}})
    return labeled(frame, frame["eleven"] / 80_000 + 0.2, rng), plain, said


def values_exist(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """Shares of rows whose value occurs in the table, or is on its step."""
    found = {name: made[name].isin(real[name].unique()).mean() for name in ("eleven", "twenty_six")}
    found["quarters"] = (made["quarters"] % 0.25 == 0).mean()
    found["hundreds"] = (made["hundreds"] % 100 == 0).mean()
    return found


def heaped(rows: int) -> Callable[[np.random.Generator], Case]:
    """Amounts under a wide bound, mostly at hundreds or quarters, beside smooth ones."""

    def make(rng: np.random.Generator) -> Case:
        amount, price = rng.lognormal(9, 1.2, rows), rng.lognormal(5, 1, rows)
        part = rng.random(rows)
        coarse = np.select([part < 0.8, part < 0.95], [100.0, 1.0], 0.01)
        fine = np.where(rng.random(rows) < 0.6, 0.25, 0.01)
        frame = pd.DataFrame(
            {
                "amount": ((amount / coarse).round() * coarse).round(2).clip(0, 10_000_000),
                "price": ((price / fine).round() * fine).round(2).clip(0, 100_000),
                "smooth": rng.lognormal(9, 1.2, rows).round(2).clip(0, 10_000_000),
            }
        )
        plain = columns(
            amount=number(0, 10_000_000, decimals=2),
            price=number(0, 100_000, decimals=2),
            smooth=number(0, 10_000_000, decimals=2),
        )
        return labeled(frame, np.where(amount > 10_000, 0.7, 0.3), rng), plain, plain

    return make


def rounded(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """How far the shares of rows at multiples of round steps are off."""

    def at(table: pd.DataFrame, name: str, step: int, beyond: int = 0) -> float:
        cents = (table[name] * 100).round().astype(int)
        wider = cents % beyond == 0 if beyond else False
        return float(((cents % step == 0) & ~np.asarray(wider)).mean())

    steps = {"hundreds": (10_000,), "other units": (100, 10_000)}
    asked = [("amount", name, each) for name, each in steps.items()]
    asked += [("amount", "thousands", (100_000,)), ("price", "quarters", (25,))]
    asked += [("smooth", name, each) for name, each in steps.items()]
    return {
        f"{column}, {name}": abs(at(made, column, *each) - at(real, column, *each))
        for column, name, each in asked
    }


def determined(rng: np.random.Generator) -> Case:
    """Codes and their groups, a number of each group, sums, products, and gaps with a reason."""
    code = rng.choice(CODES, ROWS, p=rng.dirichlet(np.full(len(CODES), 4.0)))
    age = rng.integers(0, 96, ROWS)
    above, basement = rng.integers(500, 3000, ROWS), rng.integers(0, 900, ROWS)
    basement = np.where(rng.random(ROWS) < 0.4, 0, basement)
    months, price = rng.integers(0, 73, ROWS), rng.normal(60, 20, ROWS).clip(15, 120).round(2)
    open_one, unknown = rng.random(ROWS) < 0.3, rng.random(ROWS) < 0.25
    group = pd.Series(code).str[0]
    frame = pd.DataFrame({"code": code, "group": group})
    frame["density"] = group.map({g: 12.5 * place for place, g in enumerate("ABCDE")})
    frame["age"], frame["age_group"] = (
        age,
        np.select([age < 18, age < 65], ["child", "adult"], "old"),
    )
    frame["above"], frame["basement"], frame["living"] = above, basement, above + basement
    frame["months"], frame["price"] = months, price
    frame["charges"] = (months * price + rng.uniform(-5, 5, ROWS)).round(2).clip(0)
    frame["status"] = np.where(open_one, "open", "closed")
    frame["stay"] = pd.Series(rng.geometric(0.1, ROWS).clip(1, 400)).mask(open_one).astype("Int64")
    frame["first"] = pd.Series(rng.choice(list("xyz"), ROWS)).mask(unknown)
    frame["second"] = pd.Series(rng.integers(0, 50, ROWS)).mask(unknown).astype("Int64")
    plain = columns(
        code={"type": "categorical", "values": CODES},
        group={"type": "categorical", "values": list("ABCDE")},
        density=number(0, 100, decimals=1),
        age=number(0, 120),
        age_group={"type": "ordinal", "values": ["child", "adult", "old"]},
        above=number(0, 5000),
        basement=number(0, 5000),
        living=number(0, 10_000),
        months=number(0, 72),
        price=number(0, 150, decimals=2),
        charges=number(0, 12_000, decimals=2),
        status={"type": "categorical", "values": ["open", "closed"]},
        stay=number(0, 400, nullable=True),
        first={"type": "categorical", "values": list("xyz"), "nullable": True},
        second=number(0, 100, nullable=True),
    )
    facts = [
        {"group determined by code": {each: each[0] for each in CODES}},
        {"density determined by group": {g: 12.5 * place for place, g in enumerate("ABCDE")}},
        {"age_group determined by age": {"..17": "child", "18..64": "adult", "65..": "old"}},
        "living = above + basement",
        "charges = months * price within 5",
        "stay is missing exactly when status = open",
        "first, second are missing together",
    ]
    return labeled(frame, age / 120, rng), plain, stated(plain, {}, facts=facts)


def facts_hold(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """Shares of rows in which each fact holds."""
    density = {g: 12.5 * place for place, g in enumerate("ABCDE")}
    age_group = np.select([made["age"] < 18, made["age"] < 65], ["child", "adult"], "old")
    product = made["months"] * made["price"]
    return {
        "group of code": (made["code"].str[0] == made["group"]).mean(),
        "density of group": (made["group"].map(density) == made["density"]).mean(),
        "age group": (age_group == made["age_group"]).mean(),
        "living = above + basement": (made["above"] + made["basement"] == made["living"]).mean(),
        "charges within 5": ((product - made["charges"]).abs() <= 5 + 1e-6).mean(),
        "missing exactly when": (made["stay"].isna() == (made["status"] == "open")).mean(),
        "missing together": (made["first"].isna() == made["second"].isna()).mean(),
    }


def rules(rng: np.random.Generator) -> Case:
    """Children under five, who do nothing that rules speak of, among adults."""
    young = rng.random(ROWS) < 0.05
    age = np.where(young, rng.integers(0, 5, ROWS), rng.integers(5, 95, ROWS))
    adult, sex = age >= 18, rng.choice(["f", "m"], ROWS)
    works, married = adult & (rng.random(ROWS) < 0.6), adult & (rng.random(ROWS) < 0.55)
    wage = rng.lognormal(10, 0.6, ROWS) * np.where(sex == "f", 0.66, 1.0)
    school = np.where(adult, rng.choice(["school", "college"], ROWS), "school")
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "works": np.where(works, "yes", "no"),
            "married": np.where(married, "yes", "no"),
            "income": np.where(works, wage, 0).round().clip(0, 200_000).astype(int),
            "school": np.where(age < 5, "none", school),
        }
    )
    yes_no = {"type": "categorical", "values": ["yes", "no"]}
    plain = columns(
        age=number(0, 120),
        sex={"type": "categorical", "values": ["f", "m"]},
        works=yes_no,
        married=yes_no,
        income=number(0, 300_000),
        school={"type": "categorical", "values": ["none", "school", "college"]},
    )
    constraints = [
        "age >= 18 if works = yes",
        "married = no if age < 18",
        "income = 0 if works = no",
        "income = 0 if age < 18",
        "school = none if age < 5",
        "school != none if age >= 5",
        "school != college if age < 18",
    ]
    frame = labeled(frame, np.where(frame["income"] > 25_000, 0.8, 0.05), rng)
    return frame, plain, stated(plain, {}, constraints=constraints)


def shares(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """Shares of groups in what was made, and their errors."""
    groups: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
        "under five": lambda t: t["age"] < 5,
        "under 18": lambda t: t["age"] < 18,
        "works": lambda t: t["works"] == "yes",
        "married": lambda t: t["married"] == "yes",
        "label": lambda t: t["label"] == "yes",
    }
    found = {name: group(made).mean() - group(real).mean() for name, group in groups.items()}
    means = [t[t["income"] > 0].groupby("sex")["income"].mean() for t in (real, made)]
    ratios = [float(mean["f"] / mean["m"]) for mean in means]
    return {f"{name}, error": gap for name, gap in found.items()} | {
        "wage ratio f/m, error": ratios[1] - ratios[0]
    }


def by_the_clock(rng: np.random.Generator) -> Case:
    """Visits; that codes determine their group is said or not."""
    frame = simulated_visits.visits(rng)
    plain = columns(**simulated_visits.said())
    more = stated(plain, {}, facts=[simulated_visits.fact()])
    score = np.where(frame["kind"] == "z", 0.6, 0.2) + frame["age"] / 400
    return labeled(frame, score, rng), plain, more


def by_code(rng: np.random.Generator) -> Case:
    """Dental visits of many codes, mostly rare ones; that they determine groups is said or not."""
    frame = simulated_dental.dental(rng)
    plain = columns(**simulated_dental.said())
    more = stated(plain, {}, facts=[simulated_dental.fact()])
    return labeled(frame, np.where(frame["cost"] > 400, 0.6, 0.3), rng), plain, more


def by_sector(rng: np.random.Generator) -> Case:
    """Rents of which those of one sector stand at a cap; that it is a spike is said or not."""
    frame = simulated_rents.contracts(rng)
    plain = columns(**simulated_rents.said())
    more = stated(plain, {"rent": {"spikes": [simulated_rents.CAP]}})
    return labeled(frame, np.where(frame["area"] > 70, 0.3, 0.1), rng), plain, more


CASES: dict[str, tuple[Callable[[np.random.Generator], Case], Measure]] = {
    "spikes": (spikes, spikes_kept),
    "few values": (few_values, values_exist),
    "heaped, 5,000 rows": (heaped(5000), rounded),
    "heaped, 20,000 rows": (heaped(ROWS), rounded),
    "facts": (determined, facts_hold),
    "rules": (rules, shares),
    "visits": (by_the_clock, simulated_visits.kept),
    "dental": (by_code, simulated_dental.kept),
    "rents": (by_sector, simulated_rents.kept),
}


def run(name: str, way: str, seed: int, method: str) -> dict[str, float]:
    """One fit and its numbers."""
    make, measure = CASES[name]
    real, plain, said = make(np.random.default_rng(seed))
    schema = nacre.Schema.from_dict(plain if way == "plain" else said)
    # Not all amounts are hundreds: the others are rounded.
    bad = "zero" if name == "few values" else "check"
    model = nacre.fit(real, schema, method=method, epsilon=1, delta=1e-5, seed=seed, bad_rows=bad)
    made = model.sample(len(real), seed=seed)
    return {key: float(value) for key, value in measure(real, made).items()}


def main(arguments: list[str]) -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser("python -m bench simulated-facts")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--ways", nargs="+", choices=["plain", "stated"], default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=["mosaic"])
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    kept = json.loads(chosen.output.read_text()) if chosen.output.exists() else {}
    for method in chosen.methods:
        for name in chosen.cases:
            # There is nothing to be stated about amounts of which only some are round.
            both = ["plain"] if name.startswith("heaped") else ["plain", "stated"]
            for way in chosen.ways or both:
                found = [run(name, way, seed, method) for seed in range(chosen.seeds)]
                mean = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
                kept[f"{method} | {name} | {way}"] = {"seeds": chosen.seeds, **mean}
                print(f"{method}, {name}, {way}")
                for key, value in mean.items():
                    print(f"  {key:28} {value:8.4f}", flush=True)
                chosen.output.write_text(json.dumps(kept, indent=1) + "\n")
