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
from scipy.sparse import csr_array

from nacre.methods.mosaic.fit import block_bounds
from nacre.methods.mosaic.prior import Prior, factors

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
    every = posterior.coefficients(found)
    return [every[own].T for own in posterior.own]


def _contrasts(classes: int) -> Array:
    """(C, C - 1): times standard normals, as many standard normals less their mean."""
    directions = np.linalg.svd(np.eye(classes) - 1 / classes)[0]
    return np.asarray(directions[:, :-1])


class _Posterior:
    """Minus the log of the posterior density of standard normals z, and its slopes.

    Chances hang on differences of classes only, so all is said beside the first one.  The cells of
    all tables are one vector, and `rows` (n, cells) has a one where a row is in a cell.
    """

    def __init__(self, base: Array, tables: Sequence[Evidence], among: Array | None = None) -> None:
        n, every = len(base), len(tables)
        self.base = base[:, 1:] - base[:, :1]
        self.among = _contrasts(base.shape[1]) if among is None else among - among.mean(0)
        self.inner, self.outer = factors([table.prior for table in tables])
        self.size = self.among.shape[1] * self.inner.shape[1]
        self.target = np.concatenate([table.target.T for table in tables])
        self.weight = 1 / np.concatenate([(t.variance + t.sampling).T for t in tables])
        self.own = [slice(*each) for each in block_bounds([t.target.shape[1] for t in tables])]
        cells = np.empty((n, every), np.int32)
        for place, (table, own) in enumerate(zip(tables, self.own, strict=True)):
            cells[:, place] = table.cell + own.start
        starts = np.arange(0, cells.size + 1, every, dtype=np.int32)
        held = np.ones(cells.size), cells.ravel(), starts
        self.rows = csr_array(held, shape=(n, len(self.target)))
        self.cells, self.back = self.rows.T, (self.outer.T, self.inner.T)  # views
        self.mass = np.bincount(cells.ravel(), minlength=len(self.target)).astype(np.float64)

    def coefficients(self, flat: Array) -> Array:
        """Of all cells (cells, C), of the normals."""
        normals = flat.reshape(-1, self.among.shape[1]) @ self.among.T
        return np.asarray(self.outer @ (self.inner @ normals))

    def __call__(self, flat: Array) -> tuple[float, Array]:
        every = self.coefficients(flat)
        logits = self.base + self.rows @ (every[:, 1:] - every[:, :1])
        top = np.maximum(logits.max(1, keepdims=True), 0.0)
        chance = np.exp(logits - top)
        chance /= chance.sum(1, keepdims=True) + np.exp(-top)
        gap = self._by_class(self.cells @ chance, self.mass) - self.target
        weighted = self.weight * gap
        value = 0.5 * float(flat @ flat) + 0.5 * float(np.vdot(weighted, gap))
        pull = self.rows @ (weighted[:, 1:] - weighted[:, :1])
        by_logit = chance * (pull - (chance * pull).sum(1, keepdims=True))
        slopes = self._by_class(self.cells @ by_logit, 0.0) @ self.among
        outer, inner = self.back
        return value, flat + (inner @ (outer @ slopes)).ravel()

    @staticmethod
    def _by_class(others: Array, total: Array | float) -> Array:
        """(cells, C) of those of all classes but the first, and what they add up to."""
        return np.concatenate([(total - others.sum(1))[:, None], others], axis=1)
