"""The numbers of one row on a common grid, in integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nacre.schema import Layout


def on_grid(layout: Layout, bits: int) -> Callable[[Any], Any]:
    """A function of one row: each number from 0 to 2^bits, rounded, as int32.

    Exact:
        positions are below 2^31, so that the products fit into 64 bits.
    """
    import jax.numpy as jnp

    most = np.array([number.positions for number in layout.numbers], np.int64)

    def numbers(row: Any) -> Any:
        position = jnp.clip(row.numbers.astype(jnp.int64), 0, most)
        return (((position << (bits + 1)) + most) // (2 * most)).astype(jnp.int32)

    return numbers
