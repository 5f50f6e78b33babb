"""Layers for images: a batch stays flat, (n, height x width x channels), channels last."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.nets.layers import (
    WIDEST,
    AbstractLayer,
    Arrays,
    BatchNorm,
    LeakyReLU,
    Linear,
)


@dataclasses.dataclass(frozen=True)
class Convolution(AbstractLayer):
    """Images made larger (bilinear), then convolved; the margin beyond them is zero.

    Attributes:
        height: of an image that comes in.
        across: its width.
        channels: its channels.
        to_height: of an image that goes out.
        to_across: its width.
        filters: its channels.
        kernel: how many pixels a filter sees along each side; odd.
    """

    kind = "convolution"
    height: int
    across: int
    channels: int
    to_height: int
    to_across: int
    filters: int
    kernel: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Weight (kernel, kernel, channels, filters), bias."""
        size = (self.kernel, self.kernel, self.channels, self.filters)
        return {"weight": size, "bias": (self.filters,)}

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Uniform within one over the square root of the inputs of a filter."""
        reach = 1 / math.sqrt(self.kernel**2 * self.channels)
        return {
            name: rng.uniform(-reach, reach, shape).astype(np.float32)
            for name, shape in self.shapes().items()
        }

    def width(self, inputs: int) -> int:
        """Refuses images of another size, and sizes that nothing here has."""
        if inputs != self.height * self.across * self.channels:
            raise NacreError("A layer for images follows one whose outputs are of another size.")
        outputs = self.to_height * self.to_across * self.filters
        band = self.kernel * self.across * self.channels * self.to_across * self.filters
        large = max(outputs, self.height * self.to_height, band // 64) > WIDEST
        if self.kernel % 2 == 0 or self.kernel > 15 or large:
            raise NacreError("A convolution that is larger than any made here.")
        return outputs

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """One product with a banded matrix for each row of the kernel.

        Enlarging and convolving along a row of pixels are one matrix.  On a CPU, inside a loop,
        this is several times as fast as XLA's own convolution with its gradient.
        """
        rows = x.reshape(len(x), self.height, self.across * self.channels)
        tall = xp.asarray(_padded(self.height, self.to_height, self.kernel))
        rows = xp.tensordot(tall, rows, axes=((1,), (1,)))  # (to_height + margins, n, row)
        wide = _padded(self.across, self.to_across, self.kernel)
        shifts = [wide[j : j + self.to_across].T for j in range(self.kernel)]
        bands = xp.tensordot(xp.asarray(np.stack(shifts)), arrays["weight"], axes=((0,), (1,)))
        bands = bands.transpose(2, 0, 3, 1, 4).reshape(self.kernel, rows.shape[2], -1)
        found = sum(rows[i : i + self.to_height] @ bands[i] for i in range(self.kernel))
        found = found.reshape(self.to_height, len(x), self.to_across, self.filters)
        return (found.transpose(1, 0, 2, 3) + arrays["bias"]).reshape(len(x), -1)


@functools.cache
def _padded(size: int, to: int, kernel: int) -> NDArray[np.float32]:
    """`bilinear` with the rows of a margin before and after it, which are zero."""
    return np.pad(bilinear(size, to), ((kernel // 2, kernel // 2), (0, 0)))


@functools.cache
def bilinear(size: int, to: int) -> NDArray[np.float32]:
    """The weights of `size` places in each of `to` that lie evenly over them.

    Examples:
        >>> bilinear(2, 4).tolist()
        [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    at = np.clip((np.arange(to) + 0.5) * size / to - 0.5, 0, size - 1)
    low = np.minimum(np.floor(at).astype(int), max(size - 2, 0))
    found = np.zeros((to, size), np.float32)
    np.add.at(found, (np.arange(to), low), 1 - (at - low))
    if size > 1:
        np.add.at(found, (np.arange(to), low + 1), at - low)
    return found


def image_layers(
    inputs: int, shape: tuple[int, int, int], *, hidden: int = 200, first: int = 16, then: int = 8
) -> tuple[AbstractLayer, ...]:
    """PEARL's generator of images (that of DP-MERF's code): a quarter of the size, doubled twice.

    Dense layers with batch norms to `first` channels of a quarter of each side, then twice a
    bilinear enlargement and a convolution of 5 by 5 pixels.
    """
    height, width, channels = shape
    (h4, w4), (h2, w2) = (tuple(math.ceil(side / part) for side in shape[:2]) for part in (4, 2))
    return (
        Linear(inputs, hidden),
        BatchNorm(hidden),
        LeakyReLU(),
        Linear(hidden, h4 * w4 * first),
        BatchNorm(h4 * w4 * first),
        Convolution(h4, w4, first, h2, w2, then, 5),
        LeakyReLU(),
        Convolution(h2, w2, then, height, width, channels, 5),
    )


def dense_layers(inputs: int, sizes: Sequence[int]) -> tuple[AbstractLayer, ...]:
    """DP-MERF's own: dense layers with a batch norm after the first."""
    found: list[AbstractLayer] = [Linear(inputs, sizes[0]), BatchNorm(sizes[0]), LeakyReLU()]
    for before, after in itertools.pairwise(sizes[:-1]):
        found += [Linear(before, after), LeakyReLU()]
    return (*found, Linear(sizes[-2], sizes[-1]))
