"""How far a mixture is from noisy counts, in what noise makes expect, and which way is nearer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from nacre.methods.mosaic.mixture import moment_slopes, pair_moments
from nacre.methods.mosaic.sparse import Sparse
from nacre.methods.mosaic.spectrum import FAINT, Spectrum

Array = NDArray[np.floating]

EMPTY = 3.0  # how much cells that should be empty count beside all others
LARGE = 3.0  # deviations beyond which what they hold counts linearly
LEAST = 1e-6  # that may be left of a group
FEW_MOST = 10.0  # what noise explains of four coefficients, about


@dataclasses.dataclass(frozen=True)
class Targets:
    """Noisy shares of the table and their precisions, one over the noise's variance.

    Attributes:
        pairs: (C, D, D) by class or (1, D, D) over all classes, symmetric.
        pair_precision: (D, D), zero where nothing was measured.
        histograms: (C, D).
        single_precision: (D,).
        blocks: start and end of each column's bins among the D.
        sparse: what is known about cells that are not surely filled.
        spectrum: how the tables' coefficients are judged.
        whole_precision: (D, D), of what pairs add up to over the classes, if that was counted, too.
    """

    pairs: NDArray[np.float64]
    pair_precision: NDArray[np.float64]
    histograms: NDArray[np.float64]
    single_precision: NDArray[np.float64]
    blocks: tuple[tuple[int, int], ...]
    sparse: Sparse
    spectrum: Spectrum
    whole_precision: NDArray[np.float64] | None = None

    @property
    def summed_precision(self) -> NDArray[np.float64]:
        """(D, D), of what pairs add up to over the classes."""
        if self.whole_precision is None:
            return self.pair_precision / len(self.pairs)
        return self.whole_precision

    @property
    def owner(self) -> NDArray[np.float32]:
        """(D, K) ones where a bin is a column's."""
        found = np.zeros((self.histograms.shape[1], len(self.blocks)), np.float32)
        for column, (start, end) in enumerate(self.blocks):
            found[start:end, column] = 1
        return found

    @property
    def faint(self) -> bool:
        """Whether noise is so large that strong links have to be told from it first.

        Set between two measurements: on training rows of Adult, noise of .002, the first stage and
        coarser bins together cost boosting .004 of its AUC; on made tables of 5,000 rows, noise of
        about .005, both together with the rest of the fit brought links of .9 from .2 to .7.
        """
        known = len(self.pairs) * self.summed_precision[self.summed_precision > 0]
        return bool(len(known)) and float(np.median(known)) < FAINT**-2


class Slopes(NamedTuple):
    """A misfit, what of it is the pairs', and its derivatives by P and W."""

    value: float
    pairs: float
    by_p: Array
    by_w: Array


@final
@dataclasses.dataclass(frozen=True)
class Misfit:
    """Squared errors over their variances, in numbers of one kind."""

    targets: Targets
    pairs: Array
    deviation: Array
    more: Array | None
    histograms: Array
    single_precision: Array
    owner: Array
    empty: tuple[Array, Array, Array]
    turned: Turned

    @staticmethod
    def of(targets: Targets, kind: type[np.floating] = np.float32) -> Misfit:
        """The misfit of these counts."""
        sparse = targets.sparse
        # What is known of the classes' sum beyond what the classes tell of it.
        more = targets.summed_precision - targets.pair_precision / len(targets.pairs)
        return Misfit(
            targets,
            targets.pairs.astype(kind),
            np.sqrt(targets.pair_precision).astype(kind),
            None if targets.whole_precision is None else more.astype(kind),
            targets.histograms.astype(kind),
            targets.single_precision.astype(kind),
            targets.owner.astype(kind),
            (
                sparse.cells.astype(kind),
                sparse.most.astype(kind),
                np.sqrt(sparse.precision).astype(kind),
            ),
            Turned.of(targets, kind),
        )

    def __call__(self, p: Array, w: Array, *, surely: bool) -> Slopes:
        """Of a mixture P (R, D), W (R, C).

        Of the pairs only what noise does not explain, if `surely`.
        """
        sides = w if len(self.pairs) == w.shape[1] else w.sum(1, keepdims=True)
        if surely:
            pair, seen, by_p, by_sides = self.turned(p, sides)
            pooled = w.sum(1, keepdims=True)
            empty, slope = self._overfilled(pair_moments(p, pooled)[0])
            if slope is not None:
                more_p, more_w = moment_slopes(p, pooled, [slope])
                by_p, by_sides = by_p + more_p, by_sides + more_w
        else:
            moments = pair_moments(p, sides)
            empty, slope = self._overfilled(moments.sum(0))
            moments -= self.pairs
            together = None if self.more is None else moments.sum(0)
            moments *= self.deviation
            pair = 0.5 * float(np.vdot(moments, moments))
            moments *= self.deviation
            if self.more is not None and together is not None:
                pair += 0.5 * float(np.vdot(self.more * together, together))
                moments += self.more * together
            seen = pair
            if slope is not None:
                moments += slope
            by_p, by_sides = moment_slopes(p, sides, moments)
        gap = w.T @ p - self.histograms
        single = self.single_precision * gap
        by_w = by_sides + 2 * (p @ single.T)
        by_p += 2 * (w @ single)
        value = pair + EMPTY * empty + float(np.vdot(single, gap))
        return Slopes(value, seen, by_p, by_w)

    def _overfilled(self, moments: Array) -> tuple[float, Array | None]:
        """What cells that should be empty hold too much, in squares over their variances.

        Many such cells, each fitted with less than its noise, may hold many rows together.  So what
        those of a table hold counts as one more value where it is too much; linearly where it is
        large, as it is at the start, or it would drive out whole values.  The derivative by the
        moments, `EMPTY` times, is None where there is none.
        """
        cells, most, deviation = self.empty
        held = self.owner.T @ (cells * moments) @ self.owner
        excess = deviation * np.maximum(held - most, 0)
        if not excess.any():
            return 0.0, None
        near = np.minimum(excess, LARGE)
        slope = self.owner @ (EMPTY * deviation * near) @ self.owner.T
        return float((near * excess - near**2 / 2).sum()), cells * slope


