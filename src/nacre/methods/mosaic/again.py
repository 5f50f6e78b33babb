"""Which pairs are counted once more, and how finely: where the first counting says that it pays.

Two columns that have nothing to do with each other have a table that says nothing beside their
histograms; counting it better is of no use, and counting a strong link better is.  The first
counting, of all pairs, tells which is which, by the coefficients of `spectrum`.  The weights of the
second one follow from its noisy answer alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.learn import Pairs, bases
from nacre.methods.mosaic.spectrum import contrasts

Array = NDArray[np.float64]

DOUBT = 0.5  # deviations of noise by which a group of coefficients may hold more than it seems to
RANGE = 100.0  # of the logarithm of prices
HALVINGS = 30  # of an interval in which a price, or a precision, is looked for


def worthwhile(histograms: Histograms, pairs: Pairs, room: float) -> Array:
    """How much more precisely each table is to be counted, (tables,), `room` in all of them.

    A precision is one over the variance of a count.  A coefficient of square e that is known with
    precision u is off by e / (1 + e u) in the mean, once it is shrunk as it should be (Stein).  So
    tables get what makes a little more of it take off equally much of what they are off by.
    """
    squares, sizes = _groups(histograms, pairs)
    known = np.array([noise**-2 for noise in pairs.noise.values()])
    dearest = float((squares**2 / sizes).sum(1).max())
    even, asked = np.full(len(known), room / len(known)), np.zeros(len(known))
    if not dearest > 0:
        return even
    low, high = np.log(dearest) - RANGE, np.log(dearest)
    for _ in range(HALVINGS):
        price = (low + high) / 2
        asked = np.maximum(_precisions(squares, sizes, np.exp(price), known + room) - known, 0.0)
        low, high = (price, high) if asked.sum() > room else (low, price)
    if not asked.sum() > 0:
        return even
    return np.asarray(asked * (room / asked.sum()))


def _precisions(squares: Array, sizes: Array, price: float, most: Array) -> Array:
    """The precision of each table at which more of it gains this price for each unit."""
    low, high = np.zeros(len(squares)), most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        gain = (squares**2 * sizes / (squares * middle[:, None] + sizes) ** 2).sum(1)
        low, high = np.where(gain > price, middle, low), np.where(gain > price, high, middle)
    return np.asarray(high)


def _groups(histograms: Histograms, pairs: Pairs) -> tuple[Array, Array]:
    """What groups of coefficients hold beside independence and noise, and their sizes.

    Both (tables, most groups); what is left over of the latter holds nothing.
    """
    sides = len(next(iter(pairs.tables.values())))
    single = [
        bin_sums(group, histograms.cleaned[column])
        for column, group in zip(pairs.joined, pairs.groups, strict=True)
    ]
    if sides == 1:
        single = [counts.sum(0, keepdims=True) for counts in single]
    every = bases(histograms, pairs)
    classes, rows = contrasts(sides), np.maximum(single[0].sum(1), 1e-9)[:, None, None]
    found = []
    for (i, j), table in pairs.tables.items():
        rest = table - single[i][:, :, None] * single[j][:, None, :] / rows
        (left, left_group), (right, right_group) = every[i], every[j]
        turned = np.tensordot(classes.T, left.T @ rest @ right, 1) ** 2
        # Means of a column's bins are its histogram, which is known.
        turned, variance = turned[:, 1:, 1:], pairs.noise[i, j] ** 2
        wide = int(right_group.max()) + 1
        groups = left_group[1:, None] * wide + right_group[1:]
        groups = groups + (left_group.max() + 1) * wide * (np.arange(sides) > 0)[:, None, None]
        place = np.unique(groups, return_inverse=True)[1].ravel()
        size = np.bincount(place).astype(np.float64)
        above = np.maximum(np.bincount(place, turned.ravel()) - size * variance, 0.0)
        found.append((above + DOUBT * np.sqrt(2 * size) * variance, size))
    longest = max(len(size) for _, size in found)
    pad = [(0, longest - len(size)) for _, size in found]
    squares = np.stack([np.pad(held, own) for (held, _), own in zip(found, pad, strict=True)])
    sizes = [np.pad(s, own, constant_values=1.0) for (_, s), own in zip(found, pad, strict=True)]
    return squares, np.stack(sizes)
