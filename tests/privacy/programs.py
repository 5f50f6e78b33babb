"""A function of one row as the vault traces it."""

import jax
from tests.vaults import plain_encoder

from nacre.vault.tracing import trace

ENCODER = plain_encoder(8, 2)
SHAPE = ENCODER.shape


def key_shape():
    return jax.eval_shape(lambda: jax.random.key(0, impl="threefry2x32"))


def checked(function):
    """The program of a function of (numbers, key)."""
    return trace(lambda row, key: function(row.numbers, key), SHAPE, key_shape())
