"""A label model learned from released counts alone: post-processing, so it costs no budget.

log P(c | x) = base_c(x) + sum_k u_k[c, cell of x_k] + sum_jk v_jk[c, bins of x_j and x_k], up to a
constant: the smallest tilt of the mixture's own posterior whose class-wise counts over sampled
rows meet the noisy ones, with a ridge that knows the noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from nacre.methods.mosaic.spectrum import Waves

Array = NDArray[np.float64]

SURE = 2.0  # deviations of a sum of squares that noise alone may add
LARGEST = 3.0  # prior deviation of a coefficient


@dataclasses.dataclass(frozen=True)
class Evidence:
    """One table of counts: each sampled row's cell in it, the counts to meet, and the ridge.

    With `waves` over the cells the ridge is that of coefficients in waves: see `in_waves`.
    """

    cell: NDArray[np.int64]
    target: Array
    ridge: Array
    variance: Array
    information: Array
    waves: Waves | None = None

    def surprise(self, chances: Array) -> float:
        """How far the rows' class chances (n, C) are from the counts, in noise deviations."""
        size = self.target.shape[1]
        found = np.stack([np.bincount(self.cell, column, size) for column in chances.T])
        return float(((found - self.target) ** 2 / self.variance).mean())


def evidence(
    cell: NDArray[np.int64],
    noisy: Array,
    variance: NDArray[np.floating] | float,
    shares: Array,
    deviation: float,
) -> Evidence:
    """Class-wise counts (C, cells), scaled to as many rows as were sampled, as evidence.

    A cell's mass is the sampled one, not the noisy one, so that an error in x is not blamed on
    the label: the class rates, shrunk to the class `shares` by three noise deviations' worth of
    rows, are applied to the difference.  A coefficient has prior `deviation`; on m rows of class
    rate p its information is m p (1 - p), and noise of variance s lets the Bayes ridge grow to
    (1 + s / information) / deviation^2.
    """
    classes, size = noisy.shape
    mass = np.bincount(cell, minlength=size).astype(np.float64)
    prior = 3 * np.sqrt(classes * variance) * np.ones(size)
    rate = np.maximum(noisy, 0.0) + shares[:, None] * prior
    rate /= rate.sum(0)
    target = noisy + rate * (mass - noisy.sum(0))
    spread = variance * ((1 - rate) ** 2 + (classes - 1) * rate**2)
    information = np.maximum(mass, 5.0) * np.maximum(rate * (1 - rate), 0.02)
    return Evidence(cell, target, (1 + spread / information) / deviation**2, spread, information)


def in_waves(
    table: Evidence, chances: Array, classes: Waves, cells: Waves, least: float
) -> Evidence:
    """The table with a ridge for coefficients in waves over its classes and over its cells.

    Coefficients of one class wave and one octave of cell waves have the deviation that the gaps
    between the counts and rows of these chances (n, C) show beyond what noise explains, as in
    `gap_deviation`, `least` at least: a number follows a column in slow waves, hardly in fast ones.
    """
    size = table.target.shape[1]
    found = np.stack([np.bincount(table.cell, column, size) for column in chances.T])

    def squared(values: Array) -> Array:
        return np.asarray((classes.basis**2).T @ values @ cells.basis**2)

    gaps = classes.basis.T @ (found - table.target) @ cells.basis
    spread, information = squared(table.variance), squared(table.information)
    octave = np.eye(int(cells.group.max()) + 1)[cells.group]
    left = (gaps**2 - spread) @ octave
    sure = left > SURE * np.sqrt(2 * spread**2 @ octave)
    shown = np.sqrt(np.maximum(left, 0.0) / np.maximum(information**2 @ octave, 1e-9))
    most = LARGEST * np.sqrt(gaps.size)  # a wave of coefficients of this size everywhere
    deviation = np.clip(np.where(sure, shown, 0.0), least, most) @ octave.T
    ridge = (1 + spread / information) / deviation**2
    return dataclasses.replace(table, ridge=ridge, waves=cells)


def gap_deviation(table: Evidence, chances: Array) -> float:
    """How large a table's coefficients are, from how far it is from rows of these chances (n, C).

    A coefficient u moves its cell's count by about u times the information m p (1 - p).  So the
    squares of the gaps, less those that noise makes expect, tell the deviation of the u; zero if
    noise explains the gaps.
    """
    size = table.target.shape[1]
    found = np.stack([np.bincount(table.cell, column, size) for column in chances.T])
    mass = np.maximum(found.sum(0), 1e-9)
    information = found * (1 - found / mass)
    left = float(((found - table.target) ** 2 - table.variance).sum())
    noise = float(np.sqrt(2 * (table.variance**2).sum()))
    if left < SURE * noise:
        return 0.0
    return min(float(np.sqrt(left / max((information**2).sum(), 1e-9))), LARGEST)


def teach(
    base: Array, tables: Sequence[Evidence], *, waves: Waves | None = None, iterations: int = 60
) -> list[Array]:
    """The coefficients (C, cells) of each table; `base` (n, C) holds log chances to start from.

    With `waves` over the classes, what is looked for are coefficients of waves over these and over
    each table's cells.
    """
    classes = base.shape[1]
    sizes = [table.target.shape[1] for table in tables]
    ends = np.cumsum(sizes)
    spans = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    target = np.concatenate([table.target for table in tables], axis=1)
    ridge = np.concatenate([table.ridge for table in tables], axis=1)
    mass = np.concatenate(
        [np.bincount(table.cell, minlength=size) for table, size in zip(tables, sizes, strict=True)]
    )

    def turned(flat: Array, *, back: bool) -> Array:
        """Coefficients of waves as those of classes and cells, or slopes the way back."""
        if waves is None:
            return flat
        found = (waves.basis.T if back else waves.basis) @ flat
        for table, span in zip(tables, spans, strict=True):
            if table.waves is not None:
                found[:, span] @= table.waves.basis if back else table.waves.basis.T
        return found

    def objective(flat: Array) -> tuple[float, Array]:
        theta = turned(flat.reshape(classes, -1), back=False)
        # Chances hang on differences of classes only: the first one's coefficients are put aside.
        beside, logits = theta[1:] - theta[0], base.T.copy()
        for table, span in zip(tables, spans, strict=True):
            for row, own in zip(logits[1:], beside[:, span], strict=True):
                row += np.take(own, table.cell)
        top = logits.max(0)
        chance = np.exp(logits - top)
        total = chance.sum(0)
        chance /= total
        gradient = np.empty_like(theta)
        for table, span, size in zip(tables, spans, sizes, strict=True):
            for c in range(1, classes):
                gradient[c, span] = np.bincount(table.cell, chance[c], size)
        gradient[0] = mass - gradient[1:].sum(0)  # chances add up to one
        value = (np.log(total) + top).sum() + (theta[0] * mass).sum() - (theta * target).sum()
        value += 0.5 * (ridge.ravel() * flat**2).sum()
        return float(value), turned(gradient - target, back=True).ravel() + ridge.ravel() * flat

    start = np.zeros(classes * int(ends[-1]))
    options = {"maxiter": iterations}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    learned = turned(found.reshape(classes, -1), back=False)
    return [learned[:, span] for span in spans]
