"""Fit mixtures of products to noisy class-wise one- and two-way counts, as far as noise allows.

Where noise is large, in two stages: first what noise cannot explain, group by group of the tables'
coefficients, until all of it is met; then all counts, in small steps, until their misfit is what
noise leaves.  Strong links so come first and whole, and the noise of tables that hold nothing else
is hardly followed.

A component is a softmax for each column's bins and one for the label.  With probabilities P (R, D)
over all D bins and joint weights W (R, C) of component and class, the two-way marginals of class c
are P' diag(W_c) P: closed form, so no sampling is needed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from nacre.methods.mosaic.sparse import Sparse
from nacre.methods.mosaic.spectrum import FAINT, Spectrum
from nacre.nets.minimize import ignore

CHUNK = 10
JITTER = 0.5  # of the logits at the start: nearly independent columns
EMPTY = 3.0  # how much cells that should be empty count beside all others
LARGE = 3.0  # deviations beyond which what they hold counts linearly
MET = 0.015  # of the cells: what is surely there is met if so much, in noise variances, is not
SURELY = 0.25  # of the steps, at most, for what is surely there
FEW_MOST = 10.0  # what noise explains of four coefficients, about
FASTER = 4.0  # the learning rate of the first stage, of the usual one
STALLED = 0.02  # of what is left: a chunk that takes less of it gets nowhere
PATIENCE = 4  # so many chunks in a row that get nowhere end the first stage
SLOWER = 0.4  # the learning rate of the second stage, of the usual one
ADAM = optax.scale_by_adam(b2=0.99)


@dataclasses.dataclass(frozen=True)
class Targets:
    """Noisy shares of the table and their precisions, one over the noise's variance.

    Attributes:
        pairs: (C, D, D) by class or (1, D, D) over all classes, symmetric.
        pair_precision: (D, D), zero where nothing was measured.
        histograms: (C, D).
        single_precision: (D,).
        blocks: start and end of each column's bins among the D.
        sparse: what is known about cells that are not surely filled.
        spectrum: how the tables' coefficients are judged.
    """

    pairs: NDArray[np.float64]
    pair_precision: NDArray[np.float64]
    histograms: NDArray[np.float64]
    single_precision: NDArray[np.float64]
    blocks: tuple[tuple[int, int], ...]
    sparse: Sparse
    spectrum: Spectrum


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
    """P (fits * R, D) and W (fits * R, C), W adding up to one.

    Adam first meets what is surely there, then all counts until the misfit of the pairs falls to
    `stop` times what the noise alone would leave, at most for `steps`: further on it would fit the
    noise.
    """
    owner = np.zeros((targets.histograms.shape[1], len(targets.blocks)), np.float32)
    for column, (start, end) in enumerate(targets.blocks):
        owner[start:end, column] = 1
    cells = max(len(targets.pairs) * np.count_nonzero(targets.pair_precision) / 2, 1.0)
    arrays = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), _arrays(targets))
    theta = _start(targets, fits, components, rng)
    state = theta, jax.jit(jax.vmap(ADAM.init))(theta)
    chunk, done = min(CHUNK, steps), 0
    stages: list[tuple[bool, float, float, float]] = [(False, rate, stop, steps)]
    if faint(targets.pair_precision):
        stages = [(True, FASTER * rate, MET, SURELY * steps), (False, SLOWER * rate, stop, steps)]
    for surely, speed, enough, most in stages:
        best, stalled = math.inf, 0
        while done + chunk <= most or not done:
            state, misfit = _advance(state, owner, arrays, speed, chunk, surely)
            done += chunk
            on_progress(0.95 * done / steps)
            left = float(misfit.mean())
            stalled = 0 if left < (1 - STALLED) * best else stalled + 1
            best = min(best, left)
            if left < enough * cells or (surely and stalled >= PATIENCE):
                break
    # A last few smaller steps, so that no fit stands where Adam's noise left it.
    (theta, _), _ = _advance(state, owner, arrays, rate / 5, chunk, False)
    on_progress(1.0)
    p, w = jax.jit(jax.vmap(partial(mixture, owner=owner)))(theta)
    shape = fits * components, -1
    return np.asarray(p, np.float32).reshape(shape), np.asarray(w / fits, np.float32).reshape(shape)


def faint(precision: NDArray[np.float64]) -> bool:
    """Whether noise is so large that strong links have to be told from it first.

    Set between two measurements: on training rows of Adult, noise of .002, the first stage and
    coarser bins together cost boosting .004 of its AUC; on made tables of 5,000 rows, noise of
    about .005, both together with the rest of the fit brought links of .9 from .2 to .7.
    """
    known = precision[precision > 0]
    return bool(len(known)) and float(np.median(known)) < FAINT**-2


def _arrays(targets: Targets) -> dict[str, Any]:
    """What the misfit is computed from, by name."""
    sparse = targets.sparse
    found = {
        "pairs": targets.pairs,
        "pair_precision": targets.pair_precision,
        "histograms": targets.histograms,
        "single_precision": targets.single_precision,
        "sparse": {"cells": sparse.cells, "most": sparse.most, "precision": sparse.precision},
    }
    return found | ({"spectrum": _turned(targets)} if faint(targets.pair_precision) else {})


def _turned(targets: Targets) -> dict[str, Any]:
    """The tables of pairs as coefficients, and what may be left of each group of these."""
    spectrum = targets.spectrum
    pairs = spectrum.basis.T @ targets.pairs @ spectrum.basis
    found = {**dataclasses.asdict(spectrum), "pairs": pairs}
    return found | {"most": _explained(targets, found)}


def mixture(theta: Any, owner: Any) -> tuple[jax.Array, jax.Array]:
    """P (R, D) and W (R, C) of the parameters; `owner` (D, K) says whose bin is whose."""
    raw = jnp.exp(jnp.clip(theta["bins"], -40, 40))
    share = jax.nn.softmax(theta["weight"])[:, None] * jax.nn.softmax(theta["label"], axis=-1)
    return raw / ((raw @ owner) @ owner.T), share


def pair_moments(p: jax.Array, w: jax.Array) -> jax.Array:
    """Two-way marginals by class, (C, D, D)."""
    return jnp.einsum("rd,rce->cde", p, w[:, :, None] * p[:, None, :])


def _misfit(theta: Any, owner: Any, arrays: Any, surely: bool) -> tuple[jax.Array, jax.Array]:
    """Squared errors over their variances: of everything, and of the pairs alone.

    Of the pairs only what noise does not explain, if `surely`.
    """
    pairs, deviation = arrays["pairs"], jnp.sqrt(arrays["pair_precision"])
    p, w = mixture(theta, owner)
    by_class = w if len(pairs) == w.shape[1] else w.sum(1, keepdims=True)
    if surely:
        # Noise is the same in all cells of a table, so errors may be weighed after the turn.
        spectrum = arrays["spectrum"]
        coefficients = pair_moments(p @ spectrum["basis"], by_class)
        pair, seen = _unexplained(deviation * (coefficients - spectrum["pairs"]), spectrum)
        together = pair_moments(p, w.sum(1, keepdims=True))[0]
    else:
        moments = pair_moments(p, by_class)
        pair = seen = 0.5 * jnp.sum((deviation * (moments - pairs)) ** 2)
        together = moments.sum(0)
    empty = _overfilled(together, owner, **arrays["sparse"])
    single = jnp.sum(arrays["single_precision"] * (w.T @ p - arrays["histograms"]) ** 2)
    return pair + EMPTY * empty + single, seen


def _group_sums(errors: Any, spectrum: Any, xp: Any) -> Any:
    """Squares of coefficients (sides, D, D) by group; xp is NumPy or jax.numpy."""
    squares = xp.einsum("cde,cf->fde", errors, spectrum["classes"]) ** 2
    squares = xp.einsum("fde,fs->sde", squares, spectrum["class_groups"])
    return spectrum["groups"].T @ (squares @ spectrum["groups"])


def _explained(targets: Targets, spectrum: Mapping[str, Any]) -> NDArray[np.float64]:
    """What may be left of each group: m where noise explains all of it, else less.

    Where columns that are independent given the class leave squares x > m, Stein's estimate keeps
    1 - m / x of the difference, and so leaves squares of x (m / x)^2.  That is for groups of a few
    coefficients, the slow waves of two numbers; in large ones it would follow too much noise.
    """
    single = targets.histograms
    if len(targets.pairs) != len(single):
        single = single.sum(0, keepdims=True)
    size = np.maximum(single[:, slice(*targets.blocks[0])].sum(1), 1e-9)
    turned = single @ spectrum["basis"]
    independent = turned[:, :, None] * turned[:, None, :] / size[:, None, None]
    errors = np.sqrt(targets.pair_precision) * (independent - spectrum["pairs"])
    sums, most = _group_sums(errors, spectrum, np), spectrum["most"]
    left = most * np.minimum(1.0, most / np.maximum(sums, 1e-9))
    return np.maximum(np.where(most < FEW_MOST, left, most), 1e-6)


def _unexplained(errors: jax.Array, spectrum: Any) -> tuple[jax.Array, jax.Array]:
    """A loss of the groups of coefficients whose squares x are above what may be left of them, m.

    x - m - m log(x / m): its slope in x is 1 - m / x, small where little is left to do.  Also the
    sum of all x - m.
    """
    sums, most = _group_sums(errors, spectrum, jnp), spectrum["most"]
    above = jnp.maximum(sums, most)
    # Every table is there twice, once on each side of the diagonal.
    loss = 0.5 * jnp.sum(above - most - most * jnp.log(above / most))
    return loss, 0.5 * jnp.sum(above - most)


def _overfilled(
    moments: jax.Array, owner: Any, cells: jax.Array, most: jax.Array, precision: jax.Array
) -> jax.Array:
    """What cells that should be empty hold too much, in squares over their variances.

    Many such cells, each fitted with less than its noise, may hold many rows together.  So what
    those of a table hold counts as one more value where it is too much.
    """
    held = owner.T @ (cells * moments) @ owner
    excess = jnp.sqrt(precision) * jnp.maximum(held - most, 0.0)
    # Linear where it is large, as it is at the start, or it would drive out whole values.
    slope = jnp.where(excess < LARGE, excess, 2 * LARGE - LARGE**2 / jnp.maximum(excess, LARGE))
    return 0.5 * jnp.sum(slope * excess)


@partial(jax.jit, static_argnames=("steps", "surely"))
def _advance(
    state: Any, owner: Any, arrays: Any, rate: Any, steps: int, surely: bool
) -> tuple[Any, jax.Array]:
    """Adam steps of every fit, one fit after the other; also each fit's misfit of the pairs."""

    def step(carry: Any, _: None) -> tuple[Any, jax.Array]:
        theta, moments = carry
        gradient, pair = jax.grad(_misfit, has_aux=True)(theta, owner, arrays, surely)
        updates, moments = ADAM.update(gradient, moments)
        return (jax.tree.map(lambda x, u: x - rate * u, theta, updates), moments), pair

    def one(carry: Any) -> tuple[Any, jax.Array]:
        carry, pairs = jax.lax.scan(step, carry, None, length=steps)
        return carry, pairs[-1]

    return jax.lax.map(one, state)


def _start(targets: Targets, fits: int, components: int, rng: np.random.Generator) -> Any:
    """Each component begins at the noisy histograms of one class, jittered."""
    classes, places = targets.histograms.shape
    base = np.zeros((classes, places))
    for start, end in targets.blocks:
        share = np.maximum(targets.histograms[:, start:end], 1e-4)
        base[:, start:end] = np.log(share / share.sum(1, keepdims=True))
    size = np.maximum(targets.histograms[:, slice(*targets.blocks[0])].sum(1), 1e-3)
    ends = np.cumsum(size / size.sum())
    own = np.searchsorted(ends, (np.arange(components) + 0.5) / components).clip(0, classes - 1)
    theta = {
        "bins": base[own] + JITTER * rng.standard_normal((fits, components, places)),
        "label": 4 * np.eye(classes)[own] + 0.1 * rng.standard_normal((fits, components, classes)),
        "weight": np.zeros((fits, components)),
    }
    return jax.tree.map(lambda part: jnp.asarray(part, jnp.float32), theta)


def block_bounds(sizes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Start and end of each column's bins."""
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return tuple((end - size, end) for size, end in zip(sizes, ends, strict=True))
