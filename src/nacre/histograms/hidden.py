"""Rows that surely are in cells of which none surely holds any: where these may lie.

Amounts of a few rows beside many zeros, under a bound far above: their number is known, but every
cell holds fewer than noise hides.  Left to the noisy counts of single cells or stretches, many of
them would lie where nothing is.  So they are taken for a hump of some place and width, or for a
tail beside the filled cells; all humps are averaged by how likely they make the counts, and those
near filled cells come first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

PLACES = 48  # of humps
WIDTHS = 1 / 48, 1 / 24, 1 / 12, 1 / 6, 1 / 3  # their deviations, as shares of all cells
NEAR = 1 / 6  # of all cells: a hump so far from filled ones is e times less likely beforehand


def hidden(counts: Array, noise: Array | float, known: Mask, mass: float) -> Array:
    """`mass` rows among the cells that are not `known`, as the noisy `counts` make expect.

    The counts are normal around mass times a hump's share of each cell.
    """
    size = len(known)
    precision = np.broadcast_to(np.square(noise, dtype=np.float64) ** -1, size)
    place = np.arange(size)
    away = steps_away(known)
    logs, humps = [], []
    for width in WIDTHS:
        centers = np.linspace(0, size - 1, PLACES)
        hump = np.exp(-0.5 * ((place - centers[:, None]) / (width * size)) ** 2)
        hump = np.where(known, 0.0, hump)
        whole = hump.sum(1, keepdims=True)
        hump = hump[whole[:, 0] > 0] / whole[whole[:, 0] > 0]
        fit = mass * (hump @ (precision * counts)) - 0.5 * mass**2 * (hump**2 @ precision)
        logs.append(fit - hump @ away / (NEAR * size))
        humps.append(hump)
    every = np.concatenate(logs)
    weight = np.exp(every - every.max())
    return np.asarray(mass * (weight / weight.sum()) @ np.concatenate(humps))


def steps_away(known: Mask) -> Array:
    """Of each cell, how many cells it is from the nearest filled one; 1 where there is none."""
    place, there = np.arange(len(known)), np.flatnonzero(known)
    if not len(there):
        return np.ones(len(known))
    after = np.searchsorted(there, place)
    left, right = there[np.maximum(after - 1, 0)], there[np.minimum(after, len(there) - 1)]
    return np.minimum(np.abs(place - left), np.abs(place - right)).astype(np.float64)
