"""A taught label whose classes have the shares that were measured."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from nacre.methods.mosaic.drawn import Drawn
from nacre.methods.mosaic.generator import MosaicGenerator

ROUNDS = 30
CLOSE = 1e-5


def balanced(
    generator: MosaicGenerator, shares: NDArray[np.float64], drawn: Drawn
) -> MosaicGenerator:
    """The generator with one more constant for each class, so that labels have these shares.

    Tables that teach the label agree on its shares up to their noise only, and together may move
    them far.  All of it sees noisy answers and drawn rows: post-processing.

    Args:
        generator: with a label model.
        shares: of the classes, noisy, that add up to one.
        drawn: rows of its mixture, by which shares are seen.
    """
    if generator.trust is None or len(shares) < 2:
        return generator
    chance = np.maximum(drawn.chances(generator), 1e-12)
    wanted, more = np.maximum(shares, 1e-9), np.zeros(len(shares))
    for _ in range(ROUNDS):
        tilted = chance * np.exp(more)
        now = (tilted / tilted.sum(1, keepdims=True)).mean(0)
        more += np.log(wanted / np.maximum(now, 1e-9))
        if np.abs(now - wanted).max() < CLOSE:
            break
    first = next(c for c in range(len(generator.sizes)) if generator.is_joined(c))
    start = sum(generator.sizes[:first])
    tilt = generator.tilt.copy()
    # Every row is in one cell of this column, so that it may carry what all rows get.
    tilt[:, start : start + generator.sizes[first]] += (more - more.mean())[:, None]
    return dataclasses.replace(generator, tilt=tilt)
