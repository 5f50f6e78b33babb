"""The training loop: it descends, its critic ascends, and progress is told."""

import jax.numpy as jnp
import pytest

from nacre.nets.minimize import Adversary, minimize


def test_finds_a_minimum_and_reports():
    told = []
    found = minimize(
        {"x": jnp.zeros(3)},
        lambda model, critic, step, key: jnp.sum((model["x"] - 2.0) ** 2),
        steps=250,
        rate=0.1,
        on_progress=told.append,
    )
    assert jnp.allclose(found["x"], 2.0, atol=1e-2)
    assert told == [pytest.approx(0.4), pytest.approx(0.8), 1.0]


def test_the_critic_weights_what_is_worst():
    # Weights exp(c) on two errors that cannot both be small: the critic leans on the larger one.
    def loss(model, critic, step, key):
        weights = jnp.exp(critic)
        return jnp.sum(weights * (model - jnp.array([0.0, 4.0])) ** 2)

    play = Adversary(start=jnp.zeros(2), rate=0.05, every=5, box=1.0)
    plain = minimize(jnp.array(1.0), loss_without(loss), steps=600, rate=0.05)
    against = minimize(jnp.array(1.0), loss, steps=600, rate=0.05, adversary=play)
    assert float(plain) == pytest.approx(2.0, abs=0.02)
    assert float(against) == pytest.approx(2.0, abs=0.1)


def loss_without(loss):
    return lambda model, critic, step, key: loss(model, jnp.zeros(2), step, key)


def test_a_callback_may_stop_the_run():
    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimize(
            jnp.zeros(1), lambda m, c, s, k: jnp.sum(m**2), steps=500, rate=0.1, on_progress=stop
        )
