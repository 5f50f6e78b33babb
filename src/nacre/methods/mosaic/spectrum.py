"""What of measured pairs noise does not explain: coefficients of the tables, tested in groups.

A table's noise is the same in every orthonormal basis, but what columns have to do with each other
is not: two numbers that rise together differ from independent ones in a few slow waves.  So every
table is written in a basis of cosines for ordered bins, of contrasts for categories (of families
of these first, where a code determines its group), and of the mean and the contrasts of the
classes; coefficients are grouped by octave, or by family.  A group whose squares
add up to no more than noise makes expect says nothing, whatever its table looks like cell by cell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.linalg import block_diag

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Basis = tuple[Array, Index]
"""Orthonormal columns over the bins of a column, the mean first, and the group of each."""

SMALLEST = 1e-9  # a singular value that is not zero
LEFT = 1e-6  # the length of what is left of a vector that others do not span
SLOW = 2  # waves that come before spikes: the mean, and what rises along all bins
SURE = 2.0  # deviations of a sum of squares above its expectation
FAINT = 0.003  # noise of a count, as a share of all rows, from which on links are faint in it


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """Bases of the tables, and the groups of coefficients that are judged together.

    Attributes:
        basis: (D, D) orthonormal columns, each of them of the bins of one column of the table.
        groups: (D, G) ones where a basis vector belongs to a group.
        classes: (sides, sides) orthonormal columns: the mean of the classes, then contrasts.
        class_groups: (sides, 1 or 2) ones where a class vector belongs to a group.
        most: (1 or 2, G, G) the sums of squares, in noise variances, that noise explains.
    """

    basis: Array
    groups: Array
    classes: Array
    class_groups: Array
    most: Array

    @staticmethod
    def of(bases: Sequence[Basis], measured: Array, sides: int) -> Spectrum:
        """For columns with these bases of their bins.

        `measured` (K, K) is not zero for tables that were counted, each of them for so many `sides`
        (classes, or all of them together).
        """
        groups = block_diag(*[np.eye(group.max() + 1)[group] for _, group in bases])
        owner = np.repeat(np.arange(len(bases)), [group.max() + 1 for _, group in bases])
        class_groups = np.eye(min(sides, 2))[np.minimum(np.arange(sides), 1)]
        size = groups.sum(0)
        count = class_groups.sum(0)[:, None, None] * np.outer(size, size)
        count = count * (measured[np.ix_(owner, owner)] != 0)
        # Chi-squared with m degrees of freedom has mean m and variance 2 m.
        most = count + SURE * np.sqrt(2 * count)
        basis = block_diag(*[each for each, _ in bases])
        return Spectrum(basis, groups, contrasts(sides), class_groups, most)


def waves(
    ordered: int,
    bins: int,
    families: Sequence[Index] = (),
    spikes: NDArray[np.bool_] | None = None,
) -> Basis:
    """Orthonormal columns and the group of each: means, octaves of cosines, single bins, contrasts.

    Bins beyond those in order ('missing') are vectors by themselves.  So is what the slowest waves
    leave of each of the `spikes` among the ordered bins: rows that share a value may be others than
    those beside them, which faster waves of all bins would tell of together.  Where bins without an
    order belong to `families`, contrasts between these come first, those of the coarsest order
    before finer ones, and each order's are a group: what links a family is not lost among its
    members.
    """
    basis, group = np.eye(bins), np.arange(bins)
    if not ordered and not len(families):
        return contrasts(bins), np.minimum(group, 1)
    if not ordered:
        return nested_contrasts(bins, families)
    size = np.arange(ordered)
    cosines = dct(np.eye(ordered), axis=0, norm="ortho").T
    octave = np.where(size > 0, 1 + np.floor(np.log2(np.maximum(size, 1))), 0).astype(np.int64)
    if spikes is not None and spikes[:ordered].any():
        alone = np.eye(ordered)[:, spikes[:ordered]]
        cosines, place = _before(cosines, alone, SLOW)
        octave = np.r_[octave, octave.max() + 1 + np.arange(alone.shape[1])][place]
        octave = np.unique(octave, return_inverse=True)[1]
    basis[:ordered, :ordered], group[:ordered] = cosines, octave
    group[ordered:] = octave.max() + 1 + np.arange(bins - ordered)
    return basis, group


def _before(vectors: Array, more: Array, first: int) -> tuple[Array, Index]:
    """An orthonormal basis: of the `first` vectors, then of `more`, then of the other vectors.

    Each is what those before it leave; also of which one, where more come after all vectors.
    """
    every, size = np.column_stack([vectors, more]), vectors.shape[1]
    order = np.r_[0:first, size : every.shape[1], first:size]
    found, place = np.zeros((len(vectors), 0)), list[int]()
    for each in order.tolist():
        left = every[:, each]
        for _ in range(2):  # once more for what rounding has left
            left = left - found @ (found.T @ left)
        if (length := float(np.linalg.norm(left))) > LEFT and found.shape[1] < len(vectors):
            found, place = np.column_stack([found, left / length]), [*place, each]
    return found, np.array(place)


def nested_contrasts(bins: int, families: Sequence[Index]) -> Basis:
    """The mean, then contrasts between families, coarsest first, and last those of single bins."""
    basis, group = np.full((bins, 1), bins**-0.5), [0]
    for level, family in enumerate([*families[::-1], np.arange(bins)]):
        # What indicators of families say beyond all that is coarser, in vectors of length one.
        said = np.eye(int(family.max()) + 1)[family]
        left, sizes, _ = np.linalg.svd(said - basis @ (basis.T @ said), full_matrices=False)
        new = left[:, sizes > SMALLEST]
        basis, group = np.column_stack([basis, new]), [*group, *[level + 1] * new.shape[1]]
    return basis, np.unique(group, return_inverse=True)[1]


def contrasts(size: int) -> Array:
    """An orthonormal basis of so many values: the mean first."""
    found = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0]
    return np.asarray(found, np.float64)
