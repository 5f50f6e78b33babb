"""Randomness by name: what is drawn for one purpose does not disturb another."""

import numpy as np


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose.

    Examples:
        >>> bool(generator(0, "mmd").random() == generator(0, "mmd").random())
        True
        >>> bool(generator(0, "mmd").random() == generator(0, "w2").random())
        False
    """
    return np.random.default_rng([seed, *purpose.encode()])
