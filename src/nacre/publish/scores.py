"""Scores of a classifier from noisy counts, with error bars that the noise alone explains."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nacre.publish.bands import CONFIDENCE

ENOUGH = 4.0  # deviations of its noise that a class must have rows

Array = NDArray[np.float64]
Measure = Callable[[Array], tuple[float, Array]]  # a score, and its derivative by each count


@dataclasses.dataclass(frozen=True, kw_only=True)
class PaidScore:
    """One number about the private rows, released through the vault.

    Attributes:
        name: what it is.
        value: with noise; None if there is more noise than rows.
        error: half of the 95% interval that the noise leaves; sampling of the rows not included.
        synthetic: the same on synthetic rows that the classifier was not trained on.
        meaning: one sentence for people.
    """

    name: str
    value: float | None
    error: float | None
    synthetic: float
    meaning: str


def binary_scores(
    counts: Array, noise: float, synthetic: Array, *, positive: int, cut: int
) -> list[PaidScore]:
    """AUC and accuracy from a histogram (2, steps) of a classifier's score by class."""
    order = [1 - positive, positive]
    steps = np.arange(counts.shape[1])
    right = np.stack([steps < cut, steps >= cut]).astype(np.float64)
    return [
        _score(
            "AUC",
            "The chance that a row with the label's rarer value gets a higher score than one "
            f"without; 0.5 is guessing. Scores are told apart in {len(steps)} steps.",
            _auc,
            counts[order],
            noise,
            synthetic[order],
        ),
        _score(
            "Accuracy",
            "The share of rows whose label is predicted rightly.",
            lambda table: _accuracy(table, right),
            counts[order],
            noise,
            synthetic[order],
        ),
    ]


def class_scores(counts: Array, noise: float, synthetic: Array) -> list[PaidScore]:
    """Accuracy and balanced accuracy from a table (classes, predicted classes)."""
    right = np.eye(len(counts))
    return [
        _score(
            "Accuracy",
            "The share of rows whose label is predicted rightly.",
            lambda table: _accuracy(table, right),
            counts,
            noise,
            synthetic,
        ),
        _score(
            "Balanced accuracy",
            "The same for each value of the label, averaged over the values.",
            _balanced,
            counts,
            noise,
            synthetic,
        ),
    ]


def majority(counts: Array) -> float:
    """The accuracy of always saying the most frequent value."""
    sums = counts.sum(1)
    return float(np.clip(sums.max() / max(sums.sum(), 1.0), 0.0, 1.0))


def _score(
    name: str, meaning: str, measure: Measure, counts: Array, noise: float, synthetic: Array
) -> PaidScore:
    told = measure(synthetic)[0]
    value: float | None = None
    error: float | None = None
    weakest = counts.sum(1).min() if name != "Accuracy" else counts.sum()
    size = counts.shape[1] if name != "Accuracy" else counts.size
    if weakest > ENOUGH * noise * np.sqrt(size):
        found, slope = measure(counts)
        half = ndtri((1 + CONFIDENCE) / 2) * noise * np.sqrt((slope**2).sum())
        value, error = float(np.clip(found, 0.0, 1.0)), float(half)
    return PaidScore(name=name, value=value, error=error, synthetic=float(told), meaning=meaning)


def _auc(table: Array) -> tuple[float, Array]:
    """P(score of a positive > of a negative) + half of ties, and its derivative by each count.

    AUC = A / (N P), A = sum_i p_i (n_below(i) + n_i / 2), with n in row 0 and p in row 1.
    """
    negative, positive = table
    below = np.cumsum(negative) - negative / 2
    above = positive.sum() - np.cumsum(positive) + positive / 2
    n, p = max(negative.sum(), 1e-9), max(positive.sum(), 1e-9)
    auc = float(positive @ below / (n * p))
    return auc, np.stack([above / (n * p) - auc / n, below / (n * p) - auc / p])


def _accuracy(table: Array, right: Array) -> tuple[float, Array]:
    """Right ones over all, and its derivative."""
    total = max(table.sum(), 1e-9)
    share = float((table * right).sum() / total)
    return share, (right - share) / total


def _balanced(table: Array) -> tuple[float, Array]:
    """The mean over classes of the share that is right, and its derivative; empty ones left out."""
    sums = table.sum(1)
    known = sums > 0
    sums = np.maximum(sums, 1e-9)
    share = np.diag(table) / sums
    slope = (np.eye(len(table)) - share[:, None]) / sums[:, None] / max(known.sum(), 1)
    return float(share[known].mean()) if known.any() else 0.0, slope * known[:, None]
