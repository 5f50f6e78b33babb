"""Fit mixtures of products to noisy class-wise one- and two-way counts, as far as noise allows.

A component is a softmax for each column's bins and one for the label.  With probabilities P (R, D)
over all D bins and joint weights W (R, C) of component and class, the two-way marginals of class c
are P' diag(W_c) P: closed form, so no sampling is needed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from nacre.methods.mosaic.sparse import Sparse
from nacre.nets.minimize import ignore

CHUNK = 10
JITTER = 0.5  # of the logits at the start: nearly independent columns
EMPTY = 3.0  # how much cells that should be empty count beside all others
LARGE = 3.0  # deviations beyond which what they hold counts linearly
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
    """

    pairs: NDArray[np.float64]
    pair_precision: NDArray[np.float64]
    histograms: NDArray[np.float64]
    single_precision: NDArray[np.float64]
    blocks: tuple[tuple[int, int], ...]
    sparse: Sparse


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

    Adam goes on until the misfit of the pairs falls to `stop` times what the noise alone would
    leave, at most for `steps`: further on it would fit the noise.
    """
    owner = np.zeros((targets.histograms.shape[1], len(targets.blocks)), np.float32)
    for column, (start, end) in enumerate(targets.blocks):
        owner[start:end, column] = 1
    cells = len(targets.pairs) * np.count_nonzero(targets.pair_precision) / 2
    arrays = tuple(
        jnp.asarray(a, jnp.float32)
        for a in (
            *(targets.pairs, targets.pair_precision),
            *(targets.histograms, targets.single_precision),
            *(targets.sparse.cells, targets.sparse.most, targets.sparse.precision),
        )
    )
    theta = _start(targets, fits, components, rng)
    state = theta, jax.jit(jax.vmap(ADAM.init))(theta)
    chunk = min(CHUNK, steps)
    for done in range(chunk, steps + 1, chunk):
        state, misfit = _advance(state, owner, arrays, rate, chunk)
        on_progress(0.95 * done / steps)
        if float(misfit.mean()) < stop * max(cells, 1.0):
            break
    # A last few smaller steps, so that no fit stands where Adam's noise left it.
    (theta, _), _ = _advance(state, owner, arrays, rate / 5, chunk)
    on_progress(1.0)
    p, w = jax.jit(jax.vmap(partial(mixture, owner=owner)))(theta)
    shape = fits * components, -1
    return np.asarray(p, np.float32).reshape(shape), np.asarray(w / fits, np.float32).reshape(shape)


def mixture(theta: Any, owner: Any) -> tuple[jax.Array, jax.Array]:
    """P (R, D) and W (R, C) of the parameters; `owner` (D, K) says whose bin is whose."""
    raw = jnp.exp(jnp.clip(theta["bins"], -40, 40))
    share = jax.nn.softmax(theta["weight"])[:, None] * jax.nn.softmax(theta["label"], axis=-1)
    return raw / ((raw @ owner) @ owner.T), share


def pair_moments(p: jax.Array, w: jax.Array) -> jax.Array:
    """Two-way marginals by class, (C, D, D)."""
    return jnp.einsum("rd,rce->cde", p, w[:, :, None] * p[:, None, :])


def _misfit(theta: Any, owner: Any, arrays: Any) -> tuple[jax.Array, jax.Array]:
    """Squared errors over their variances: of everything, and of the pairs alone.

    Many empty cells, each fitted with less than its noise, may hold many rows together.  So what
    such cells of a table hold counts as one more value where it is too much.
    """
    pairs, pair_precision, histograms, single_precision, sparse, most, sparse_precision = arrays
    p, w = mixture(theta, owner)
    by_class = w if len(pairs) == w.shape[1] else w.sum(1, keepdims=True)
    moments = pair_moments(p, by_class)
    pair = 0.5 * jnp.sum(pair_precision * (moments - pairs) ** 2)
    held = owner.T @ (sparse * moments.sum(0)) @ owner
    excess = jnp.sqrt(sparse_precision) * jnp.maximum(held - most, 0.0)
    # Linear where it is large, as it is at the start, or it would drive out whole values.
    empty = (
        EMPTY
        * 0.5
        * jnp.sum(
            jnp.where(excess < LARGE, excess, 2 * LARGE - LARGE**2 / jnp.maximum(excess, LARGE))
            * excess
        )
    )
    return pair + empty + jnp.sum(single_precision * (w.T @ p - histograms) ** 2), pair


@partial(jax.jit, static_argnames="steps")
def _advance(state: Any, owner: Any, arrays: Any, rate: Any, steps: int) -> tuple[Any, jax.Array]:
    """Adam steps of every fit, one fit after the other; also each fit's misfit of the pairs."""

    def step(carry: Any, _: None) -> tuple[Any, jax.Array]:
        theta, moments = carry
        gradient, pair = jax.grad(_misfit, has_aux=True)(theta, owner, arrays)
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
