"""A layer by label: each class's own latent numbers, its file, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.errors import NacreError
from nacre.nets.by_label import ByLabel
from nacre.nets.layers import from_json, to_json, widths

LAYER = ByLabel(2, 3)
INPUTS = np.array([[0.5, -1.0, 0, 0, 1], [2.0, 3.0, 1, 0, 0]], np.float32)


def test_latent_numbers_stand_in_the_place_of_their_class():
    wanted = [[0, 0, 0, 0, 0.5, -1, 0, 0, 1], [2, 3, 0, 0, 0, 0, 1, 0, 0]]
    np.testing.assert_array_equal(LAYER({}, INPUTS, np), wanted)
    np.testing.assert_array_equal(LAYER({}, jnp.asarray(INPUTS), jnp), wanted)
    assert widths(from_json(to_json((LAYER,))), 5) == 9


def test_what_does_not_fit_is_refused():
    with pytest.raises(NacreError, match="follows one of 6"):
        LAYER.width(6)
    with pytest.raises(NacreError, match="larger than any"):
        ByLabel(2000, 1000).width(3000)
