"""The networks of PPEM: energies of x', of x* given x', and the generators of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nacre.nets.beside import Beside
from nacre.nets.layers import (
    AbstractLayer,
    BatchNorm,
    LayerNorm,
    LeakyReLU,
    Linear,
    Residual,
    mlp,
)
from nacre.nets.sampling import Sampling

if TYPE_CHECKING:
    from nacre.methods.ppem.energies import Energy, Ensemble
    from nacre.methods.ppem.parts import Parts
    from nacre.methods.ppem.ppem import PPEM

SLOPE = 0.2  # of leaky ReLUs


def ensemble(method: PPEM, parts: Parts) -> Ensemble:
    """The marginal energies: of each set, and of the union where there are several."""
    from nacre.methods.ppem.energies import Energy, Ensemble

    sets = [one.columns for one in method.sets]
    if len(sets) > 1:
        sets.append(parts.hidden.columns)
    places = [parts.hidden.places(columns) for columns in sets]
    return Ensemble(tuple(Energy(_energy(method, len(own)), own) for own in places))


def conditional_energy(method: PPEM, parts: Parts) -> Energy:
    """Of x* and x' in this order, each with a first layer of its own."""
    from nacre.methods.ppem.energies import Energy

    hidden, rest = parts
    every = np.arange(rest.width + hidden.width)
    if not hidden.width:
        return Energy(_energy(method, rest.width), every)
    first = Beside(rest.width, hidden.width, half(method.width))
    return Energy((first, LeakyReLU(SLOPE), *_energy(method, 2 * first.outputs)[2:]), every)


def marginal_layers(method: PPEM, parts: Parts) -> tuple[AbstractLayer, ...]:
    """From latent numbers to x'; batch norms see generated rows only."""
    width = method.width
    inside = (Linear(width, width), BatchNorm(width), LeakyReLU(SLOPE))
    first = Linear(method.latent, width)
    return _generator(first, inside, width, parts.hidden.width, method.depth)


def conditional_layers(method: PPEM, parts: Parts) -> tuple[AbstractLayer, ...]:
    """From latent numbers and x' to x*, row by row: no batch norm."""
    wide = 2 * half(method.width)
    first: AbstractLayer = Linear(method.latent, wide)
    if parts.hidden.width:
        kind = Sampling if method.condition == "sampled" else Beside
        first = kind(method.latent, parts.hidden.width, half(method.width))
    inside = (Linear(wide, wide), LayerNorm(wide), LeakyReLU(SLOPE))
    return _generator(first, inside, wide, parts.rest.width, method.depth)


def half(width: int) -> int:
    """Of the first layers' width: what x' and x* each take."""
    return max(width // 2, 1)


def _energy(method: PPEM, inputs: int) -> tuple[AbstractLayer, ...]:
    widths = [method.width if place else 2 * half(method.width) for place in range(method.depth)]
    layers = mlp(inputs, *widths, 1, slope=SLOPE)
    return (*layers[:-1], Linear(widths[-1], 1, bias=False))


def _generator(
    first: AbstractLayer, inside: tuple[AbstractLayer, ...], width: int, outputs: int, depth: int
) -> tuple[AbstractLayer, ...]:
    blocks = [Residual(inside)] * max(depth - 1, 1)
    return (first, LeakyReLU(SLOPE), *blocks, Linear(width, outputs))
