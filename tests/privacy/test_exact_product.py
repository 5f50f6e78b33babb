"""A product is exact only where the vault itself finds that no sum can overflow."""

import jax
import jax.numpy as jnp
import numpy as np
from tests.privacy.programs import ENCODER

from nacre import exact
from nacre.vault import Bound, Segment
from nacre.vault.exact_sum import ExactSum


def product(weights, owners=(0, 0, 1), values=(0, 1, 0), names="exact_product"):
    weights = np.asarray(weights, np.int32)
    public = [jnp.asarray(np.asarray(part, np.int32)) for part in (weights, owners, values)]
    called = jax.jit(getattr(exact, names))
    return lambda row: called(row.numbers, row.codes, *public)


def summed(features, size):
    return ExactSum(features, Bound(segments=(Segment(size=size, norm=2.0**20),)), ENCODER)


SMALL = np.arange(22).reshape(11, 2) * 5


def test_a_product_is_exact_if_the_vault_finds_its_bound():
    # Seven numbers of 2^11 with weights that add up to 2^13 - 2: just below 2^24.
    edge = np.zeros((11, 1), int)
    edge[:8, 0] = [2**10] * 7 + [2**10 - 2]
    over = edge.copy()
    over[7, 0] += 2
    assert summed(product(SMALL), 2).exact
    assert summed(product(edge), 1).exact
    assert not summed(product(over), 1).exact
    # One code, two values: only one of them can count, unless both stand for the same.
    hot = np.zeros((11, 1), int)
    hot[8:10, 0] = 2**23 + 1
    assert summed(product(hot), 1).exact
    assert not summed(product(hot, values=(0, 0, 0)), 1).exact
    assert not summed(product(hot, owners=(0, 1, 1)), 1).exact


def test_weights_that_the_vault_cannot_read_or_bound_are_not_exact():
    owners, values = jnp.zeros(3, jnp.int32), jnp.arange(3, dtype=jnp.int32)

    def from_the_row(row):
        return exact.run_exact_product(
            row.numbers, row.codes, jnp.zeros((11, 2), jnp.int32) + row.codes[0], owners, values
        )

    def in_a_loop(row):
        product_of = product(SMALL)
        return jax.lax.fori_loop(0, 2, lambda _, y: y + product_of(row), jnp.zeros(2, jnp.int32))

    assert not summed(product(SMALL * 10**6), 2).exact
    assert not summed(from_the_row, 2).exact
    assert not summed(in_a_loop, 2).exact


def test_an_impostor_is_found_out():
    def impostor(numbers, codes, weights, owners, values):
        return jnp.sin(numbers @ weights[:8] * 1.0).astype(jnp.int32)

    impostor.__name__ = "exact_product"
    called, weights = jax.jit(impostor), jnp.asarray(SMALL, jnp.int32)
    ends = jnp.zeros(3, jnp.int32)
    assert not summed(lambda row: called(row.numbers, row.codes, weights, ends, ends), 2).exact
