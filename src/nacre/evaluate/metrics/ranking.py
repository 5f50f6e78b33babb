"""Whether the synthetic table ranks models as the real one does (Jordon et al., 2019)."""

import itertools
from collections.abc import Iterator

from nacre.evaluate.metrics import auc, r2
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison


def agreement(real: list[float], synthetic: list[float]) -> float:
    """The share of pairs of models that both orders agree on; ties agree only with ties.

    Examples:
        >>> agreement([0.9, 0.8, 0.7], [0.6, 0.7, 0.5])
        0.6666666666666666
    """
    pairs = list(itertools.combinations(range(len(real)), 2))

    def sign(a: float, b: float) -> int:
        return (a > b) - (a < b)

    agree = [sign(real[i], real[j]) == sign(synthetic[i], synthetic[j]) for i, j in pairs]
    return sum(agree) / len(pairs)


def compute(comparison: TableComparison) -> Iterator[Value]:
    """Over the models' AUC (or R²), trained on the synthetic and on the real table."""
    if comparison.real_trained is None:
        return
    measure = auc.compute if comparison.classes is not None else r2.compute
    real = {v.part: v.value for v in measure(comparison.real_trained) if v.part}
    synthetic = {v.part: v.value for v in measure(comparison) if v.part}
    both = [name for name in real if name in synthetic]
    if len(both) > 1:
        yield Value("", agreement([real[n] for n in both], [synthetic[n] for n in both]))


METRIC = Metric(
    name="ranking",
    title="Ranking of models",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of pairs of models that the synthetic table puts in the same order as the "
    "real one does: can it be used to choose a model?",
    compute=compute,
    needs=frozenset({"label"}),
)
