"""Rows with the labels that Mosaic's teacher gives them, also where the label is a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.draw import draw_labels, pick
from nacre.methods.mosaic.drawing import NOT_POSSIBLE, draw_rows

if TYPE_CHECKING:
    from nacre.methods.mosaic.generator import MosaicGenerator

Index = NDArray[np.int64]
CANDIDATES = 100_000  # rows drawn for a condition on the label before the nearest ones are repeated


def labeled_rows(
    generator: MosaicGenerator,
    n: int,
    rng: np.random.Generator,
    given: Mapping[int, int],
    by_class: NDArray[np.float64],
) -> tuple[Index, Index, NDArray[np.float64]]:
    """Rows of a generator, the teacher's labels, and the chances of these.

    Conditions on the label hold by rejection, hence exactly.

    If the condition is so rare that `CANDIDATES` rows are not enough, the rows still missing
    are drawn from those candidates in proportion to their chances.
    """
    if (by_class == 1).all():
        cells, _ = draw_rows(generator, n, rng, given)
        chance = generator.posterior(cells)
        return cells, draw_labels(chance, rng), chance
    kept: list[Index] = []
    tried: list[Index] = []
    missing, rate = n, 0.5
    while missing > 0 and sum(map(len, tried)) < CANDIDATES + 2 * n:
        candidates = int(np.clip(missing / rate, 256, 1 << 14))
        cells, _ = draw_rows(generator, candidates, rng, given)
        chance = generator.posterior(cells) @ by_class
        kept.append(cells[rng.random(len(cells)) < chance])
        tried.append(cells)
        missing -= len(kept[-1])
        rate = max(float(chance.mean()), 1e-3)
    found = np.concatenate([*kept, np.zeros((0, len(generator.sizes)), np.int64)])[:n]
    if len(found) < n:
        pool = np.concatenate(tried)
        chance = generator.posterior(pool) @ by_class
        if not chance.sum() > 0:
            raise NacreError(NOT_POSSIBLE)
        found = np.concatenate([found, pool[pick(chance, n - len(found), rng)]])
    chance = generator.posterior(found) * by_class
    chance = chance / chance.sum(1, keepdims=True)
    return found, draw_labels(chance, rng), chance
