"""PEARL's two-sample test (its Section 4, Figure 2 and Appendix C): what re-weighting can do.

P = N(0, I) and Q = N((1, 0, ..., 0), I) in d dimensions, 1,000 rows of each, 20 frequencies, 100
trials.  "Unoptimized" frequencies are zero in the first dimension, the one that differs, but for
one of them; "normal" ones are random in all; "optimized" is that one frequency of the unoptimized
alone.  The paper does not say by which test it rejects: here by Hotelling's, as Chwialkowski et al.
(2015) do with such features, at level 0.05.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from bench.ablations.study import Numbers, Study

DIMENSIONS = (1, 2, 4, 6, 8, 10, 15, 20)
FREQUENCIES, ROWS, TRIALS, LEVEL = 20, 1000, 100, 0.05
SETS = ("unoptimized", "normal", "optimized")


def frequencies(which: str, dimension: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """One of the three sets, a row each."""
    found = rng.normal(size=(FREQUENCIES, dimension))
    if which == "normal":
        return found
    found[1:, 0] = 0.0
    if which == "optimized":
        return found[:1]
    # A frequency that is zero everywhere (in one dimension) tells nothing, and has no variance.
    return found[(found != 0).any(axis=1)]


def rejects(x: NDArray[np.float64], y: NDArray[np.float64], t: NDArray[np.float64]) -> bool:
    """Whether the characteristic functions at `t` differ: n z' S^-1 z beyond its chi-squared."""
    first, second = x @ t.T, y @ t.T
    difference = np.concatenate(
        [np.cos(first) - np.cos(second), np.sin(first) - np.sin(second)], axis=1
    )
    mean, covariance = difference.mean(0), np.atleast_2d(np.cov(difference, rowvar=False))
    statistic = len(x) * mean @ np.linalg.solve(covariance, mean)
    return bool(statistic > chi2.ppf(1 - LEVEL, len(mean)))


def power(
    which: str, dimension: int, shift: float, rng: np.random.Generator, trials: int = TRIALS
) -> float:
    """How often the two samples are told apart."""
    moved = np.zeros(dimension)
    moved[0] = shift
    return float(
        np.mean(
            [
                rejects(
                    rng.normal(size=(ROWS, dimension)),
                    rng.normal(size=(ROWS, dimension)) + moved,
                    frequencies(which, dimension, rng),
                )
                for _ in range(trials)
            ]
        )
    )


def measure(case: str, seed: int) -> Numbers:
    """Rejection rates of a set of frequencies by dimension."""
    which, shift = (case.removesuffix(NULL), 0.0) if case.endswith(NULL) else (case, 1.0)
    rng = np.random.default_rng([seed, SETS.index(which), int(shift)])
    return {f"d = {d}": power(which, d, shift, rng) for d in DIMENSIONS}


NULL = ", no difference"
STUDY = Study(
    title="PEARL's two-sample test: rejection rates by dimension",
    remark="Normal distributions whose means differ by 1 in one of d dimensions, 1,000 rows of "
    f"each, 20 frequencies, 100 trials a seed; with no difference a test rejects in {LEVEL:.0%}.",
    cases=(*SETS, *(which + NULL for which in SETS)),
    measure=measure,
)
