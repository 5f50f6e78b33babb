"""What the scores of images mean in words, worst first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nacre.evaluate.findings.finding import ORDER, Finding, Level
from nacre.evaluate.scores.score import Score

CARE_ACCURACY, AVOID_ACCURACY = 0.03, 0.15  # below real images'
CARE_SPREAD, AVOID_SPREAD = 0.8, 0.5  # of real images'
ATTACK = 0.03  # an AUC so far above its baseline, and four errors, is an alarm


def find(
    table: str, results: Sequence[Score], guarantee: Mapping[str, Any] | None
) -> tuple[Finding, ...]:
    """All that is to be said about one set of images."""
    scores = {s.metric: s for s in results if s.table == table and not s.part}
    found = [*_private(guarantee), *_useful(scores), *_likely(scores), *_various(scores)]
    found += [*_alike(scores), *_attacked(scores)]
    return tuple(sorted(found, key=lambda f: (ORDER[f.level], -f.weight)))


def _private(guarantee: Mapping[str, Any] | None) -> Iterator[Finding]:
    if guarantee is not None and guarantee["epsilon"] is None:
        yield Finding("avoid", "Privacy", "These images are NOT PRIVATE: no noise was added.", 1.0)


def _useful(scores: Mapping[str, Score]) -> Iterator[Finding]:
    best = scores.get("residual-accuracy") or scores.get("cnn-accuracy")
    if best is None:
        return
    text = f"A network trained on these images is right on {best.value:.1%} of real test images"
    if best.reference is None:
        yield Finding("note", "Training", f"{text}.")
        return
    gap = best.reference - best.value
    level: Level = "avoid" if gap > AVOID_ACCURACY else "care" if gap > CARE_ACCURACY else "good"
    yield Finding(
        level, "Training", f"{text}; trained on as many real ones, {best.reference:.1%}.", gap
    )


def _likely(scores: Mapping[str, Score]) -> Iterator[Finding]:
    found = scores.get("precision")
    if found is None or not found.reference:
        return
    share = found.value / found.reference
    if share >= CARE_SPREAD:
        return
    text = (
        f"{found.value:.1%} of the synthetic images lie among real ones (of real images, "
        f"{found.reference:.0%}): the others would be told from real ones at a glance."
    )
    yield Finding("avoid" if share < AVOID_SPREAD else "care", "Likeness", text, 1 - share)


def _various(scores: Mapping[str, Score]) -> Iterator[Finding]:
    found, likely = scores.get("recall"), scores.get("precision")
    if found is None or not found.reference:
        return
    share = found.value / found.reference
    level: Level = "avoid" if share < AVOID_SPREAD else "care" if share < CARE_SPREAD else "good"
    text = (
        f"{found.value:.0%} of the real images lie among synthetic ones (of real images, "
        f"{found.reference:.0%})"
    )
    if level == "avoid" and likely is not None and likely.value > found.value:
        text += ": the synthetic images are too much alike, each near the middle of its class"
    yield Finding(level, "Variety", f"{text}.", 1 - share)


def _alike(scores: Mapping[str, Score]) -> Iterator[Finding]:
    found = scores.get("fid")
    if found is not None:
        beside = "" if found.reference is None else f"; as many real ones, {found.reference:.3g}"
        text = f"Their FID on LeNet’s features is {found.value:.3g} (0 is perfect{beside})."
        yield Finding("note", "Likeness", text)


def _attacked(scores: Mapping[str, Score]) -> Iterator[Finding]:
    found = scores.get("membership")
    if found is None or found.reference is None:
        return
    excess = found.value - found.reference
    text = (
        f"An attacker who holds these images tells private images from test images with AUC "
        f"{found.value:.3f}; one who holds other test images, {found.reference:.3f}"
    )
    alarm = excess > max(ATTACK, 4 * (found.error or 0))
    after = ": the images tell who was in the data" if alarm else ". That it fails proves nothing"
    yield Finding("avoid" if alarm else "note", "Attack", f"{text}{after}.", excess)
