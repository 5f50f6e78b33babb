"""A label model learned from released counts alone: post-processing, so it costs no budget.

log P(c | x) = base_c(x) + sum_k u_k[c, bin of x_k] + sum_jk v_jk[c, bins of x_j and x_k], up to a
constant.  Every table of coefficients has a Gaussian prior that is smooth over ordered bins, and
its class-wise counts over sampled rows are to be the noisy ones, weighted by their noise: what is
looked for is the mode of the posterior.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from nacre.methods.mosaic.prior import Prior

Array = NDArray[np.float64]

SURE = 2.0  # deviations of a sum of squares that noise alone may add
LARGEST = 3.0  # prior deviation of a coefficient
MEMORY = 20  # of L-BFGS
CLOSEST = 0.1  # of the variance that other people would bring: no model is closer than that


@dataclasses.dataclass(frozen=True)
class Evidence:
    """One table of counts by class, over sampled rows.

    Attributes:
        cell: (n,) each sampled row's cell.
        target: (C, cells) the counts to meet.
        variance: (C, cells) of their noise.
        sampling: (C, cells) their variance because other people might be in the table as well.
        prior: of the coefficients of a class.
    """

    cell: NDArray[np.int64]
    target: Array
    variance: Array
    sampling: Array
    prior: Prior

    def gaps(self, chances: Array) -> tuple[Array, Array]:
        """What rows of these class chances (n, C) hold, and how much that is beside the counts."""
        size = self.target.shape[1]
        counts = [np.bincount(self.cell, column, size) for column in chances.T]
        found = np.array(counts, np.float64)
        return found, found - self.target

    def surprise(self, chances: Array) -> float:
        """How far the rows' class chances (n, C) are from the counts, in noise deviations."""
        return float((self.gaps(chances)[1] ** 2 / self.variance).mean())


def evidence(
    cell: NDArray[np.int64],
    noisy: Array,
    variance: NDArray[np.floating] | float,
    shares: Array,
    prior: Prior,
    scale: float = 1.0,
) -> Evidence:
    """Class-wise counts (C, cells), times `scale` to be of as many rows as were sampled.

    A cell's mass is the sampled one, not the noisy one, so that an error in x is not blamed on
    the label: the class rates, shrunk to the class `shares` by three noise deviations' worth of
    rows, are applied to the difference.  The count of m people of class rate p has variance
    m p (1 - p), `scale` times that after scaling; not less than `CLOSEST` of it.
    """
    classes, size = noisy.shape
    mass = np.bincount(cell, minlength=size).astype(np.float64)
    pull = 3 * np.sqrt(classes * variance) * np.ones(size)
    rate = np.maximum(noisy, 0.0) + shares[:, None] * pull
    rate /= rate.sum(0)
    target = noisy + rate * (mass - noisy.sum(0))
    spread = variance * ((1 - rate) ** 2 + (classes - 1) * rate**2)
    sampling = np.maximum(mass, 5.0) * np.maximum(rate * (1 - rate), 0.02)
    return Evidence(cell, target, spread, max(scale, CLOSEST) * sampling, prior)


def gap_deviation(table: Evidence, chances: Array) -> float:
    """How large a table's coefficients are, from how far it is from rows of these chances (n, C).

    A coefficient u moves its cell's count by about u times the information m p (1 - p).  So the
    squares of the gaps, less those that noise makes expect, tell the deviation of the u; zero if
    noise explains the gaps.
    """
    found, gaps = table.gaps(chances)
    information = found * (1 - found / np.maximum(found.sum(0), 1e-9))
    left = float((gaps**2 - table.variance).sum())
    noise = float(np.sqrt(2 * (table.variance**2).sum()))
    if left < SURE * noise:
        return 0.0
    return min(float(np.sqrt(left / max((information**2).sum(), 1e-9))), LARGEST)


def teach(
    base: Array, tables: Sequence[Evidence], *, among: Array | None = None, iterations: int = 120
) -> list[Array]:
    """The coefficients (C, cells) of each table; `base` (n, C) holds log chances to start from.

    `among` (C, k) is the prior of the classes: they are it times standard normals, or if there is
    none standard normals themselves.
    """
    posterior = _Posterior(base, tables, among)
    found = minimize(
        posterior,
        np.zeros(posterior.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "maxcor": MEMORY},
    ).x
    return [
        posterior.by_class(t.prior.spread(part))
        for part, t in zip(posterior.split(found), tables, strict=True)
    ]


class _Posterior:
    """Minus the log of the posterior density of standard normals z, and its slopes.

    Chances hang on differences of classes only, so all is said beside the first one.
    """

    def __init__(self, base: Array, tables: Sequence[Evidence], among: Array | None = None) -> None:
        self.base = (base[:, 1:] - base[:, :1]).T.copy()
        self.tables, self.among = tables, among
        rows = base.shape[1] if among is None else among.shape[1]
        self.shapes = [(rows, table.prior.size) for table in tables]
        self.ends = np.cumsum([rows * columns for rows, columns in self.shapes])
        self.size = int(self.ends[-1])
        self.mass = [np.bincount(t.cell, minlength=t.target.shape[1]) for t in tables]
        self.weight = [1 / (table.variance + table.sampling) for table in tables]

    def split(self, flat: Array) -> list[Array]:
        """The tables' parts of z."""
        parts = np.split(flat, self.ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def by_class(self, parts: Array) -> Array:
        """What the classes' normals (k, ...) make of each class (C, ...); all add up to zero."""
        found = parts if self.among is None else self.among @ parts
        return np.asarray(found - found.mean(0))

    def __call__(self, flat: Array) -> tuple[float, Array]:
        parts, logits = self.split(flat), self.base.copy()
        for part, table in zip(parts, self.tables, strict=True):
            every = self.by_class(table.prior.spread(part))
            for row, own in zip(logits, every[1:] - every[0], strict=True):
                row += np.take(own, table.cell)
        top = np.maximum(logits.max(0), 0.0)
        chance = np.exp(logits - top)
        chance /= chance.sum(0) + np.exp(-top)
        value, pull, slopes = 0.5 * float(flat @ flat), np.zeros_like(chance), []
        for table, mass, weight in zip(self.tables, self.mass, self.weight, strict=True):
            size = table.target.shape[1]
            others = np.stack([np.bincount(table.cell, row, size) for row in chance])
            gap = np.concatenate([(mass - others.sum(0))[None], others]) - table.target
            value += 0.5 * float((weight * gap**2).sum())
            weighted = weight * gap
            for row, own in zip(pull, weighted[1:] - weighted[0], strict=True):
                row += np.take(own, table.cell)
        by_logit = chance * (pull - (chance * pull).sum(0))
        for part, table in zip(parts, self.tables, strict=True):
            size = table.target.shape[1]
            others = np.stack([np.bincount(table.cell, row, size) for row in by_logit])
            every = np.concatenate([-others.sum(0, keepdims=True), others])
            every = every if self.among is None else self.among.T @ every
            slopes.append((part + table.prior.gather(every)).ravel())
        return value, np.concatenate(slopes)
