"""Histograms without their noise: what is surely there stays, the rest falls off to nothing.

Declared bounds are often much wider than the data.  A cell counts as filled only if it lies in a
stretch whose noisy count is surely above zero; elsewhere the tails of filled stretches go on
falling, so that no noise becomes a hump or a spike where there is nothing.

`noise` is the deviation of every count, or of each by itself: cells that were counted together with
a neighbor have more of it than others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from nacre.histograms.density import smooth_density
from nacre.histograms.hidden import hidden

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Noise = NDArray[np.float64] | float

CERTAIN = 2.5  # deviations of the noise beyond which a difference is believed
JUMP = 3.0  # and beyond which neighboring stretches of cells differ
SURE = 3.8  # and beyond which the end of a range is believed not to be empty
APART = 4.4  # and a stretch of cells apart from others: rows where none are cost most
SHORT = 4  # fewer filled cells than this in a row are spikes, which have no tails
FEWER = 2  # likewise, from an end of the range on: counts of 0, 1 and a few more
LAST = 8  # filled cells in a row, at most, from which it is told how a tail goes on
NOTHING = 1e-12  # a deviation
LEAST = 1e-3  # mean of values that noise hides, in its deviations, below which all are alike
FAINT = 0.1  # deviations of the noise: cells that hold less are as good as empty
PIECE = 16  # cells that may be like those beside them
FALL = 0.25, 0.95  # how much of a cell's height the next one in a tail may have


def simplex(counts: Array, total: float) -> Array:
    """The nearest counts (in Euclidean distance) that are not negative and add up to `total`."""
    total = max(float(total), 1e-9)
    counts = counts - counts.max()  # changes nothing, but that no `total` drowns in large counts
    high = np.sort(counts)[::-1]
    excess = (np.cumsum(high) - total) / np.arange(1, len(counts) + 1)
    last = np.nonzero(high > excess)[0][-1]
    return np.maximum(counts - excess[last], 0.0)


def smooth(counts: Array, noise: Noise, sizes: Array | None = None) -> Array:
    """Counts over ordered cells with what is likely noise taken out: spikes and jumps stay.

    A Haar transform that does not depend on where it starts (Coifman and Donoho, 1995): the
    difference of two neighboring stretches counts only above `JUMP` noise deviations.  What is
    compared are counts over the cells' `sizes`, each with its own precision (an unbalanced
    transform, Girardi and Sweldens, 1997); without them all are alike.
    """
    size = len(counts)
    sizes = np.ones(size) if sizes is None else sizes
    precision = (sizes / np.maximum(noise, NOTHING)) ** 2
    level, weight = (np.concatenate([a[::-1], a, a[::-1]]) for a in (counts / sizes, precision))
    widths = [2**j for j in range(size.bit_length() - 1)]
    kept = []
    for width in widths:
        other, own = np.roll(level, -width), np.roll(weight, -width)
        both = weight + own
        sure = np.abs(level - other) > JUMP * np.sqrt(1 / weight + 1 / own)
        difference = np.where(sure, level - other, 0.0) / both
        kept.append((difference * own, difference * weight))
        level, weight = (level * weight + other * own) / both, both
    for width, (left, right) in zip(reversed(widths), reversed(kept), strict=True):
        level = (level + left + np.roll(level - right, width)) / 2
    return level[size : 2 * size] * sizes


def smooth_pool(counts: Array, noise: Noise, widths: Array) -> Array:
    """Counts of all rows over ordered cells: a smooth density, and jumps and spikes beside it."""
    sizes = relative(widths)
    start = np.maximum(smooth(counts, noise, sizes), 0.0)
    curve = smooth_density(counts, noise, widths, start)
    return curve + smooth(counts - curve, noise)


def relative(sizes: Array) -> Array:
    """Sizes of cells beside their geometric mean."""
    return np.asarray(sizes / np.exp(np.log(sizes).mean()))


def filled(counts: Array, noise: Noise) -> Mask:
    """The cells of stretches whose counts are surely above zero, found from narrow to wide.

    There are about m / w stretches of w cells, so the bar is sqrt(APART^2 + 2 log(m / w))
    deviations: among empty cells hardly one stretch passes.  Beside filled cells, where rows are to
    be expected, it is CERTAIN^2 instead, up to `PIECE` cells: wider ones would reach far out by
    noise that is not rare.  The two ends of the range, where clamped and empty values
    pile up, are no search among many: their bar is SURE.  Both halves must be likely, too, or a
    stretch would reach from where rows are far into where none is.
    """
    size, width = len(counts), 1
    found = np.zeros(size, bool)
    while width <= size:
        score = _score(counts, found, noise, width)
        beside = np.convolve(found, np.ones(3 * width))[2 * width - 1 :][: len(score)] > 0
        bar = np.where(beside & (width <= PIECE), CERTAIN, APART) ** 2 + 2 * np.log(size / width)
        if width == 1:
            bar[[0, -1]] = SURE**2
        score[score < np.sqrt(bar)] = 0.0
        if half := width // 2:
            halves = _score(counts, found, noise, half)
            score[np.minimum(halves[:-half], halves[half:]) < SURE / 2] = 0.0
        while score.max() > 0:  # the surest first; stretches that overlap it have to wait
            start = int(score.argmax())
            found[start : start + width] = True
            score[max(0, start - width + 1) : start + width] = 0.0
        width *= 2
    return found


def _score(counts: Array, found: Mask, noise: Noise, width: int) -> Array:
    """How many deviations above zero each stretch of so many cells is, found cells aside."""
    window = np.ones(width)
    total = np.convolve(np.where(found, 0.0, counts), window, "valid")
    variance = np.convolve(np.where(found, 0.0, np.square(noise)), window, "valid")
    return np.where(total > 0, total, 0.0) / np.sqrt(np.maximum(variance, NOTHING))


def fade(
    counts: Array, level: Array, noise: Noise, known: Mask, widths: Array, apart: int = 0
) -> Array:
    """`level` where cells are filled; between and beyond them what the filled ones make expect.

    Tails go on falling as they did; the mass of a gap is what its noisy counts make expect of a
    mass that is exponential with what they hold, and all gaps together hold no more than their
    noise explains.  If these surely hold more than tails explain, they get it as humps (`hidden`).
    `apart` cells more, which have no order, hold the rest of the rows.
    """
    out, noise = np.where(known, level, 0.0), noise * np.ones(len(known))
    usual = float(noise.min())
    every = float(noise @ noise) + apart * usual**2
    edges = np.flatnonzero(np.diff(np.concatenate([[True], known, [True]]).astype(np.int8)))
    for start, end in edges.reshape(-1, 2).tolist():
        before, after = out[:start] * known[:start], (out[end:] * known[end:])[::-1]
        shape = np.maximum(
            _tail(before, widths[:start], widths[start:end]),
            _tail(after, widths[end:][::-1], widths[start:end][::-1])[::-1],
        )
        if (mass := float(shape.sum())) > 0:
            out[start:end] = _tail_rows(
                counts[start:end], shape / mass, noise[start:end], mass, every
            )
    counted, mass = float(counts[~known].sum()), float(out[~known].sum())
    deviation = _deviation(noise[~known], every)
    if counted - mass > max(SURE * deviation, usual):
        return out + hidden(counts, noise, known, counted - mass)
    most = max(counted + 2 * deviation, 0.0)
    return np.where(known, out, out * (min(mass, most) / max(mass, 1e-9)))


def _tail_rows(counts: Array, shape: Array, noise: Array, mass: float, every: float) -> Array:
    """What noisy counts of a gap make expect of a tail of this shape that is to hold `mass` rows.

    A steep tail is told by the few cells that it fills (a matched filter); of a long one, whose
    shape is not known so well, by the sum of all.
    """
    seen, deviation = float(counts.sum()), _deviation(noise, every)
    if float(shape @ shape) > 1 / SHORT:
        matched = shape / noise**2
        power = float(shape @ matched)
        seen, deviation = float(matched @ counts) / power, power**-0.5
    return shape * expected(np.array([seen]), max(deviation, LEAST * float(noise.min())), mass)


def _deviation(some: Array, every: float) -> float:
    """Of the sum over some cells, given theirs and the variance of all, whose sum is known."""
    variance = float(some @ some)
    return float(np.sqrt(max(variance * (1 - variance / every), 0.0)))


def _tail(beside: Array, beside_widths: Array, widths: Array) -> Array:
    """How the stretch of filled cells at the end of `beside` would go on; nothing after a spike.

    The density falls by the same factor over each distance of a filled cell's width.
    """
    empty = np.flatnonzero(beside <= 0)
    run = beside[empty[-1] + 1 if len(empty) else 0 :]
    if len(run) < (FEWER if len(run) == len(beside) else SHORT):
        return np.zeros(len(widths))
    last, wide = run[-LAST:], beside_widths[-min(len(run), LAST) :]
    half = len(last) // 2
    inner, outer = (part.sum() / w.sum() for part, w in _halves(last, wide, half))
    unit = wide[half:].sum() / (len(last) - half)
    slope = (np.log(outer) - np.log(inner)) / (wide.sum() / 2 / unit)
    fall = float(np.clip(np.exp(slope), *FALL))
    distance = (np.cumsum(widths) - widths / 2) / unit + 0.5
    return np.asarray(outer * widths * fall**distance)


def _halves(counts: Array, widths: Array, half: int) -> tuple[tuple[Array, Array], ...]:
    return (counts[:half], widths[:half]), (counts[half:], widths[half:])


def _meet(level: Array, known: Mask, total: float, noise: float) -> Array:
    """Non-negative counts that add up to `total`; filled cells make up for what is wrong.

    The others keep what the filled ones leave, and half of all in any case: where most of the rows
    are in cells that noise hides, the few that stand out of it do not get them.  Nor do they get
    more than their own noise explains.
    """
    rest = float(level[~known].sum())
    if not known.any():
        return level * (total / rest) if rest > 0 else np.full(len(level), total / len(level))
    out, sure = level.copy(), float(np.maximum(level[known], 0.0).sum())
    most = max(total / 2, total - sure)
    least = total - sure if total - sure - rest > CERTAIN * noise * np.sqrt(known.sum()) else 0.0
    if rest > 0:
        wanted = float(np.clip(rest, least, most))
        out[~known] *= wanted / rest
        rest = wanted
    out[known] = simplex(level[known], total - rest)
    return out


def shrunk(counts: Array, noise: float) -> Array:
    """Counts drawn to zero by the part that noise explains: Stein's factor, 1 - (noise / x)^2."""
    size = np.maximum(counts, 1e-9)
    return np.asarray(size * np.maximum(1 - (noise / size) ** 2, 0.0))


