"""Simulated rental contracts: a cap that many rents of one sector stand at, and no others."""

from typing import Any

import numpy as np
import pandas as pd

ROWS = 9000
CAP = 879.66
SECTORS = ["social", "private", "mid", "coop"]
OTHERS = 10  # columns that have nothing to do with the rent, among which the budget is shared


def contracts(rng: np.random.Generator) -> pd.DataFrame:
    """One row a contract: social rents are cut off at the cap."""
    sector = rng.choice(4, ROWS, p=[0.36, 0.45, 0.15, 0.04])
    area = np.exp(rng.normal(4.1, 0.45, ROWS)).clip(8, 400).round(1)
    level = np.array([-0.25, 0.33, 0.08, 0.0])[sector]
    rent = np.exp(3.3 + 0.8 * np.log(area) + level + rng.normal(0, 0.15, ROWS)).round(2)
    rent = np.where(sector == 0, np.minimum(rent, CAP), rent).clip(0, 10_000)
    others = {f"fee {k}": rng.gamma(2, 20, ROWS).round().clip(0, 500) for k in range(OTHERS)}
    return pd.DataFrame(
        {"sector": np.array(SECTORS)[sector], "area": area, "rent": rent, **others}
    ).astype(dict.fromkeys(others, int))


def said() -> dict[str, Any]:
    """What the columns may hold."""
    fee = {"type": "integer", "low": 0, "high": 500}
    return {
        "sector": {"type": "categorical", "values": SECTORS},
        "area": {"type": "real", "low": 0, "high": 1000, "decimals": 1},
        "rent": {"type": "real", "low": 0, "high": 10_000, "decimals": 2},
        **{f"fee {k}": fee for k in range(OTHERS)},
    }


def kept(real: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """How many rents are at the cap, in the sector that has one and in others."""
    found = {}
    for name, frame in (("real", real), ("synthetic", made)):
        social, capped = frame["sector"].astype(str) == "social", frame["rent"] == CAP
        found |= {
            f"at the cap, social, {name}": capped[social].mean(),
            f"at the cap, others, {name}": capped[~social].mean(),
            f"area and rent, {name}": frame["area"].corr(frame["rent"], method="spearman"),
        }
    return found
