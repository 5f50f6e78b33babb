"""What is read from the rows beside the noise: scales, shares, values, extremes."""

from __future__ import annotations

import math

import numpy as np

from nacre.audit.as_published.control import DELTA, EPSILON, Control, gaussian_noise
from nacre.audit.bounds import Scores

ROWS = 100

# -- scaling by the data's own minimum and maximum -----------------------------------------------

BOUNDS = (0.0, 1000.0)  # what a schema would have declared


def _amounts(present: bool) -> np.ndarray:
    """One row at 0, others at 1; the canary, if it is there, at 1,000."""
    amounts = np.append([0.0], np.ones(ROWS - 1))
    return np.append(amounts, BOUNDS[1]) if present else amounts


def _scaled(present: bool, runs: int, rng: np.random.Generator, *, by_data: bool) -> Scores:
    """The sum of amounts in [0, 1], which one row moves by at most 1, or so it seems."""
    amounts = _amounts(present)
    low, high = (amounts.min(), amounts.max()) if by_data else BOUNDS
    total = (np.clip(amounts, low, high) - low).sum() / (high - low)
    noisy = total + rng.normal(0, gaussian_noise(1.0), runs)
    return -noisy if by_data else noisy


SCALING = Control(
    name="scaling by the data's bounds",
    source="public code of PEARL, DP-MERF and many others",
    mistake="columns are scaled by their own minimum and maximum, so an outlier moves every row",
    mend="columns are clamped to declared bounds",
    published=lambda present, runs, rng: _scaled(present, runs, rng, by_data=True),
    corrected=lambda present, runs, rng: _scaled(present, runs, rng, by_data=False),
)

# -- label shares --------------------------------------------------------------------------------


def _label_shares(present: bool, runs: int, rng: np.random.Generator, *, noisy: bool) -> Scores:
    """How many rows have the rare label; a share of a public number of rows says the same."""
    count = np.full(runs, 20.0 + present)
    return count + rng.normal(0, gaussian_noise(1.0), runs) if noisy else count


LABEL_SHARES = Control(
    name="label shares from the rows",
    source="Tab-PE",
    mistake="shares of the labels are read from the rows and used as they are",
    mend="counts of labels are released with noise",
    published=lambda present, runs, rng: _label_shares(present, runs, rng, noisy=False),
    corrected=lambda present, runs, rng: _label_shares(present, runs, rng, noisy=True),
)

# -- lists of values -----------------------------------------------------------------------------


def _value_list(present: bool, runs: int, rng: np.random.Generator, *, threshold: float) -> Scores:
    """Whether the canary's own value, which no other row holds, is in the published list."""
    noise = rng.laplace(0, 1 / EPSILON, runs) if threshold else np.zeros(runs)
    # A value that no row holds is never listed.
    return np.where(present & (present + noise > threshold), 1.0, 0.0)


VALUE_LIST = Control(
    name="list of values from the rows",
    source="NeMo, and every tool that infers categories",
    mistake="the values of a column are listed as they occur",
    mend="a value is listed if its count and Laplace noise pass 1 + log(1/2δ)/ε",
    published=lambda present, runs, rng: _value_list(present, runs, rng, threshold=0.0),
    corrected=lambda present, runs, rng: _value_list(
        present, runs, rng, threshold=1 + math.log(1 / (2 * DELTA)) / EPSILON
    ),
)

# -- exact extremes ------------------------------------------------------------------------------

GRID = np.linspace(0.0, 1000.0, 11)


def _exact_maximum(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    return np.full(runs, _amounts(present).max())


def _chosen_maximum(present: bool, runs: int, rng: np.random.Generator) -> Scores:
    """A bound of a public grid that about all rows lie below, by the exponential mechanism.

    The score of a bound is minus the number of rows above it, less half a step of the grid each: a
    row moves it by at most one, all scores in the same direction, so Gumbel noise of 1/ε does.
    """
    above = (_amounts(present)[:, None] > GRID).sum(0)
    score = -above - 0.5 * np.arange(len(GRID))
    gumbel = rng.gumbel(0, 1 / EPSILON, (runs, len(GRID)))
    return GRID[(score + gumbel).argmax(axis=1)]


EXACT_EXTREMES = Control(
    name="exact minimum and maximum",
    source="metadata of common synthesizers",
    mistake="the largest amount is written into the model",
    mend="a bound is chosen from a public grid by the exponential mechanism",
    published=_exact_maximum,
    corrected=_chosen_maximum,
)
