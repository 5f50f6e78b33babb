"""evaluate_images(): features, distances and classifiers of synthetic images."""

import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nacre.errors import NacreError
from nacre.evaluate.images.arrays import Images, read_images
from nacre.evaluate.images.fid import BOOTSTRAPS
from nacre.evaluate.images.judge import CLASSIFIER_IMAGES, Judge
from nacre.evaluate.images.kid import SIZE, SUBSETS
from nacre.evaluate.scores.score import CONFIDENTIAL, Score, frame
from nacre.evaluate.tables.classifiers import PUBLISHED, available

STEPS = 1_000
MEANINGS = {
    "fid": f"Fréchet distance of LeNet features ({BOOTSTRAPS} bootstraps, ± their deviation).",
    "kid": f"Squared MMD of LeNet features, cubic kernel ({SUBSETS} subsets of {SIZE:,}).",
    "cnn-accuracy": "Accuracy on real test images of a CNN trained on the synthetic ones.",
    "accuracy": "Accuracy on real test images of classifiers trained on synthetic pixels.",
    "f1": "Their F1 score, averaged over the classes.",
}
_GOALS = {"fid": "lower", "kid": "lower"}


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ImageEvaluation:
    """Synthetic images compared with real ones. Confidential to the data holder.

    Attributes:
        results: every score.
        notes: what a reader has to know about how the numbers came about.
        seconds: how long it took.
    """

    results: tuple[Score, ...]
    notes: tuple[str, ...]
    seconds: float

    @property
    def scores(self) -> Any:
        """All scores as a tidy frame: pandas if it is installed, else Arrow."""
        return frame(self.results)

    def score(self, metric: str, table: str | None = None, part: str = "") -> Score | None:
        """One score, or None if it was not computed; of the first set if none is named."""
        for score in self.results:
            if (score.metric, score.part) == (metric, part) and table in (None, score.table):
                return score
        return None

    def summary(self) -> str:
        """The overall scores in a few lines."""
        lines = [CONFIDENTIAL, ""]
        for score in self.results:
            if not score.part:
                error = "" if score.error is None else f" ± {score.error:.2g}"
                real = "" if score.reference is None else f"  (real images {score.reference:.4g})"
                lines.append(f"  {score.table}  {score.metric} {score.value:.4g}{error}{real}")
        return "\n".join([*lines, "", *(f"  Note: {note}" for note in self.notes)])

    __str__ = summary

    def to_json(self) -> str:
        """Everything, as JSON."""
        content = {
            "nacre": 1,
            "confidential": CONFIDENTIAL,
            "meanings": MEANINGS,
            "scores": [score.to_dict() for score in self.results],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }
        return json.dumps(content, indent=1, ensure_ascii=False)


def evaluate_images(
    real: Any,
    synthetic: Any,
    *,
    test: Any = None,
    classifiers: Iterable[str] | str = (),
    steps: int = STEPS,
    seed: int = 0,
    jobs: int = 2,
) -> ImageEvaluation:
    """Compare synthetic images with real ones. The result is confidential to the data holder.

    Args:
        real: the private images that the synthetic ones were made from, with labels: a pair of
            uint8 [n, height, width] or [n, height, width, channels], and whole numbers from 0.
        synthetic: images of the same size, with labels or without; or a dictionary of several.
        test: real images with labels that were not used to make them, to test classifiers on and
            to say what real images score. Without them there is no accuracy and no reference.
        classifiers: names of classifiers of tables to try on the pixels, or "all" twelve; slow.
        steps: of training each network.
        seed: of everything that is random.
        jobs: processes to train classifiers in.
    """
    started = time.perf_counter()
    names = available(PUBLISHED if classifiers == "all" else tuple(classifiers))
    private = read_images(real, "The real images")
    if private.labels is None:
        raise NacreError("The real images need labels: LeNet's features are learnt from them.")
    given = synthetic if isinstance(synthetic, Mapping) else {"synthetic": synthetic}
    tables = {name: read_images(found, f"The images '{name}'") for name, found in given.items()}
    held = None if test is None else read_images(test, "The test images")
    every = {"real": private, **tables, **({} if held is None else {"test": held})}
    _check(every)
    judge = Judge(
        private,
        held,
        size=min(map(len, every.values())),
        classifiers=names,
        steps=steps,
        seed=seed,
        jobs=jobs,
    )
    reference = {(m, p): v for m, p, v, _ in judge.reference()}
    results = [
        Score(
            table=name,
            metric=metric,
            part=part,
            value=value,
            error=error,
            reference=reference.get((metric, part)),
            goal=_GOALS.get(metric, "higher"),
        )
        for name, images in tables.items()
        for metric, part, value, error in judge.scores(images)
    ]
    return ImageEvaluation(
        results=tuple(results),
        notes=tuple(_notes(tables, held, names)),
        seconds=round(time.perf_counter() - started, 2),
    )


def _check(sets: Mapping[str, Images]) -> None:
    shapes = {name: images.pixels.shape[1:] for name, images in sets.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name} {'×'.join(map(str, s))}" for name, s in shapes.items())
        raise NacreError(f"The images differ in size: {listed}. Bring them to one size first.")
    known = sets["real"].classes
    strange = [name for name, images in sets.items() if images.classes > known]
    if strange:
        raise NacreError(
            f"The real images have labels 0 to {known - 1}. There are others in: "
            f"{', '.join(strange)}."
        )


def _notes(
    tables: Mapping[str, Images], test: Images | None, classifiers: Sequence[str]
) -> Iterable[str]:
    yield "LeNet was trained on these real images: its distances compare with no other network's."
    if test is None:
        yield "No test images were given, so no classifier was tested."
    unlabelled = [name for name, images in tables.items() if images.labels is None]
    if unlabelled:
        yield f"Without labels, so no classifier was trained on them: {', '.join(unlabelled)}."
    if classifiers and max(map(len, tables.values())) > CLASSIFIER_IMAGES:
        yield f"The classifiers of pixels were trained on {CLASSIFIER_IMAGES:,} random images."
