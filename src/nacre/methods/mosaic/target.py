"""A numeric label treated as a label: cut into a few classes, by which all columns are counted.

Where the cuts lie follows from a small release of the label's own histogram.  From then on a row's
class costs nothing, as with a label that has classes: a row lies in one of them only.  What is
inside a class is drawn from the label's histogram, in the order that the label model makes expect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.cells import Column
from nacre.histograms.draw import leaning, quota, slopes
from nacre.histograms.histograms import Histograms, deviation
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.marginals import Places
    from nacre.vault import Vault

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CLASSES = 8  # of a numeric label, at most; one more for those that are missing
SHARE = 0.03  # of the budget, for its own histogram
LIGHTEST = 0.05  # of the rows, about, that a class holds at least


def most_classes(column: Column) -> int:
    """The most classes that a numeric label may have."""
    return min(CLASSES + column.nullable, column.size)


def target_question(name: str, column: Column) -> Sum:
    """The numeric label's own histogram.

    Sensitivity:
        a row lies in one cell: add-remove 1, replace-one sqrt(2).
    """
    return Sum(
        name="cells of the label",
        bound=Bound(segments=(Segment(size=column.size, norm=1.0, signed=False),)),
        share=SHARE,
        meaning=f"how many rows lie in each cell of '{name}', to cut it into classes",
    )


@final
@dataclasses.dataclass(frozen=True)
class Target:
    """A numeric label that was cut into classes.

    Attributes:
        column: its place among the columns.
        group: (cells,) the class of each of its cells.
        counts: (cells,) its own histogram, as released.
        noise: the deviation of one of these counts.
    """

    column: int
    group: Index
    counts: Array
    noise: float

    @staticmethod
    def ask(
        vault: Vault, question: Sum, places: Places, columns: tuple[Column, ...], column: int
    ) -> Target:
        """Release the histogram and cut the label by it: classes of equal mass, spikes alone."""
        from nacre.embed.marginals import column_features

        kind, start = columns[column], sum(each.size for each in columns[:column])
        sums = vault.sum(question, column_features(places, column, start))
        own = Histograms.of((kind,), sums.values, sums.noise[0])
        most = most_classes(kind)
        group = own.group(0, most=most - kind.nullable, floor=LIGHTEST, rare=0.0, slots=most)
        return Target(column, group, sums.values[0], sums.noise[0])

    @property
    def classes(self) -> int:
        """How many there are."""
        return int(self.group.max()) + 1

    def split(
        self, features: Callable[[Any], Any], places: Places, columns: tuple[Column, ...], size: int
    ) -> Callable[[Any], Any]:
        """Features of `size` values, for each class in a stretch of its own."""
        from nacre.embed.marginals import by_cell

        block = np.zeros(sum(each.size for each in columns), np.int64)
        start = sum(each.size for each in columns[: self.column])
        block[start : start + len(self.group)] = self.group
        return by_cell(features, places, self.column, block, size)

    def histograms(
        self,
        columns: tuple[Column, ...],
        values: Array,
        noise: float,
        weights: Index,
        whole: tuple[Array, float] | None = None,
    ) -> Histograms:
        """All columns by class, from released counts (1, most classes * cells), with these weights.

        Of the label itself both countings are averaged by their precision, and no class holds what
        lies in another one.
        """
        size = sum(each.size for each in columns)
        by_class = values[0].reshape(-1, size)[: self.classes]
        found = Histograms.of(columns, by_class, noise, weights, whole=whole)
        before, again = (deviation(each) ** -2 for each in (self.noise, found.noise[self.column]))
        own = np.arange(self.classes)[:, None] == self.group
        twice = found.released[self.column][self.group, np.arange(len(self.group))]
        mean = (self.counts * before + twice * again) / (before + again)
        alone = Histograms.of((columns[self.column],), mean[None], (before + again) ** -0.5)
        cleaned = np.where(own, alone.cleaned[0], 0.0)
        cleaned = np.where(cleaned.sum(1, keepdims=True) > 0, cleaned, own)
        cleaned *= (found.sizes / cleaned.sum(1))[:, None]

        def placed(tables: list[Any], table: Any) -> list[Any]:
            return [*tables[: self.column], table, *tables[self.column + 1 :]]

        return dataclasses.replace(
            found,
            noisy=placed(found.noisy, np.where(own, mean, 0.0)),
            cleaned=placed(found.cleaned, cleaned),
            filled=placed(found.filled, alone.filled[0]),
        )


def within_classes(
    chance: Array, label: Index, shares: Array, ordered: int, rng: np.random.Generator
) -> Array:
    """Where inside its class each row lies, in [0, 1): evenly in each class, likelier ends first.

    A row whose class above is likelier than the one below lies rather in its upper part: its
    log density is taken as straight between the classes.

    Args:
        chance: (n, C) of each row's classes, the first `ordered` of which are in order.
        label: the class of each row.
        shares: (C,) of the classes.
        ordered: how many classes are in order.
        rng: for the draws.
    """
    slope = slopes(chance, shares, ordered)[np.arange(len(label)), label]
    return quota(label, len(shares), rng, leaning(slope, rng))
