"""Images as people hold them: arrays of bytes, with labels or without."""

import dataclasses
from typing import Any

import numpy as np

from nacre.errors import NacreError

FEWEST = 10


@dataclasses.dataclass(frozen=True, eq=False)
class Images:
    """Images of one size.

    Attributes:
        pixels: uint8, [n, height, width, channels].
        labels: class of each, 0, 1, ...; None if they have none.
    """

    pixels: np.ndarray
    labels: np.ndarray | None

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def classes(self) -> int:
        """One more than the largest label; 0 without labels."""
        return 0 if self.labels is None else int(self.labels.max()) + 1

    def take(self, index: np.ndarray) -> "Images":
        """The images at `index`."""
        labels = None if self.labels is None else self.labels[index]
        return Images(self.pixels[index], labels)

    def sample(self, most: int, rng: np.random.Generator) -> "Images":
        """At most `most` images, drawn without replacement; all of them if there are no more."""
        if len(self) <= most:
            return self
        return self.take(np.sort(rng.choice(len(self), most, replace=False)))

    def flat(self) -> np.ndarray:
        """One row of numbers in [0, 1] for each image."""
        return self.pixels.reshape(len(self), -1).astype(np.float32) / 255


def read_images(given: Any, name: str) -> Images:
    """Images from an array, or from a pair of an array and labels.

    Args:
        given: uint8 [n, height, width] or [n, height, width, channels]; or (such an array, labels).
        name: how messages call them, e.g. "The synthetic images".
    """
    pixels, labels = given if isinstance(given, tuple | list) and len(given) == 2 else (given, None)
    pixels = np.asarray(pixels)
    if pixels.dtype != np.uint8 or pixels.ndim not in (3, 4):
        raise NacreError(
            f"{name} are an array of {pixels.dtype} with {pixels.ndim} axes. Give uint8 of shape "
            f"[n, height, width] or [n, height, width, channels]; scale [0, 1] by 255 first."
        )
    if len(pixels) < FEWEST:
        raise NacreError(f"{name}: there are {len(pixels)}. At least {FEWEST} are needed.")
    if labels is not None:
        labels = np.asarray(labels)
        whole = np.issubdtype(labels.dtype, np.integer)
        if labels.shape != (len(pixels),) or not whole or labels.min() < 0:
            raise NacreError(
                f"{name} need one label each: {len(pixels)} whole numbers from 0. Given: "
                f"{labels.dtype} of shape {labels.shape}."
            )
        labels = labels.astype(np.int64)
    return Images(pixels if pixels.ndim == 4 else pixels[..., None], labels)
