"""Marginals of chosen columns, each table a block of its own, in integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.marginals import Places
from nacre.embed.search import look_up, placed


def block_features(
    places: Places,
    bins: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
    slots: Sequence[int],
    starts: Sequence[int],
) -> Callable[[Any], Any]:
    """One-hot pairs of bins of each pair of columns, as (indices, ones).

    `bins` gives the bin of every cell, below `slots` of its column; the block of pair p begins
    at starts[p], the blocks in increasing order and each at least as long as its slots' product.
    Bins and pairs may follow from earlier releases; slots and starts must be public.

    Sensitivity:
        a row has one pair of bins in each block: L1 and L2 norm 1 by block, add-remove.
    """
    import jax.numpy as jnp

    table = placed(bins)
    left, right = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    width, start = np.asarray(slots, np.int32)[right], placed(starts)

    def features(row: Any) -> Any:
        bin_of = look_up(table, places(row))
        indices = start + look_up(bin_of, left) * width + look_up(bin_of, right)
        return indices, jnp.ones(indices.shape, jnp.int32)

    return features


def cross_features(
    places: Places,
    bins: NDArray[np.int64],
    tables: Sequence[tuple[int, ...]],
    slots: int,
    starts: Sequence[int] | NDArray[np.integer],
) -> Callable[[Any], Any]:
    """One-hot cells of each table of any number of columns, as (indices, ones).

    `bins` gives the bin of every cell, below `slots`; table t begins at starts[t], the tables in
    increasing order and each of slots ** its columns values.  Bins and tables may follow from
    earlier releases; slots and starts must be public.

    Sensitivity:
        a row has one cell in each table: L1 and L2 norm 1 by table, add-remove.
    """
    import jax.numpy as jnp

    bin_table, start = placed(bins), placed(starts)
    widest = max(len(columns) for columns in tables)
    # A table of fewer columns has the first one again, which then counts for nothing.
    which = np.array([(*t, *t[:1] * (widest - len(t))) for t in tables], np.int32)
    stride = np.array(
        [[slots ** (len(t) - 1 - k) if k < len(t) else 0 for k in range(widest)] for t in tables],
        np.int32,
    )

    def features(row: Any) -> Any:
        bin_of, indices = look_up(bin_table, places(row)), start
        for columns, strides in zip(which.T, stride.T, strict=True):
            indices = indices + look_up(bin_of, columns) * strides
        return indices, jnp.ones(len(tables), jnp.int32)

    return features