def surely_counted(pool: Array, noise: float) -> tuple[Array, Mask]:
    """Counts of values that have no order, and which of them surely occur.

    What all others hold together is shrunk; among many rare values that is better known than any
    of them.  Each of them is what its own count makes expect of a share that is exponential with
    their mean: nearly equal parts where noise hides them, for noise would pick a few at random.
    """
    sure = pool > CERTAIN * noise
    rest = pool[~sure]
    total = float(shrunk(rest.sum(keepdims=True), noise * np.sqrt(max(len(rest), 1)))[0])
    out = np.where(sure, pool, 0.0)
    if total > 0:
        parts = expected(rest, noise, total / len(rest))
        out[~sure] = parts * (total / parts.sum())
    return out, sure


def expected(counts: Array, noise: Array | float, mean: Array | float) -> Array:
    """Expectations of exponential variables of this mean, given what noise made of them.

    The posterior is a normal distribution around x - noise^2 / mean, cut off at zero.
    """
    center = counts - noise**2 / np.maximum(mean, LEAST * noise)
    z = center / noise
    # The density of the cut over what is left beyond it, as logarithms: both may be tiny.
    hazard = np.exp(-0.5 * z * z - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
    return np.asarray(np.maximum(center + noise * hazard, 1e-12))


def clean(
    noisy: Sequence[Array],
    noise: Sequence[float],
    widths: Sequence[Array],
    counted: tuple[Array, float] | None = None,
    together: Sequence[Array] | None = None,
    pooled: Sequence[float] | None = None,
) -> tuple[list[Array], list[Mask], Array]:
    """Class-wise histograms (C, cells) by column without their noise, and the class sizes.

    `noise` is the deviation of a count of each column.  Also which cells of each column are filled,
    as far as the counts tell; the others hold what those make expect.

    Every column's histogram adds up to the class size plus the noise of all its cells, and the
    classes may be `counted` by themselves (their counts and the deviation of these): the sizes are
    the weighted mean.  The first cells of a column, those that have `widths`, are smoothed and
    emptied where nothing is sure, the others (categories, 'missing') shrunk; then all agree on the
    sizes.  Of each of the first ones so many counts may have been added `together`.
    The classes' sum has the deviation `pooled`, if that is not the one of so many counts.
    """
    together = [np.ones(len(own)) for own in widths] if together is None else together
    weight = [1 / (own**2 * t.shape[1]) for own, t in zip(noise, noisy, strict=True)]
    sums = [table.sum(1) for table in noisy]
    if counted is not None:
        sums, weight = [*sums, counted[0]], [*weight, counted[1] ** -2]
    sizes = np.maximum(np.average(np.stack(sums), axis=0, weights=weight), 1.0)
    if pooled is None:
        pooled = [own * np.sqrt(len(sizes)) for own in noise]
    every = zip(noisy, widths, noise, together, pooled, strict=True)
    found = [clean_column(*each, sizes) for each in every]
    return [table for table, _ in found], [known for _, known in found], sizes


def clean_column(
    table: Array, widths: Array, noise: float, together: Array, deviation: float, sizes: Array
) -> tuple[Array, Mask]:
    """One column: all rows first, then how each class differs from them where that is sure."""
    ordered = len(widths)
    # What is known about the sizes says something about every cell, and most about many together.
    table = table + ((sizes - table.sum(1)) / table.shape[1])[:, None]
    counts, others = table[:, :ordered], table[:, ordered:]
    own_noise, pooled_noise = noise * np.sqrt(together), deviation * np.sqrt(together)
    level, known = surely_counted(others.sum(0), deviation)
    if ordered:
        pool = counts.sum(0)
        by_class = np.any([filled(row, own_noise) for row in counts], axis=0)
        sure = filled(pool, pooled_noise) | by_class
        smoothed = smooth_pool(pool, pooled_noise, widths)
        faded = fade(pool, smoothed, pooled_noise, sure, widths, others.shape[1])
        smoothed = np.where(sure, smoothed, faded)
        level, known = np.concatenate([smoothed, level]), np.concatenate([sure, known])
    whole = _meet(level, known, float(sizes.sum()), deviation)
    rows = []
    for row, size in zip(table, sizes, strict=True):
        # A rare class is known by how it differs from all rows, as its share of each cell; where it
        # does not, it is like them.
        like = whole * (size / sizes.sum())
        own = like + np.where(known, row - like, 0.0)
        if ordered:
            shares = relative(np.maximum(like[:ordered], FAINT * noise))
            own[:ordered] = like[:ordered] + smooth((own - like)[:ordered], own_noise, shares)
        rows.append(_meet(np.where(known, own, like), known, float(size), noise))
    return np.stack(rows), known
