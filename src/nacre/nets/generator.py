"""What every trained generator can do: draw encoded rows, and be saved without pickle.

Generators are plain arrays, so that sampling and showing a model need no JAX.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.crosstable import CrossTable
from nacre.histograms.measurement import Measurement
from nacre.nets import stored


class AbstractGenerator(abc.ABC):
    """A source of synthetic rows; everything in it is post-processing of noisy answers.

    A dataclass whose fields say what a model file keeps of them (`nacre.nets.stored`), or a class
    with a `state` and `restore` of its own.
    """

    @abc.abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Any:
        """Draw n rows, as the encoder's `settle` takes them."""

    def given(self, fixed: Mapping[Any, int]) -> Self | None:
        """The same, drawing only rows with these values (`AbstractEncoder.fixed`).

        None if it cannot: then rows that do not have them are drawn again.
        """
        return None

    def measured(self) -> tuple[Measurement, ...]:
        """The noisy histograms that were released to make it; none where other things were."""
        return ()

    def released(self) -> tuple[CrossTable, ...]:
        """The noisy cross-tables that were released to make it, where every row counts in full."""
        return ()

    def kept(self) -> tuple[str, ...]:
        """The names of the releases of which it keeps what the vault answered."""
        return ()

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Plain JSON data and arrays from which `restore` makes the same generator."""
        arrays: dict[str, NDArray[Any]] = {}
        return stored.record(type(self)).save(self, "", arrays), arrays

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
        """The inverse of `state`; raises ValueError for data that do not fit together."""
        values = stored.record(cls).values(config, "", stored.Arrays(arrays))
        generator = cls(**values, **stored.public(cls, encoder))
        generator._check()
        return generator

    def _check(self) -> None:
        """Raise ValueError unless the fields fit together, whatever a file said of each."""
        return
