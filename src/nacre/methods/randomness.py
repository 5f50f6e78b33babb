"""Public randomness of methods under NumPy: drawn from the user's seed, never noise."""

from __future__ import annotations

from typing import Any

import numpy as np


def public_rng(key: Any) -> np.random.Generator:
    """A NumPy generator for public randomness, from a JAX key."""
    import jax

    return np.random.default_rng(np.asarray(jax.random.key_data(key)))
