"""Tables of any size, made up: columns that hang together."""

from typing import Any

import numpy as np
import pyarrow as pa

from nacre.schema import Categorical, Integer, Real, Schema


def hanging_together(
    rows: int, columns: int, *, seed: int, label: bool = False
) -> tuple[pa.Table, Schema]:
    """One fifth whole numbers, one fifth real ones, the others categories of 2 to 15 values.

    With `label`, the last column, one of categories, is it.
    """
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=rows).astype(np.float32)
    found: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for i in range(columns):
        value = hidden * np.float32(0.6) + rng.normal(size=rows).astype(np.float32)
        if i < columns // 5:
            schema[f"c{i}"] = Integer(low=0, high=100)
            found[f"c{i}"] = np.clip(value * 15 + 50, 0, 100).astype(np.int32)
        elif i < 2 * columns // 5:
            schema[f"c{i}"] = Real(low=-6, high=6)
            found[f"c{i}"] = np.clip(value, -6, 6)
        else:
            size = 2 if label and i == columns - 1 else 2 + i % 14
            schema[f"c{i}"] = Categorical(values=[f"v{k}" for k in range(size)])
            codes = np.clip((value + 3) / 6 * size, 0, size - 1).astype(np.int8)
            names = pa.array([f"v{k}" for k in range(size)])
            found[f"c{i}"] = pa.DictionaryArray.from_arrays(pa.array(codes), names)
    return pa.table(found), Schema(schema, label=f"c{columns - 1}" if label else None)
