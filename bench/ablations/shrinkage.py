"""What shrinking noisy class means could give on a table of Cervical's size, by simulation.

602 rows, 43 of them positive, 30 yes-or-no columns, three of which go with the label: no method can
know more of columns by class than the sum that is simulated here, all counts by class at (1, 1e-5),
replace-one.  Naive Bayes by these means, shrunk in several ways, judges fresh rows.
"""

import numpy as np
from numpy.typing import NDArray

from bench.ablations.study import Numbers, Study

ROWS, POSITIVE, COLUMNS, FRESH, TRIALS = 602, 43, 30, 20_000, 30
MULTIPLIER = 3.730632  # noise over sensitivity at (1, 1e-5)
LIFTS = (0.75, 0.45, 0.35)  # of the shares of the three columns among positive rows
EDGE = 0.01  # no share is taken to be nearer to 0 or 1
CASES = ("as they are", "by one factor", "by each square", "by one deviation", "the law is known")

Floats = NDArray[np.float64]


def shrunk(case: str, gap: Floats, noise: float) -> Floats:
    """The differences between the classes' shares (COLUMNS,), shrunk."""
    if case == "by one factor":
        signal = max(float(np.mean(gap**2)) - noise**2, 0.0)
        return gap * signal / (signal + noise**2)
    if case == "by each square":
        return gap * np.maximum(1 - noise**2 / np.maximum(gap**2, 1e-12), 0.0)
    if case == "by one deviation":
        return np.sign(gap) * np.maximum(np.abs(gap) - noise, 0.0)
    return gap


def trial(case: str, rng: np.random.Generator) -> tuple[float, float]:
    """AUC, and the ROC of hard labels, of naive Bayes on fresh rows."""
    from sklearn.metrics import roc_auc_score

    law = np.tile(rng.uniform(0.03, 0.4, COLUMNS), (2, 1))
    law[1, : len(LIFTS)] = np.clip(law[1, : len(LIFTS)] / 2 + LIFTS, EDGE, 1 - EDGE)
    rows = np.array([ROWS - POSITIVE, POSITIVE])
    counts = rng.binomial(rows[:, None], law)
    # A row has one value of each column; replaced, it changes two cells of each.  Both values are
    # asked about, which halves the variance of a share.
    noise = MULTIPLIER * np.sqrt(2 * COLUMNS) / np.sqrt(2)
    noisy = counts + rng.normal(0, noise, counts.shape)
    gap = noisy[1] / rows[1] - noisy[0] / rows[0]
    deviation = noise * float(np.sqrt(np.sum(1.0 / rows**2)))
    moved = shrunk(case, gap, deviation)
    every = noisy.sum(0) / ROWS
    shares = np.stack([every - moved * POSITIVE / ROWS, every + moved * (1 - POSITIVE / ROWS)])
    shares = np.clip(law if case == "the law is known" else shares, EDGE, 1 - EDGE)
    truth = rng.random(FRESH) < POSITIVE / ROWS
    fresh = rng.random((FRESH, COLUMNS)) < law[truth.astype(int)]
    yes, no = np.log(shares[1] / shares[0]), np.log((1 - shares[1]) / (1 - shares[0]))
    score = fresh @ (yes - no) + no.sum() + np.log(rows[1] / rows[0])
    return float(roc_auc_score(truth, score)), float(roc_auc_score(truth, score > 0))


def measure(case: str, seed: int) -> Numbers:
    """Means over the trials; the same tables for every case."""
    rng = np.random.default_rng(seed)
    found = np.array([trial(case, rng) for _ in range(TRIALS)])
    return {"AUC": float(found[:, 0].mean()), "ROC of hard labels": float(found[:, 1].mean())}


STUDY = Study(
    title="Class means of few rows: shrinking what noise drowns",
    remark=f"{ROWS} rows, {POSITIVE} of them positive, {COLUMNS} yes-or-no columns, three of which "
    "go with the label; counts by class at (1, 1e-5), replace-one; naive Bayes on fresh rows, "
    f"{TRIALS} tables a seed.",
    cases=CASES,
    measure=measure,
)
