"""What is said of models trained on the table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.scores.score import Score

# Of the area under the ROC curve, or of R², below the best model that was trained on real rows.
AVOID_AUC, CARE_AUC = 0.05, 0.02
# What the best model of real rows has to pass, or there is nothing that synthetic rows could keep.
CHANCE = {"auc": 0.55, "r2": 0.0}
GIVEN = 0.995  # a label that real rows tell so well is written in another column


class _Model(NamedTuple):
    """What a model reaches, trained on synthetic and on real rows."""

    name: str
    value: float
    reference: float


def model_findings(scores: Mapping[str, Sequence[Score]], label: str | None) -> Iterator[Finding]:
    """Whether models trained on the table do as well as those of real rows; scores by metric."""
    name = "auc" if "auc" in scores else "r2"
    title = "AUC" if name == "auc" else "R²"
    each = [
        _Model(str(score.part), score.value, score.reference)
        for score in scores.get(name, ())
        if score.part and score.reference is not None
    ]
    if not each:
        return
    here, there = max(each, key=lambda m: m.value), max(each, key=lambda m: m.reference)
    gap = there.reference - here.value
    if len(each) == 1:
        numbers = (
            f"{title} {here.value:.3f} for {here.name}, {there.reference:.3f} when trained on real "
            f"rows"
        )
    else:
        numbers = (
            f"the best of {len(each)} has {title} {here.value:.3f} ({here.name}); trained on real "
            f"rows the best has {there.reference:.3f} ({there.name})"
        )
    if there.reference <= CHANCE[name]:
        yield Finding(
            "note",
            "Models",
            f"{label} cannot be predicted from these columns, even with real rows, so models say "
            f"nothing of this table: {numbers}.",
        )
    elif gap > AVOID_AUC:
        yield Finding(
            "avoid", "Models", f"Do not train models of {label} on it: {numbers}.", 10 * gap
        )
    elif gap > CARE_AUC:
        yield Finding(
            "care",
            "Models",
            f"Models of {label} trained on it are somewhat worse: {numbers}.",
            10 * gap,
        )
    elif there.reference > GIVEN:
        yield Finding(
            "note",
            "Models",
            f"Some column gives {label} away, in real rows too, so models say little of what the "
            f"others keep: {numbers}. To hear of these, evaluate without that column.",
        )
    else:
        yield Finding(
            "good", "Models", f"Models of {label} trained on it are nearly as good: {numbers}."
        )
