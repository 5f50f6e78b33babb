"""A mixture of products over bins: its parameters, its moments, and their derivatives.

A component is a softmax for each column's bins and one for the label.  With probabilities P (R, D)
over all D bins and joint weights W (R, C) of component and class, the two-way marginals of class c
are P' diag(W_c) P: closed form, so no sampling is needed.  These are products of small matrices:
done before a program for them would be compiled, so they and their derivatives are NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

STEEPEST = 40.0  # a logit is at most so far from zero


class Logits(NamedTuple):
    """Parameters: (R, D) of the bins, (R, C) of the classes, (R,) of the components."""

    bins: Array
    label: Array
    weight: Array

    @staticmethod
    def within(flat: Array, components: int, places: int, classes: int) -> Logits:
        """Views into one vector of them all."""
        ends = np.cumsum([components * places, components * classes])
        bins, label, weight = np.split(flat, ends)
        return Logits(bins.reshape(components, -1), label.reshape(components, -1), weight)


def mixture(logits: Logits, owner: Array) -> tuple[Array, Array]:
    """P (R, D) and W (R, C) of the parameters; `owner` (D, K) says whose bin is whose."""
    raw = np.exp(np.clip(logits.bins, -STEEPEST, STEEPEST))
    share = softmax(logits.weight)[:, None] * softmax(logits.label)
    return raw / ((raw @ owner) @ owner.T), share


def softmax(logits: Array) -> Array:
    """Over the last axis."""
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def to_logits(p: Array, w: Array, slope_p: Array, slope_w: Array, owner: Array) -> Logits:
    """Derivatives by the parameters, from those by P and W."""
    weighed = p * slope_p
    bins = weighed - p * ((weighed @ owner) @ owner.T)
    share = w.sum(1)
    own = w * slope_w
    total = own.sum(1)
    label = own - w * (total / np.maximum(share, np.finfo(w.dtype).tiny))[:, None]
    return Logits(bins, label, total - share * total.sum())


def pair_moments(p: Array, w: Array) -> Array:
    """Two-way marginals by class, (C, D, D); W is nowhere negative."""
    found = np.empty((w.shape[1], p.shape[1], p.shape[1]), p.dtype)
    for own, column in zip(found, np.sqrt(w).T, strict=True):
        half = column[:, None] * p
        np.matmul(half.T, half, out=own)  # of a matrix with itself: half of the products
    return found


def moment_slopes(p: Array, w: Array, slopes: Sequence[Array] | Array) -> tuple[Array, Array]:
    """Derivatives by P and W, from those by the moments of each class, which are symmetric."""
    slope_p, slope_w = np.zeros_like(p), np.empty_like(w)
    for c, slope in enumerate(slopes):
        turned = p @ slope
        slope_w[:, c] = np.einsum("rd,rd->r", p, turned)
        turned *= 2 * w[:, c, None]
        slope_p += turned
    return slope_p, slope_w
