"""Scattering (Mallat, 2012; Bruna and Mallat, 2013): features of an image that nobody learnt.

Moduli of Morlet wavelets at two scales and six angles, averaged over a quarter of the image's
side, and moduli of wavelets of these.  One code runs under JAX, for functions of one row, and under
NumPy, for samples.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

ANGLES = 6
MARGIN = 4  # pixels of reflection around an image
LARGEST = 32  # pixels along a side that wavelets see; larger images are averaged first
SPREAD = 3.2  # of the average, in pixels
TINY = 1e-6


@final
@dataclasses.dataclass(frozen=True)
class Scattering:
    """Features of images of one size: three orders, each of norm 1/sqrt(3), so norm one in all.

    Attributes:
        height: of an image.
        width: of an image.
        channels: each is a picture by itself.
    """

    height: int
    width: int
    channels: int = 1

    @property
    def _sides(self) -> tuple[int, int]:
        """What wavelets see of an image."""
        return min(self.height, LARGEST), min(self.width, LARGEST)

    @property
    def _padded(self) -> tuple[int, int]:
        first, second = (math.ceil((side + 2 * MARGIN) / 4) * 4 for side in self._sides)
        return first, second

    @property
    def size(self) -> int:
        """How many features there are."""
        places = math.prod(math.ceil(side / 4) for side in self._sides)
        return places * (1 + 2 * ANGLES + ANGLES**2) * self.channels

    @cached_property
    def _wavelets(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of both scales, (angles, padded height, padded width), in the Fourier domain."""
        fine, coarse = (
            np.stack([_morlet(self._padded, scale, math.pi * a / ANGLES) for a in range(ANGLES)])
            for scale in (0, 1)
        )
        return fine, coarse

    def _means(self, axis: int, step: int) -> NDArray[np.float32]:
        """Gaussian averages around the middle of each quarter, of every `step`-th pixel."""
        side, padded = self._sides[axis], self._padded[axis]
        parts = math.ceil(side / 4)
        at, middle = np.arange(padded // step) * step - MARGIN, (np.arange(parts) + 0.5) * side
        weights = np.exp(-((at - (middle / parts - 0.5)[:, None]) ** 2) / (2 * SPREAD**2))
        return (weights / weights.sum(1, keepdims=True)).astype(np.float32)

    def __call__(self, images: Any, xp: Any) -> Any:
        """Images (n, height, width, channels) in [0, 1] to (n, size), float32."""
        n = len(images)
        planes = images.transpose(0, 3, 1, 2).reshape(n * self.channels, self.height, self.width)
        orders = [part.reshape(n, -1) for part in self._orders(self._seen(planes, xp), xp)]
        found = xp.concatenate([_unit(part, xp) for part in orders], axis=1)
        return found / np.float32(math.sqrt(3))

    def _seen(self, planes: Any, xp: Any) -> Any:
        """Averaged down where they are too large, and reflected at the edges."""
        for axis, side in enumerate(self._sides):
            if side < planes.shape[axis + 1]:
                means = xp.asarray(_pooling(planes.shape[axis + 1], side))
                planes = xp.moveaxis(
                    xp.tensordot(planes, means, axes=((axis + 1,), (1,))), -1, axis + 1
                )
        edges = [(MARGIN, p - s - MARGIN) for s, p in zip(self._sides, self._padded, strict=True)]
        for axis, (before, after) in enumerate(edges):
            planes = xp.take(
                planes, _reflected(planes.shape[axis + 1], before, after), axis=axis + 1
            )
        return planes

    def _orders(self, planes: Any, xp: Any) -> tuple[Any, Any, Any]:
        fine, coarse = (xp.asarray(part) for part in self._wavelets)
        full, half = ([xp.asarray(self._means(axis, s)) for axis in (0, 1)] for s in (1, 2))

        def averaged(maps: Any, means: Any) -> Any:
            return means[0] @ maps @ means[1].T

        fourier = _fourier(xp)
        waves = fourier.fft2(planes)[:, None]
        first = _modulus(fourier.ifft2(waves * fine), xp)
        second = _modulus_of_half(waves * coarse, xp)
        inner = fourier.fft2(first)
        deeper = [averaged(_modulus_of_half(inner * coarse[a], xp), half) for a in range(ANGLES)]
        one = xp.concatenate([averaged(first, full), averaged(second, half)], axis=1)
        return averaged(planes, full), one, xp.concatenate(deeper, axis=1)


def _modulus_of_half(waves: Any, xp: Any) -> Any:
    """The modulus of every second pixel: in the Fourier domain, the halves added up."""
    height, width = (side // 2 for side in waves.shape[-2:])
    waves = waves[..., :height, :] + waves[..., height:, :]
    waves = waves[..., :width] + waves[..., width:]
    return _modulus(_fourier(xp).ifft2(waves), xp) / np.float32(4)


def _fourier(xp: Any) -> Any:
    """Of many small pictures SciPy's transforms take a quarter of the time of NumPy's."""
    if xp is not np:
        return xp.fft
    import scipy.fft

    return scipy.fft


def _modulus(values: Any, xp: Any) -> Any:
    """Not `xp.abs`, which takes care of numbers that are no pixels and is slow."""
    return xp.sqrt(values.real**2 + values.imag**2).astype(np.float32)


def _unit(values: Any, xp: Any) -> Any:
    """Rows of norm one; of a blank row nothing is left."""
    return values / xp.maximum(xp.sqrt(xp.sum(values * values, axis=1, keepdims=True)), TINY)


def _morlet(shape: tuple[int, int], scale: int, angle: float) -> NDArray[np.float32]:
    """A Morlet wavelet of mean zero, periodic; in the Fourier domain, where it is real."""
    spread, frequency, slant = 0.8 * 2**scale, 0.75 * math.pi / 2**scale, 0.5
    down, across = (np.where(np.arange(s) > s / 2, np.arange(s) - s, np.arange(s)) for s in shape)
    wave, low = np.zeros(shape, complex), np.zeros(shape)
    for up in (-shape[0], 0, shape[0]):
        for left in (-shape[1], 0, shape[1]):
            y, x = np.meshgrid(down + up, across + left, indexing="ij")
            along = x * math.cos(angle) + y * math.sin(angle)
            aside = -x * math.sin(angle) + y * math.cos(angle)
            bell = np.exp(-(along**2 + slant**2 * aside**2) / (2 * spread**2))
            bell *= slant / (2 * math.pi * spread**2)
            wave += bell * np.exp(1j * frequency * along)
            low += bell
    wave -= low * (wave.sum() / low.sum())
    return np.fft.fft2(wave).real.astype(np.float32)


def _pooling(size: int, to: int) -> NDArray[np.float32]:
    """Averages of neighboring places, (to, size): each gives its length to what it covers."""
    edges = np.linspace(0, size, to + 1)
    at = np.arange(size)
    low, high = np.maximum(edges[:-1, None], at), np.minimum(edges[1:, None], at + 1)
    return (np.maximum(high - low, 0) * to / size).astype(np.float32)


def _reflected(size: int, before: int, after: int) -> NDArray[np.int32]:
    """Places of an axis with its ends reflected, without the edge itself; also of short ones."""
    turn = max(2 * (size - 1), 1)
    at = np.arange(-before, size + after, dtype=np.int32) % turn
    return np.minimum(np.minimum(at, turn - at), size - 1)
