"""Rows of a mixture that all steps which teach the label look at: drawn and explained once."""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.draw import chances
from nacre.methods.mosaic.drawing import draw_rows
from nacre.methods.mosaic.generator import MosaicGenerator
from nacre.methods.mosaic.tilts import tilts

Array = NDArray[np.float64]


@final
@dataclasses.dataclass(frozen=True)
class Drawn:
    """Rows from the mixture alone, and what it makes of their label.

    Attributes:
        cells: (n, K).
        base: (n, C) log chances of the classes before any tilt, which no tilt changes.
    """

    cells: NDArray[np.int64]
    base: Array

    @staticmethod
    def of(generator: MosaicGenerator, n: int, rng: np.random.Generator) -> Drawn:
        """So many rows, which are in random order."""
        cells, _ = draw_rows(generator, n, rng)
        return Drawn(cells, generator.base(cells))

    def first(self, n: int) -> Drawn:
        """So many of them, at most."""
        return Drawn(self.cells[:n], self.base[:n])

    def chances(self, generator: MosaicGenerator) -> Array:
        """(n, C) of the classes, with the generator's tilts."""
        return chances(self.base + tilts(generator, self.cells))
