"""Simulated visits: hours of the day, days of the week, and codes that determine their group."""

from typing import Any

import numpy as np
import pandas as pd

ROWS = 12_000
GROUPS = "ABCDEFGH"
CODES = [f"{group}{number:02d}" for group in GROUPS for number in range(25)]
BY_HOUR = np.r_[[2, 1.6, 1.3, 1.1, 1, 1.1, 1.6, 2.6], np.linspace(4, 6.5, 4), [6] * 8, [5, 4, 3, 2]]
BY_DAY = np.array([1.25, 1, 1, 1, 1, 0.75, 0.7])
KINDS = list("uvwxyz")


def visits(rng: np.random.Generator) -> pd.DataFrame:
    """Arrivals by the minute in two years; codes of 8 groups, and a kind that goes with the group.

    Nights are quiet, Mondays busy, weekends slow; one kind of visit comes at night.
    """
    code = rng.choice(len(CODES), ROWS, p=rng.dirichlet(np.full(len(CODES), 0.5)))
    group = code // 25
    kind = np.where(rng.random(ROWS) < 0.7, group % 6, rng.integers(0, 6, ROWS))
    hour = rng.choice(24, ROWS, p=BY_HOUR / BY_HOUR.sum())
    night = (kind == 5) & (rng.random(ROWS) < 0.7)
    hour[night] = rng.choice([22, 23, 0, 1, 2, 3], night.sum())
    days = np.arange("2023-01-01", "2025-01-01", dtype="datetime64[D]")
    weight = BY_DAY[(days.astype(int) + 3) % 7]
    day = rng.choice(days, ROWS, p=weight / weight.sum()).astype("datetime64[m]")
    minutes = (60 * hour + rng.integers(0, 60, ROWS)).astype("timedelta64[m]")
    return pd.DataFrame(
        {
            "seen": (day + minutes).astype("datetime64[us]"),
            "code": np.array(CODES)[code],
            "group": np.array(list(GROUPS))[group],
            "kind": np.array(KINDS)[kind],
            "age": rng.normal(50, 20, ROWS).round().clip(0, 110).astype(int),
        }
    )


def said() -> dict[str, dict[str, Any]]:
    """The columns of the schema."""
    return {
        "seen": {"type": "datetime", "low": "2023-01-01", "high": "2024-12-31", "step": "1min"},
        "code": {"type": "categorical", "values": CODES},
        "group": {"type": "categorical", "values": list(GROUPS)},
        "kind": {"type": "categorical", "values": KINDS},
        "age": {"type": "integer", "low": 0, "high": 110},
    }


def fact() -> dict[str, dict[str, str]]:
    """The look-up table of groups by code."""
    return {"group determined by code": {code: code[0] for code in CODES}}


def kept(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """Shares of rows at a wrong hour or day of the week, what nights and groups go together with.

    The link of groups and kinds is Cramér's V, its value among the real rows beside it.
    """
    tables = [
        {
            "hour": each["seen"].dt.hour,
            "day of the week": each["seen"].dt.day_of_week,
        }
        for each in (real, made)
    ]
    found = {}
    for name in tables[0]:
        shares = [table[name].value_counts(normalize=True) for table in tables]
        found[f"wrong {name}"] = float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    for name, frame in (("real", real), ("synthetic", made)):
        hour = frame["seen"].dt.hour
        night = (hour >= 22) | (hour < 4)
        found[f"nights of kind z, {name}"] = float(night[frame["kind"] == "z"].mean())
        found[f"V of group and kind, {name}"] = cramers_v(frame["group"], frame["kind"])
    found["other groups than the code's"] = float((made["group"] != made["code"].str[0]).mean())
    return found


def cramers_v(left: pd.Series, right: pd.Series) -> float:
    """How strongly two categories go together, from 0 to 1."""
    table = pd.crosstab(left, right).to_numpy(float)
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    square = float(((table - expected) ** 2 / expected).sum() / table.sum())
    return float(np.sqrt(square / (min(table.shape) - 1)))
