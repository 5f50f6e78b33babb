"""What of measured pairs noise does not explain: coefficients of the tables, tested in groups.

A table's noise is the same in every orthonormal basis, but what columns have to do with each other
is not: two numbers that rise together differ from independent ones in a few slow waves.  So every
table is written in a basis of cosines for ordered bins, of contrasts for categories, and of the
mean and the contrasts of the classes; coefficients are grouped by octave.  A group whose squares
add up to no more than noise makes expect says nothing, whatever its table looks like cell by cell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

Array = NDArray[np.float64]

SURE = 2.0  # deviations of a sum of squares above its expectation
FAINT = 0.003  # noise of a count, as a share of all rows, from which on links are faint in it


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Bases of the tables, and the groups of coefficients that are judged together.

    All columns have as many places, B, as the widest has bins, and as many groups, G.

    Attributes:
        places: (K * B,) which of the D bins stands in each place; D for none.
        bases: (K, B, B) orthonormal columns.
        groups: (K, B, G) ones where a basis vector belongs to a group.
        classes: (sides, sides) orthonormal columns: the mean of the classes, then contrasts.
        class_groups: (sides, 1 or 2) ones where a class vector belongs to a group.
        most: (1 or 2, K, G, K, G) the sums of squares, in noise variances, that noise explains.
    """

    places: NDArray[np.int64]
    bases: Array
    groups: Array
    classes: Array
    class_groups: Array
    most: Array

    @staticmethod
    def of(ordered: Sequence[int], bins: Sequence[int], measured: Array, sides: int) -> Spectrum:
        """For columns of so many bins, the first `ordered` of which are in order.

        `measured` (K, K) is not zero for tables that were counted, each of them for so many `sides`
        (classes, or all of them together).
        """
        found = [_basis(*each) for each in zip(ordered, bins, strict=True)]
        wide, kinds = max(bins), 1 + max(int(group.max()) for _, group in found)
        bases, groups = np.zeros((len(bins), wide, wide)), np.zeros((len(bins), wide, kinds))
        places = np.full((len(bins), wide), sum(bins))
        for column, (basis, group) in enumerate(found):
            size = len(basis)
            bases[column, :size, :size] = basis
            groups[column, np.arange(size), group] = 1
            places[column, :size] = sum(bins[:column]) + np.arange(size)
        class_groups = np.eye(min(sides, 2))[np.minimum(np.arange(sides), 1)]
        sizes = class_groups.sum(0), groups.sum(1), measured != 0
        count = np.einsum("s,kg,lh,kl->skglh", sizes[0], sizes[1], sizes[1], sizes[2])
        # Chi-squared with m degrees of freedom has mean m and variance 2 m.
        most = count + SURE * np.sqrt(2 * count)
        return Spectrum(places.ravel(), bases, groups, _contrasts(sides), class_groups, most)


def _basis(ordered: int, bins: int) -> tuple[Array, NDArray[np.int64]]:
    """Orthonormal columns and the group of each: means, octaves of cosines, single bins, contrasts.

    Bins beyond those in order ('missing') are vectors by themselves.
    """
    basis, group = np.eye(bins), np.arange(bins)
    if not ordered:
        return _contrasts(bins), np.minimum(group, 1)
    basis[:ordered, :ordered] = dct(np.eye(ordered), axis=0, norm="ortho").T
    octave = 1 + np.floor(np.log2(np.maximum(np.arange(ordered), 1))).astype(np.int64)
    group[:ordered] = np.where(np.arange(ordered) > 0, octave, 0)
    group[ordered:] = group[:ordered].max() + 1 + np.arange(bins - ordered)
    return basis, group


def _contrasts(size: int) -> Array:
    """An orthonormal basis of so many values: the mean first."""
    found = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0]
    return np.asarray(found, np.float64)
