"""How classes differ in many numbers: polynomials of their ranks, added up class by class.

A histogram of each of K numbers puts a row into K cells, so that its noise grows with the root of
K, and what a class's rows have in common is spread over all cells of a column.  A number's rank
among all rows, and the square of it, say most of how a class differs, in two values; their noise
is several times less.  Ranks follow from the histograms that were released before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.search import look_up, placed
from nacre.histograms.cells import Column, NumberColumn
from nacre.histograms.histograms import Histograms, deviation
from nacre.rows import Label
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.marginals import Places
    from nacre.methods.mosaic.asking import Seen
    from nacre.vault import Vault

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SHIFTS = "shifts of numbers"
ORDERS = 2  # where a class lies, and how wide it is
LONGEST = 1.1  # the norm, of that of a row whose numbers have nothing to do with each other
FARTHEST = 3.0  # deviations of one value: rare cells would be far out
FLAT = 0.01  # deviation of ranks: hardly any row differs from the others
NOTHING = 1e-9
SCALES = 2.0 ** np.arange(-2, 11)  # squares of a shift over that of its noise
ROUNDS = 60  # of expectation and maximization
STEPS, STEEPEST = 25, 8.0  # of Newton's method, and the largest coefficient it may reach
AGAIN = 4  # times that columns and rows of a table are brought back to their sums


def numbers_of(columns: Sequence[Column], target: int | None) -> list[int]:
    """The places of the numbers, but for a numeric label."""
    kinds = enumerate(columns)
    return [place for place, kind in kinds if isinstance(kind, NumberColumn) and place != target]


def unit_of(numbers: int, norm: int) -> float:
    """What a deviation of one value counts, in whole parts of the norm."""
    return norm / (LONGEST * math.sqrt(ORDERS * numbers))


def shifts_question(
    numbers: int, stretches: int, label: Label | None, norm: int, share: float, given: str
) -> Sum:
    """Two polynomials of each number's rank, added up by class, or in so many stretches of values.

    Sensitivity:
        the vault clips a row's whole values, of any sign, to `norm`: add-remove `norm`, replace-one
        2 `norm`, as the other row's may be the opposite.
    """
    size = ORDERS * numbers * stretches
    return Sum(
        name=SHIFTS,
        meaning=f"where the rows lie among all, and how widely, in {numbers} numbers" + given,
        bound=Bound(segments=(Segment(size=size, norm=norm, signed=True),), by=label),
        share=share,
        unit=unit_of(numbers, norm),
    )


def with_shifts(vault: Vault, question: Sum, seen: Seen) -> Histograms:
    """Histograms by class in which numbers lie as the answer says, as far as noise tells."""
    histograms, target = seen.histograms, seen.target
    numbers = numbers_of(histograms.columns, None if target is None else target.column)
    norm = int(question.bound.segments[0].norm)
    unit = unit_of(len(numbers), norm)
    scores = [rank_scores(histograms, column) for column in numbers]
    features = shift_features(seen.places, histograms.columns, numbers, scores, unit)
    size = ORDERS * len(numbers)
    if target is not None:
        features = target.split(features, seen.places, histograms.columns, size)
    classes = len(histograms.sizes)
    sums = vault.sum(question, features, used=size * (1 if target is None else classes))
    values = np.asarray(sums.values, np.float64).reshape(-1, size)[:classes] / unit
    values = values.reshape(classes, len(numbers), ORDERS)
    noise = deviation(sums.noise[0] / unit)
    cleaned, named = list(histograms.cleaned), list(zip(numbers, scores, strict=True))
    before = np.stack([cleaned[c][:, : s.shape[1]] @ s.T for c, s in named], axis=1)
    shares = (histograms.sizes / histograms.total)[:, None, None]
    gap = values - before
    gap -= shares * gap.sum(0)
    # Var(x_c - s_c sum_k x_k) = Var(x) ((1 - s_c)^2 + s_c^2 (C - 1))
    factor = (1 - shares) ** 2 + shares**2 * (classes - 1)
    for order in range(ORDERS):
        for own in range(classes):
            spread = noise * math.sqrt(float(factor[own, 0, 0]))
            gap[own, :, order] = shrunk(gap[own, :, order], spread)
    for place, (column, score) in enumerate(named):
        cleaned[column] = tilted(cleaned[column], score, before[:, place] + gap[:, place])
    return dataclasses.replace(histograms, cleaned=cleaned)


def shift_features(
    places: Places,
    columns: Sequence[Column],
    numbers: Sequence[int],
    scores: Sequence[Array],
    unit: float,
) -> Callable[[Any], Any]:
    """Each number's polynomials in a row, as (indices, whole values).

    Sensitivity:
        the vault clips to the bound that is public, whatever the scores.
    """
    import jax.numpy as jnp

    tables = np.zeros((ORDERS, sum(column.size for column in columns)), np.int64)
    starts = np.cumsum([0, *(column.size for column in columns)])
    for column, score in zip(numbers, scores, strict=True):
        tables[:, starts[column] : starts[column] + score.shape[1]] = np.rint(score * unit)
    kept = [placed(table) for table in tables]
    which, index = np.array(numbers, np.int32), placed(np.arange(ORDERS * len(numbers)))

    def features(row: Any) -> Any:
        cells = look_up(places(row), which)
        values = jnp.stack([look_up(table, cells) for table in kept], axis=1)
        return index, values.reshape(-1)

    return features


def rank_scores(histograms: Histograms, column: int) -> Array:
    """(orders, cells) polynomials of the ranks of a number's cells, of mean 0 and variance 1.

    Of all rows that have the number, by its denoised histogram; those that do not have it score 0.
    """
    size = histograms.columns[column].cells.size  # type: ignore[union-attr]
    mass = np.maximum(histograms.cleaned[column].sum(0)[:size], 0.0)
    mass = mass / max(float(mass.sum()), NOTHING)
    rank = np.cumsum(mass) - mass / 2
    found = np.zeros((ORDERS, size))
    basis = [np.ones(size)]
    for order in range(ORDERS):
        score = rank ** (order + 1)
        for other in basis:
            score = score - (score * other) @ mass * other
        length = math.sqrt(float(score**2 @ mass))
        if length < FLAT:
            break
        basis.append(score / length)
        found[order] = np.clip(score / length, -FARTHEST, FARTHEST)
    return found


def shrunk(seen: Array, noise: float) -> Array:
    """What is expected of many numbers that were seen with noise of this deviation.

    Their prior is a mixture of normal distributions around zero, of all scales, fitted to what was
    seen (empirical Bayes; Stephens, 2017): a few large ones among many that are nothing stay.
    """
    scales = np.concatenate([[0.0], SCALES])
    ratio = (seen[:, None] / noise) ** 2 / (1 + scales)
    likely = -0.5 * (ratio + np.log1p(scales))
    likely = np.exp(likely - likely.max(1, keepdims=True))
    weights = np.full(len(scales), 1 / len(scales))
    for _ in range(ROUNDS):
        own = likely * weights
        own /= own.sum(1, keepdims=True)
        weights = own.mean(0)
    own = likely * weights
    own /= own.sum(1, keepdims=True)
    return seen * (own @ (scales / (1 + scales)))


def tilted(table: Array, score: Array, wanted: Array) -> Array:
    """Counts by class (C, cells) whose scores add up to what is wanted (C, orders).

    Each class is tilted as little as possible (the exponential family of the scores), and what all
    classes add up to stays; a cell that is empty stays so.
    """
    size = score.shape[1]
    known = np.maximum(table[:, :size], 0.0)
    rows, every = known.sum(1), known.sum(0)
    found = known.copy()
    for own in range(len(table)):
        if rows[own] > NOTHING:
            found[own] = rows[own] * _tilt(known[own] / rows[own], score, wanted[own] / rows[own])
    for _ in range(AGAIN):  # columns as they were, then rows
        found *= every / np.maximum(found.sum(0), NOTHING)
        found *= (rows / np.maximum(found.sum(1), NOTHING))[:, None]
    return np.concatenate([found, table[:, size:]], axis=1)


def _tilt(density: Array, score: Array, wanted: Array) -> Array:
    """The density times exp(a scores), with these means, as near as `STEEPEST` lets it come."""
    slope = np.zeros(len(score))
    found = density
    for _ in range(STEPS):
        raised = slope @ score
        found = density * np.exp(raised - raised.max())
        found = found / found.sum()
        mean = score @ found
        spread = (score * found) @ score.T - np.outer(mean, mean)
        step = np.linalg.solve(spread + 1e-3 * np.eye(len(score)), wanted - mean)
        slope = np.clip(slope + np.clip(step, -1.0, 1.0), -STEEPEST, STEEPEST)
        if np.abs(step).max() < 1e-6:
            break
    return found
