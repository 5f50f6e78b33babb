"""Fit mixtures of products to noisy class-wise one- and two-way counts, as far as noise allows.

In two stages: first what noise cannot explain, group by group of the tables' coefficients, until
all of it is met; then all counts, in small steps, until their misfit is what noise leaves.  Strong
links so come first and whole, however few tables they are in, and the noise of tables that hold
nothing else is hardly followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.methods.mosaic.misfit import Misfit, Targets
from nacre.methods.mosaic.mixture import Array, Logits, mixture, to_logits
from nacre.nets.progress import ignore

CHUNK = 10
JITTER = 0.5  # of the logits at the start: nearly independent columns
MET = 0.015  # of the cells: what is surely there is met if so much, in noise variances, is not
SURELY = 0.25  # of the steps, at most, for what is surely there
FASTER = 2.0  # the learning rate of the first stage, of the usual one
STALLED = 0.02  # of what is left: a chunk that takes less of it gets nowhere
PATIENCE = 4  # so many chunks in a row that get nowhere end the first stage
LONG = 100  # steps after which little is left to do, unless noise is so small that it is not
PLENTY = 0.2  # of the cells: if so much is, noise is not what the fits differ by, and
FEW = 4  # of them go on, the nearest
SLOWER = 0.4  # the learning rate of the second stage, of the usual one
DECAY = 0.9, 0.99  # of Adam's means of slopes and of their squares


def fit_mixtures(
    targets: Targets,
    *,
    fits: int,
    components: int,
    steps: int,
    rate: float,
    stop: float,
    rng: np.random.Generator,
    on_progress: Callable[[float], None] = ignore,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """P (fits * R, D) and W (fits * R, C), W adding up to one; fewer fits where noise is small.

    Adam first meets what is surely there, then all counts until the misfit of the pairs falls to
    `stop` times what the noise alone would leave, at most for `steps`: further on it would fit the
    noise.  Several fits share what each follows of the noise; where there is little of that, only
    `FEW` of them go on after `LONG` steps.
    """
    cells = max(len(targets.pairs) * np.count_nonzero(targets.pair_precision) / 2, 1.0)
    misfit = Misfit.of(targets)
    every = [Descent(start, misfit) for start in _starts(targets, fits, components, rng)]
    chunk, done = min(CHUNK, steps), 0
    stages = [(True, FASTER * rate, MET, SURELY * steps), (False, SLOWER * rate, stop, steps)]
    for surely, speed, enough, most in stages:
        best, stalled = math.inf, 0
        while done + chunk <= most or not done:
            found = [each.advance(speed, chunk, surely=surely) for each in every]
            left = float(np.mean(found))
            done += chunk
            if done >= LONG and left > (enough + PLENTY) * cells and len(every) > FEW:
                every = [every[place] for place in np.argsort(found)[:FEW]]
            on_progress(0.95 * done / steps)
            stalled = 0 if left < (1 - STALLED) * best else stalled + 1
            best = min(best, left)
            if left < enough * cells or (surely and stalled >= PATIENCE):
                break
    # A last few smaller steps, so that no fit stands where Adam's noise left it.
    for each in every:
        each.advance(rate / 5, chunk, surely=False)
    on_progress(1.0)
    mixtures = [mixture(each.logits, misfit.owner) for each in every]
    p, w = (np.concatenate(parts).astype(np.float32) for parts in zip(*mixtures, strict=True))
    return p, w / np.float32(len(every))


@final
class Descent:
    """One fit on its way: its parameters as one vector, and Adam's moments, changed in place."""

    def __init__(self, start: Logits, misfit: Misfit) -> None:
        shape = *start.bins.shape, start.label.shape[1]
        self.misfit, self.count = misfit, 0
        self.flat = np.concatenate([part.ravel() for part in start]).astype(np.float32)
        self.logits = Logits.within(self.flat, *shape)
        self.mean, self.square = np.zeros_like(self.flat), np.zeros_like(self.flat)

    def advance(self, rate: float, steps: int, *, surely: bool) -> float:
        """Take steps of Adam (Kingma and Ba, 2015); the misfit of the pairs before the last."""
        seen = math.inf
        for _ in range(steps):
            p, w = mixture(self.logits, self.misfit.owner)
            _, seen, by_p, by_w = self.misfit(p, w, surely=surely)
            slopes = to_logits(p, w, by_p, by_w, self.misfit.owner)
            self._step(np.concatenate([part.ravel() for part in slopes]), rate)
        return seen

    def _step(self, slope: Array, rate: float) -> None:
        self.count += 1
        first, second = DECAY
        self.mean += (1 - first) * (slope - self.mean)
        self.square += (1 - second) * (slope * slope - self.square)
        spread = np.sqrt(self.square / (1 - second**self.count)) + 1e-8
        self.flat -= rate / (1 - first**self.count) * self.mean / spread


def _starts(targets: Targets, fits: int, components: int, rng: np.random.Generator) -> list[Logits]:
    """Each component begins at the noisy histograms of one class, jittered."""
    classes, places = targets.histograms.shape
    base = np.zeros((classes, places))
    for start, end in targets.blocks:
        share = np.maximum(targets.histograms[:, start:end], 1e-4)
        base[:, start:end] = np.log(share / share.sum(1, keepdims=True))
    size = np.maximum(targets.histograms[:, slice(*targets.blocks[0])].sum(1), 1e-3)
    ends = np.cumsum(size / size.sum())
    own = np.searchsorted(ends, (np.arange(components) + 0.5) / components).clip(0, classes - 1)
    bins = base[own] + JITTER * rng.standard_normal((fits, components, places))
    label = 4 * np.eye(classes)[own] + 0.1 * rng.standard_normal((fits, components, classes))
    weight = np.zeros((fits, components))
    return [Logits(*parts) for parts in zip(bins, label, weight, strict=True)]


def block_bounds(sizes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Start and end of each column's bins."""
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return tuple((end - size, end) for size, end in zip(sizes, ends, strict=True))
