"""What every trained generator can do: draw encoded rows, and be saved without pickle.

Generators are plain arrays, so that sampling and showing a model need no JAX.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.measurement import Measurement
from nacre.schema import Encoded, Layout


class AbstractGenerator(abc.ABC):
    """A source of synthetic rows; everything in it is post-processing of noisy answers."""

    @abc.abstractmethod
    def sample(
        self, n: int, layout: Layout, rng: np.random.Generator, fixed: Mapping[int, int]
    ) -> Encoded:
        """Draw n rows; `fixed` gives codes (place among the layout's codes -> code) to keep to."""

    def measured(self, layout: Layout) -> tuple[Measurement, ...]:
        """The noisy histograms that were released to make it; none where other things were."""
        return ()

    @abc.abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain JSON data and arrays from which `restore` makes the same generator."""

    @classmethod
    @abc.abstractmethod
    def restore(cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `state`; raises ValueError for data that do not fit together."""
