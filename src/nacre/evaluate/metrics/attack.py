"""How well scores tell members from strangers, and the epsilon that such an attack implies."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares of the candidates that an attacker may name as members: the surest ones first."""


@dataclasses.dataclass(frozen=True, eq=False)
class Attack:
    """What one attack says of rows that were, and rows that were not, in the training table.

    Attributes:
        name: of the attack.
        members: scores of training rows; higher means "was in it".
        strangers: scores of held-out rows.
    """

    name: str
    members: np.ndarray
    strangers: np.ndarray

    def area(self) -> tuple[float, float]:
        """The area under the ROC curve and its standard error (DeLong et al., 1988).

        The chance that a member scores above a stranger, ties counting half.
        """
        m, n = len(self.members), len(self.strangers)
        ranks = stats.rankdata(np.concatenate([self.members, self.strangers]))
        # For each row, the share of the other kind that it beats.
        above = (ranks[:m] - stats.rankdata(self.members)) / n
        below = 1 - (ranks[m:] - stats.rankdata(self.strangers)) / m
        error = np.sqrt(above.var(ddof=1) / m + below.var(ddof=1) / n)
        return float(above.mean()), float(error)

    def found_at(self, false_rate: float) -> tuple[float, float]:
        """The share of members found when `false_rate` of strangers are accused, and its error.

        Between two thresholds, as where many scores are equal, the attacker tosses a coin.
        """
        thresholds = np.unique(np.concatenate([self.members, self.strangers]))[::-1]
        rates = [
            np.concatenate([[0.0], 1 - np.searchsorted(np.sort(s), thresholds, "left") / len(s)])
            for s in (self.strangers, self.members)
        ]
        found = float(np.interp(false_rate, *_highest(*rates)))
        return found, float(np.sqrt(found * (1 - found) / len(self.members)))


def _highest(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of steps straight upwards only the top, so that interpolation starts from there."""
    last = np.append(np.diff(x) > 0, True)
    return x[last], y[last]


def epsilon_shown(attacks: Sequence[Attack], *, confidence: float = CONFIDENCE) -> float:
    """A lower bound on epsilon: had each candidate been in the table by the toss of a fair coin.

    Then, of an epsilon-DP table, any guess that names a row as a member is right with probability
    at most e^ε/(1 + e^ε), and the number of right guesses is below a binomial one (Steinke, Nasr
    and Jagielski, 2023). So if k of r guesses are right, ε ≥ log(p/(1 - p)) with p the lower end of
    Clopper and Pearson's interval. Half of the candidates choose the attack and how many rows it
    names; the other half are guessed at. It is about these rows on average, not the worst row, and
    leaves delta out, which is far below one over the number of guesses.

    Returns:
        0 if the attack shows nothing.
    """
    best: tuple[float, Attack | None, float] = (0.0, None, 0.0)
    for attack in attacks:
        members, strangers = attack.members[::2], attack.strangers[::2]
        ordered = np.sort(np.concatenate([members, strangers]))[::-1]
        for share in _SHARES:
            threshold = float(ordered[max(math.ceil(share * len(ordered)) - 1, 0)])
            shown = _bound(members, strangers, threshold, confidence)
            if shown > best[0]:
                best = shown, attack, threshold
    _, chosen, threshold = best
    if chosen is None:
        return 0.0
    return _bound(chosen.members[1::2], chosen.strangers[1::2], threshold, confidence)


def _bound(
    members: np.ndarray, strangers: np.ndarray, threshold: float, confidence: float
) -> float:
    """What naming every row at or above the threshold shows; as many members as strangers."""
    size = min(len(members), len(strangers))
    right = int((members[:size] >= threshold).sum())
    wrong = int((strangers[:size] >= threshold).sum())
    if right <= wrong:
        return 0.0
    low = float(stats.beta.ppf(1 - confidence, right, wrong + 1))
    return max(float(np.log(low / (1 - low))), 0.0)
