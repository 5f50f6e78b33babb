"""The worst canary that can be found: a row whose contribution to the sums is longest.

By coordinate ascent on the public feature maps, which a witness has kept from one run.  It is a
search, so it finds a bad row, not surely the worst.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from nacre.audit.pair import Pair, variations
from nacre.audit.witness import Strength

PASSES = 3


def worst_canary(pair: Pair, strengths: Sequence[Strength], *, seed: int = 0) -> Pair:
    """The pair with the canary whose squared mu, over all sums that were seen, is largest.

    Under replace-one the row in its place stays: what counts there is their difference, and a long
    contribution far from the other row's is long as a difference, too.
    """
    if not strengths:
        return pair
    rng = np.random.default_rng(seed)

    def strength(row: dict[str, Any]) -> float:
        stream = pair.stream_of((row,))
        return sum(measure(stream) for measure in strengths)

    best, longest = pair.canary, strength(pair.canary)
    for _ in range(PASSES):
        before = longest
        for row in variations(pair, best, rng):
            if (found := strength(row)) > longest * (1 + 1e-9):
                best, longest = row, found
        if longest == before:
            break
    return dataclasses.replace(pair, canary=best)
