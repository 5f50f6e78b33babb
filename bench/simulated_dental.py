"""Simulated dental visits: 150 codes of 10 groups, a few of them common, with costs by group."""

from typing import Any

import numpy as np
import pandas as pd

from bench.simulated_visits import cramers_v

ROWS = 9_000
GROUPS = "ABCDEFGHIJ"
CODES = [f"{group}{number:02d}" for group in GROUPS for number in range(15)]
COSTS = np.array([4.0, 4.3, 5.0, 5.3, 7.0, 6.6, 5.9, 7.8, 6.2, 4.7])  # logarithms, by group
MINUTES = np.array([15, 30, 40, 45, 75, 60, 50, 100, 30, 20])
PROVIDERS = ["dentist", "hygienist", "surgeon", "orthodontist", "assistant", "student"]
MATERIALS = ["amalgam", "ceramic", "composite", "none"]
OTHERS = {  # columns that have nothing to do with what was done: how many values they have
    "clinic": 4,
    "payer": 5,
    "referral": 6,
    "dentist": 12,
    "channel": 3,
    "weekday": 6,
    "language": 5,
    "reminder": 2,
}


def dental(rng: np.random.Generator) -> pd.DataFrame:
    """Visits of one year; who did it, how long it took and what it cost go with the group.

    What it was made of goes with the code alone.  Codes have shares as Zipf's law says, in an order
    that has nothing to do with groups.  The other columns have nothing to do with what was done.
    """
    weight = 1 / (np.arange(len(CODES)) + 2.0)
    code = rng.choice(rng.permutation(len(CODES)), ROWS, p=weight / weight.sum())
    group, by_code = code // 15, rng.normal(0, 0.2, len(CODES))
    provider = np.where(rng.random(ROWS) < 0.7, group % 6, rng.integers(0, 6, ROWS))
    material = np.where(rng.random(ROWS) < 0.6, code % 4, rng.integers(0, 4, ROWS))
    cost = np.exp(COSTS[group] + by_code[code] + rng.normal(0, 0.3, ROWS))
    age = rng.normal(45, 20, ROWS).round().clip(3, 95).astype(int)
    days = np.arange("2024-01-01", "2025-01-01", dtype="datetime64[D]")
    return pd.DataFrame(
        {
            "seen": rng.choice(days, ROWS).astype("datetime64[us]"),
            "age": age,
            "code": np.array(CODES)[code],
            "group": np.array(list(GROUPS))[group],
            "provider": np.array(PROVIDERS)[provider],
            "material": np.array(MATERIALS)[material],
            **{name: rng.integers(0, size, ROWS).astype(str) for name, size in OTHERS.items()},
            "minutes": (MINUTES[group] * rng.lognormal(0, 0.25, ROWS)).round().clip(5, 240),
            "cost": cost.round(2).clip(5, 20_000),
            "deposit": np.where(rng.random(ROWS) < 0.6, 0, rng.integers(0, 60, ROWS) * 5),
            "waited": rng.geometric(0.08, ROWS).clip(0, 120),
            "rating": rng.choice([1, 2, 3, 4, 5], ROWS, p=[0.05, 0.1, 0.2, 0.3, 0.35]),
        }
    ).astype({"minutes": int})


def said() -> dict[str, dict[str, Any]]:
    """The columns of the schema."""
    return {
        "seen": {"type": "datetime", "low": "2024-01-01", "high": "2024-12-31", "step": "1d"},
        "age": {"type": "integer", "low": 0, "high": 110},
        "code": {"type": "categorical", "values": CODES},
        "group": {"type": "categorical", "values": list(GROUPS)},
        "provider": {"type": "categorical", "values": PROVIDERS},
        "material": {"type": "categorical", "values": MATERIALS},
        **{
            name: {"type": "categorical", "values": [str(value) for value in range(size)]}
            for name, size in OTHERS.items()
        },
        "minutes": {"type": "integer", "low": 5, "high": 240},
        "cost": {"type": "real", "low": 0, "high": 20_000, "decimals": 2},
        "deposit": {"type": "integer", "low": 0, "high": 500},
        "waited": {"type": "integer", "low": 0, "high": 240},
        "rating": {"type": "ordinal", "values": [1, 2, 3, 4, 5]},
    }


def fact() -> dict[str, dict[str, str]]:
    """The look-up table of groups by code."""
    return {"group determined by code": {code: code[0] for code in CODES}}


def kept(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """What goes with the group: providers by Cramér's V, costs and minutes by medians and ratios.

    Correlation ratios are of logarithms.  Errors of medians are means over the groups; V of a
    column that has nothing to do with groups says what noise makes up.
    """
    found = {}
    for name, frame in (("real", real), ("synthetic", made)):
        found[f"V of group, provider, {name}"] = cramers_v(frame["group"], frame["provider"])
        found[f"V of group, payer, {name}"] = cramers_v(frame["group"], frame["payer"])
        found[f"V of group, label, {name}"] = cramers_v(frame["group"], frame["label"])
        found[f"V of code, material, {name}"] = cramers_v(frame["code"], frame["material"])
        for number in ("cost", "minutes"):
            ratio = correlation_ratio(frame["group"], np.log(frame[number].clip(lower=1)))
            found[f"ratio of {number}, {name}"] = ratio
    for key in ("group", "code"):
        shares = [each[key].value_counts(normalize=True) for each in (real, made)]
        found[f"wrong {key}"] = float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    for number in ("cost", "minutes"):
        logs = [np.log(each[number].clip(lower=1)).groupby(each["group"]) for each in (real, made)]
        gap = (logs[0].median() - logs[1].median()).abs()
        found[f"median log {number}, error"] = float(gap.mean())
    found["other groups than the code's"] = float((made["group"] != made["code"].str[0]).mean())
    return found


def correlation_ratio(group: pd.Series, number: pd.Series) -> float:
    """The share of a number's variance that lies between groups, from 0 to 1."""
    means = number.groupby(group).transform("mean")
    return float(means.var() / number.var())
