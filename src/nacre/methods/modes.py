"""Private Gaussian mixtures of single columns: expectation maximization with noisy sums (DP-EM).

Each iteration is one question: for every number and mode the sums of g, g u and g u^2, where g is
the posterior chance of the mode at the row's value and u, in [-1, 1], how far the value is from
the mode's present mean, in units of 2.5 of its standard deviations.  Around the mean, not around
zero: of raw moments a narrow mode's variance is a small difference of large noisy numbers.  How
many iterations there are, how many modes, and where they start is public.

Sensitivity: for J numbers each of the three parts has norm at most sqrt(J), as sum_k g_k <= 1:
add-remove sqrt(3 J).  Replace-one sqrt(8 J), as the second part may change its sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.nets.modes import Modes, ModeSplit
from nacre.schema import Layout
from nacre.vault import Bound, Segment, Sum, Vault

GRID = 10  # bits: of the values at which posteriors are tabulated, and of what one is in the sums
FEWEST = 3  # a mode of fewer values than this many times the modes is not split
NARROWEST = 2.0**-9  # the smallest standard deviation of a mode
LEAST = 1e-3  # the smallest weight of a mode
REACH = 2.5  # standard deviations within which a mode's moments are taken


def splittable(layout: Layout, size: int) -> tuple[int, ...]:
    """The numbers that are worth a mixture: those with many values."""
    return tuple(p for p, n in enumerate(layout.numbers) if n.ticks >= FEWEST * size)


def mode_questions(layout: Layout, *, size: int, iterations: int, share: float) -> tuple[Sum, ...]:
    """One sum an iteration; none if no number is worth it, or no share is set aside."""
    numbers = len(splittable(layout, size))
    if not (share and numbers):
        return ()
    norm = math.sqrt(numbers) * (1 << GRID)
    parts = tuple(
        Segment(size=numbers * size, norm=norm, signed=signed) for signed in (False, True, False)
    )
    return tuple(
        Sum(
            name=f"modes, iteration {iteration + 1}",
            bound=Bound(segments=parts),
            share=share / iterations,
            unit=1 << GRID,
            meaning="how many rows are in each mode of each number, and their moments",
        )
        for iteration in range(iterations)
    )


def find_modes(vault: Vault, questions: Sequence[Sum], layout: Layout, size: int) -> Modes:
    """Expectation maximization from a public grid, an answer of the vault for each step."""
    modes = Modes.grid(splittable(layout, size), size)
    for question in questions:
        sums = vault.sum(question, mode_features(layout, modes))
        modes = better_modes(modes, sums.values[0] / (1 << GRID))
    return modes


def mode_features(layout: Layout, modes: Modes) -> Any:
    """g, g u and g u^2 of one row for every number and mode, as integers from a table."""
    import jax.numpy as jnp

    from nacre.embed.numbers import on_grid

    one = 1 << GRID
    x = np.arange(one + 1) / one
    chances = modes.chances(x)
    reach = REACH * modes.deviations[:, None]
    u = np.clip((x[None, :, None] - modes.means[:, None]) / reach, -1, 1)
    parts = np.stack([chances, chances * u, chances * u**2], axis=2)
    table = np.trunc(parts * one).astype(np.int32)  # towards zero, so that no norm is exceeded
    places, own = np.array(modes.places, np.int32), np.arange(len(modes.places))
    numbers = on_grid(layout, GRID)

    def features(row: Any) -> Any:
        found = jnp.asarray(table)[own, numbers(row)[places]]  # (numbers, 3, modes)
        return jnp.moveaxis(found, 1, 0).reshape(-1)

    return features


def better_modes(modes: Modes, sums: NDArray[np.float64]) -> Modes:
    """The maximization, clamped to what modes can be, whatever the noise says."""
    count, first, second = sums.reshape(3, *modes.means.shape)
    count = np.maximum(count, LEAST * np.maximum(count.sum(1, keepdims=True), 1.0))
    reach, off = REACH * modes.deviations, np.clip(first / count, -1, 1)
    variance = np.clip(second / count - off**2, (0.5 / REACH) ** 2, 1.0)  # at most halved
    return Modes(
        modes.places,
        count / count.sum(1, keepdims=True),
        np.clip(modes.means + reach * off, 0.0, 1.0),
        np.clip(reach * np.sqrt(variance), NARROWEST, 0.5),
    )


def see(split: ModeSplit | None, features: Any) -> Any:
    """A function of one row that sees it split into modes, if rows are."""
    return features if split is None else lambda row: features(split.forward(row))
