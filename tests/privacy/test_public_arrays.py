"""Public arrays beside the row: as constants written into the function, whatever is in them."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.rows import ImageEncoder, Stream
from nacre.schema import ImageSchema
from nacre.vault import Adjacency, Bound, Plan, Segment, Sum, Vault

ENCODER = ImageEncoder(ImageSchema(height=2, width=2, classes=2))
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (40, 2, 2)).astype(np.uint8)
LABELS = RNG.integers(0, 2, 40)
NORM = 2.0
ASKED = tuple(
    Sum(
        name=f"sum {place}",
        meaning="products of pixels",
        share=0.25,
        bound=Bound(segments=(Segment(size=3, norm=NORM),), count=1.0),
    )
    for place in range(4)
)


def vault():
    """Without noise, so that answers can be compared."""
    plan = Plan.of(ASKED, epsilon=math.inf, delta=None, adjacency=Adjacency.ADD_REMOVE)
    return Vault(Stream(ENCODER, (PIXELS, LABELS)), plan)


def product(row, weights):
    return row.pixels.reshape(-1).astype(weights.dtype) @ weights


def test_a_sum_is_of_the_arrays_that_it_is_given():
    asked = vault()
    for question, scale in zip(ASKED, (1e-4, 2e-4, -1e-4, 0.0), strict=True):
        weights = (scale * np.ones((4, 3))).astype(np.float32)
        found = asked.sum(question, product, public=weights)
        written = vault().sum(question, lambda row, w=weights: product(row, jnp.asarray(w)))
        assert np.array_equal(found.values, written.values)
        wanted = PIXELS.reshape(40, 4).sum() * scale
        assert np.allclose(found.values, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("size", [1e3, 1e30, math.inf, math.nan])
def test_no_array_makes_a_contribution_larger_than_its_bound(size):
    weights = np.full((4, 3), size, np.float32)
    found = vault().sum(ASKED[0], product, public=weights)
    # All rows push the same way; where that is not finite they count as nothing, not even as rows.
    far = np.linalg.norm(found.values[0])
    assert far <= 40 * NORM * (1 + 1e-9)
    if math.isfinite(size):
        assert far == pytest.approx(40 * NORM, rel=1e-3) and found.total == 40
    else:
        assert far == 0 == found.total


def test_arrays_of_another_kind_have_a_program_of_their_own():
    # Integer programs run on many rows at once, others row by row: the kind of the first arrays
    # must not decide for those that come after.
    asked = vault()
    whole = asked.sum(ASKED[0], product, public=np.zeros((4, 3), np.int32))
    assert not whole.values.any()
    made = asked._last[1]
    weights = np.full((4, 3), 1e-4, np.float32)
    found = asked.sum(ASKED[1], product, public=weights)
    assert asked._last[1] is not made and made.integer and not asked._last[1].integer
    written = vault().sum(ASKED[1], lambda row: product(row, jnp.asarray(weights)))
    assert np.array_equal(found.values, written.values)
    # The same kind again: the same program.
    made = asked._last[1]
    asked.sum(ASKED[2], product, public=2 * weights)
    assert asked._last[1] is made
