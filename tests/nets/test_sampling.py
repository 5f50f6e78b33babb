"""A sampling layer: the code about a condition, its spread, its file, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

from nacre.errors import NacreError
from nacre.nets.layers import from_arrays, from_json, start, to_arrays, to_json, widths
from nacre.nets.sampling import REACH, Sampling

LAYER = Sampling(4, 2, 3)
(ARRAYS,) = start((LAYER,), np.random.default_rng(0))


def outputs(condition, n=50_000):
    latent = np.random.default_rng(1).standard_normal((n, 4))
    return LAYER(ARRAYS, np.concatenate([latent, np.tile(condition, (n, 1))], axis=1), np)


def test_a_code_is_normal_about_what_the_condition_says():
    condition = np.array([0.7, -1.5])
    code = outputs(condition)[:, 3:]
    np.testing.assert_allclose(
        code.mean(0), condition @ ARRAYS["mean"] + ARRAYS["bias"][3:6], atol=0.05
    )
    logs = REACH * np.tanh((condition @ ARRAYS["spread"] + ARRAYS["bias"][6:]) / REACH)
    np.testing.assert_allclose(code.std(0), np.exp(logs), rtol=0.02)


@pytest.mark.parametrize("condition", [[1e6, 1e6], [-1e6, 1e6], [0.0, -1e6]])
def test_a_code_never_becomes_certain_nor_endless(condition):
    code = outputs(np.array(condition))[:, 3:]
    spread = (code - code.mean(0)).std(0)
    assert (spread > 0.95 * np.exp(-REACH)).all() and (spread < 1.05 * np.exp(REACH)).all()


def test_it_is_the_same_under_both_libraries_and_from_a_file():
    assert widths((LAYER,), 6) == 6
    x = np.random.default_rng(2).normal(size=(5, 6)).astype(np.float32)
    (again,) = from_json(to_json((LAYER,)))
    (arrays,) = from_arrays((again,), to_arrays([ARRAYS]))
    assert again == LAYER
    np.testing.assert_array_equal(again(arrays, x, np), LAYER(ARRAYS, x, np))
    np.testing.assert_allclose(LAYER(ARRAYS, jnp.asarray(x), jnp), LAYER(ARRAYS, x, np), rtol=1e-5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(NacreError, match="as many latent"):
        Sampling(2, 2, 3)
    with pytest.raises(NacreError, match="inputs follows"):
        LAYER.width(5)
