"""The release of heaped numbers, for all methods that draw numbers inside cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nacre.histograms.cells import Column
from nacre.histograms.heaps import Heaps, classes, find_heaps, heaped
from nacre.histograms.weights import NORM
from nacre.schema import Layout
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.marginals import Places
    from nacre.histograms.atoms import Atoms
    from nacre.histograms.histograms import Histograms
    from nacre.vault import Vault

HEAPS = "round values"
MEANING = (
    "of what the histograms leave, the share for how many rows lie at multiples of round steps, "
    "where numbers have cells of several values; 0 for none"
)


def heaps_question(columns: tuple[Column, ...], layout: Layout, share: float) -> tuple[Sum, ...]:
    """The question, if there are numbers that may be heaped inside their cells.

    Sensitivity:
        a row touches one count of each of N numbers with the same weight, and the vault clips it to
        the norm 4096: add-remove 4096, replace-one sqrt(2) times that.
    """
    numbers = [place for place, number in enumerate(layout.numbers) if number.rounds]
    chosen = heaped(columns, layout)
    if not chosen or not share:
        return ()
    # Room for all numbers: in a small table more of them have wide cells.
    size = sum(1 + len(layout.numbers[place].rounds) for place in numbers)
    return (
        Sum(
            name=HEAPS,
            bound=Bound(segments=(Segment(size=size, norm=NORM, signed=False),)),
            share=share,
            unit=NORM / math.sqrt(len(chosen)),
            meaning="how many rows lie at multiples of each round step or end just below a "
            "hundred (of dates: on each day of the week), inside the cells of "
            f"{len(chosen)} number{'' if len(chosen) == 1 else 's'}",
        ),
    )


def ask_heaps(
    vault: Vault,
    question: Sum,
    layout: Layout,
    histograms: Histograms,
    places: Places,
    atoms: Atoms,
) -> Heaps:
    """What is known about the heaps after the answer."""
    import numpy as np

    from nacre.embed.rounds import round_features

    columns = histograms.columns
    chosen = heaped(columns, layout)
    weight = math.floor(NORM / math.sqrt(len(chosen)))
    sums = vault.sum(question, round_features(places, columns, layout, chosen, weight))
    ends = np.cumsum(classes(columns, layout, chosen))
    counts = np.split(sums.values[0] / weight, ends)[: len(chosen)]
    found = dict(zip(chosen, counts, strict=True))
    return find_heaps(histograms, layout, atoms, found, sums.noise[0] / weight)
