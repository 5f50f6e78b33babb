"""Chosen pairs as blocks: each row has one place in each, and it is the right one."""

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.blocks import block_features, cross_features
from nacre.rows import Row

SIZES = (3, 4, 2)
BINS = np.array([0, 1, 1, 0, 0, 1, 2, 0, 1])  # of all cells, column by column
SLOTS = (2, 3, 2)


def places(row):
    return row.codes + jnp.array([0, 3, 7])


@pytest.mark.parametrize("starts", [(0, 6), (0, 9)], ids=["packed", "with room"])
def test_each_row_is_in_the_right_place_of_each_block(starts):
    features = block_features(places, BINS, [(0, 1), (1, 2)], SLOTS, starts)
    for codes in np.ndindex(*SIZES):
        found, ones = features(Row(jnp.zeros(0, jnp.int32), jnp.array(codes)))
        a, b, c = (BINS[start + code] for start, code in zip((0, 3, 7), codes, strict=True))
        assert found.tolist() == [starts[0] + a * 3 + b, starts[1] + b * 2 + c]
        assert ones.tolist() == [1, 1]
        assert found[0] < starts[1] <= found[1], "blocks must not meet"


def test_tables_of_several_columns_have_norm_one_by_table_for_every_row():
    tables, starts = [(0, 1), (0, 1, 2)], (0, 9)
    features = cross_features(places, BINS, tables, 3, starts)
    seen = set()
    for codes in np.ndindex(*SIZES):
        found, ones = features(Row(jnp.zeros(0, jnp.int32), jnp.array(codes)))
        a, b, c = (BINS[start + code] for start, code in zip((0, 3, 7), codes, strict=True))
        assert found.tolist() == [a * 3 + b, 9 + (a * 3 + b) * 3 + c]
        assert ones.tolist() == [1, 1], "the norm of each block is reached, and no more"
        assert found[0] < 9 <= found[1] < 36
        seen.add(found[1].item())
    assert len(seen) == 2 * 3 * 2, "every cell that bins can reach has a place of its own"