@final
@dataclasses.dataclass(frozen=True)
class Turned:
    """The tables of pairs as coefficients, and what may be left of each group of these."""

    pairs: Array
    basis: Array
    groups: Array
    classes: Array
    class_groups: Array
    most: Array
    deviation: Array

    @staticmethod
    def of(targets: Targets, kind: type[np.floating]) -> Turned:
        """In numbers of this kind."""
        s = targets.spectrum
        parts: Sequence[Array] = (
            s.basis.T @ targets.pairs @ s.basis,
            s.basis,
            s.groups,
            s.classes,
            s.class_groups,
            _explained(targets),
            _deviation(targets),
        )
        return Turned(*(part.astype(kind) for part in parts))

    def __call__(self, p: Array, w: Array) -> tuple[float, float, Array, Array]:
        """A loss of the groups of coefficients whose squares x are above what may be left, m.

        x - m - m log(x / m): its slope in x is 1 - m / x, small where little is left to do.  Also
        the sum of all x - m, and the derivatives by P and W.  Noise is the same in all cells of a
        table, so errors may be weighed after the turn.
        """
        turned = p @ self.basis
        errors = pair_moments(turned, w) - self.pairs
        sides, places = len(errors), errors.shape[1]
        contrasts = (self.classes.T @ errors.reshape(sides, -1)).reshape(errors.shape)
        contrasts *= self.deviation
        sums = group_sums(contrasts, self.class_groups, self.groups)
        above = np.maximum(sums, self.most)
        # Every table is there twice, once on each side of the diagonal.
        loss = 0.5 * float((above - self.most - self.most * np.log(above / self.most)).sum())
        slope = 1 - self.most / above
        spread = self.groups @ slope @ self.groups.T
        contrasts *= (self.class_groups @ spread.reshape(len(slope), -1)).reshape(errors.shape)
        contrasts *= self.deviation
        back = (self.classes @ contrasts.reshape(sides, -1)).reshape(sides, places, places)
        by_turned, by_w = moment_slopes(turned, w, back)
        return loss, 0.5 * float((above - self.most).sum()), by_turned @ self.basis.T, by_w


def group_sums(contrasts: Array, class_groups: Array, groups: Array) -> Array:
    """Squares of coefficients (class contrasts, D, D) by group."""
    squares = (class_groups.T @ (contrasts**2).reshape(len(contrasts), -1)).reshape(
        -1, *contrasts.shape[1:]
    )
    return np.asarray(groups.T @ squares @ groups)


def _deviation(targets: Targets) -> NDArray[np.float64]:
    """(class contrasts, D, D) one over the noise of coefficients: first the mean of the classes."""
    sides = len(targets.pairs)
    mean, others = sides * targets.summed_precision, targets.pair_precision
    return np.sqrt(np.stack([mean, *[others] * (sides - 1)]))


def _explained(targets: Targets) -> NDArray[np.float64]:
    """What may be left of each group: m where noise explains all of it, else less.

    Where columns that are independent given the class leave squares x > m, Stein's estimate keeps
    1 - m / x of the difference, and so leaves squares of x (m / x)^2.  That is for groups of a few
    coefficients, the slow waves of two numbers; in large ones it would follow too much noise.
    """
    single, spectrum = targets.histograms, targets.spectrum
    if not targets.faint:
        return np.maximum(spectrum.most, LEAST)
    if len(targets.pairs) != len(single):
        single = single.sum(0, keepdims=True)
    size = np.maximum(single[:, slice(*targets.blocks[0])].sum(1), 1e-9)
    turned = single @ spectrum.basis
    independent = turned[:, :, None] * turned[:, None, :] / size[:, None, None]
    pairs = spectrum.basis.T @ targets.pairs @ spectrum.basis
    contrasts = np.einsum("cde,cf->fde", independent - pairs, spectrum.classes)
    contrasts *= _deviation(targets)
    sums, most = group_sums(contrasts, spectrum.class_groups, spectrum.groups), spectrum.most
    left = most * np.minimum(1.0, most / np.maximum(sums, 1e-9))
    return np.maximum(np.where(most < FEW_MOST, left, most), LEAST)
