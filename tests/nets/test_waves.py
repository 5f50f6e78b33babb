"""Waves for training: the polynomial pair, expected waves, sums over tiles, their slopes."""

import jax
import jax.numpy as jnp
import numpy as np

from nacre.nets.waves import cosine_sine, expected_wave, sum_of_tiles, tiles


def test_cosine_and_sine_are_right_to_a_millionth_over_thousands_of_radians():
    phases = np.linspace(-3000, 3000, 200_001).astype(np.float32)
    cosine, sine = cosine_sine(jnp.asarray(phases))
    exact = phases.astype(np.float64)
    assert np.abs(cosine - np.cos(exact)).max() < 1e-6
    assert np.abs(sine - np.sin(exact)).max() < 1e-6


def test_the_slopes_of_the_pair_are_minus_sine_and_cosine():
    phases = jnp.linspace(-9, 9, 101)
    slopes = [
        jax.vmap(jax.grad(lambda x, part=part: cosine_sine(x)[part]))(phases) for part in (0, 1)
    ]
    np.testing.assert_allclose(slopes[0], -np.sin(phases), atol=1e-6)
    np.testing.assert_allclose(slopes[1], np.cos(phases), atol=1e-6)


def test_endless_phases_have_no_waves():
    assert np.isnan(np.asarray(cosine_sine(jnp.array([np.inf, -np.inf, np.nan])))).all()


def plain_wave(parts, factors):
    (numbers, chances), (frequencies, waves) = parts, factors
    found = jnp.exp(1j * (numbers @ frequencies))
    for p, (cosine, sine) in zip(chances, waves, strict=True):
        found = found * (p @ (cosine + 1j * sine))
    return found.real, found.imag


def test_an_expected_wave_has_the_value_and_the_slopes_of_its_formula():
    keys = iter(jax.random.split(jax.random.key(0), 20))

    def drawn(*shape):
        return jax.random.normal(next(keys), shape)

    parts = (drawn(2, 3, 2), [drawn(2, 3, values) for values in (5, 2, 7)])
    factors = (drawn(2, 4), [(drawn(values, 4), drawn(values, 4)) for values in (5, 2, 7)])
    weights = drawn(2, 2, 3, 4)

    def total(wave):
        def found(parts, factors):
            return jnp.sum(weights * jnp.stack(wave(parts, factors)))

        return jax.value_and_grad(found, argnums=(0, 1))(parts, factors)

    both = map(total, (expected_wave, plain_wave))
    for found, wanted in zip(*map(jax.tree.leaves, both), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_a_factor_of_zero_leaves_the_others_in_its_slope():
    # Half of the first value and half of its opposite; the slope is by division all the same.
    chances = [jnp.array([[0.5, 0.5]]), jnp.array([[0.3, 0.7]])]
    opposite, ahead = (
        (jnp.array([[1.0], [-1.0]]), jnp.zeros((2, 1))),
        (jnp.ones((2, 1)), jnp.array([[0.0], [1.0]])),
    )
    factors = (jnp.zeros((1, 1)), [opposite, ahead])

    def first(chances):
        return expected_wave((jnp.zeros((1, 1)), chances), factors)[0].sum()

    value, (by_first, by_second) = jax.value_and_grad(first)(chances)
    assert abs(float(value)) < 1e-8
    np.testing.assert_allclose(by_first, [[1.0, -1.0]], rtol=1e-5)
    np.testing.assert_allclose(by_second, [[0.0, 0.0]], atol=1e-8)


def test_a_sum_over_tiles_is_the_sum_over_everything_with_its_slopes(monkeypatch):
    monkeypatch.setattr("nacre.nets.waves.TILE", 60)
    rows, chosen, matrix = (
        jax.random.normal(jax.random.key(n), shape)
        for n, shape in enumerate([(6, 3), (25,), (25, 3)])
    )

    def part(rows, chosen, matrix):
        return jnp.sum(chosen * (jnp.sin(rows @ matrix.T).sum(0)) ** 2)

    def tiled(rows, chosen):
        own, fixed = tiles((chosen, matrix), len(rows))
        assert own.shape == (3, 9)
        return sum_of_tiles(part, rows, own, fixed)

    found = jax.value_and_grad(tiled, argnums=(0, 1))(rows, chosen)
    wanted = jax.value_and_grad(part, argnums=(0, 1))(rows, chosen, matrix)
    for one, other in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(tiled(rows, chosen), wanted[0], rtol=1e-5)


def test_one_tile_is_no_loop():
    own, fixed = tiles((jnp.ones(4), jnp.ones((4, 2))), 10)
    assert own.shape == (1, 4)
    slopes = jax.grad(lambda x: sum_of_tiles(lambda s, o, f: s * (o @ f).sum(), x, own, fixed))
    assert float(slopes(2.0)) == 8.0
