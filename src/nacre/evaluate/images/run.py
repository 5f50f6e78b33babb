"""evaluate_images(): read the sets, compute the metrics, say what they mean."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.guarantees import by_table, describe
from nacre.evaluate.images.comparison import Effort, ImageComparison, RealImages
from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.images.findings import find
from nacre.evaluate.images.metric import ImageMetric
from nacre.evaluate.images.metrics import METRICS, choose
from nacre.evaluate.images.reading import by_name, read_images, read_synthetic
from nacre.evaluate.notes import silence
from nacre.evaluate.scores.metric import scores_of
from nacre.evaluate.scores.part import Part
from nacre.evaluate.scores.score import Score
from nacre.evaluate.spending import spending
from nacre.evaluate.tables.classifiers import PUBLISHED, available
from nacre.rows import Images
from nacre.schema import ImageSchema

SMALLEST = 4  # pixels that LeNet can halve twice
SHOWN = 10  # images of each class on the page
Progress = Callable[[str, float | None], None]
LENET = "LeNet was trained on these private images: its distances compare with no other network's."
NO_TEST = (
    "No test images were given, so no classifier was tested, nothing says what real images score, "
    "and the synthetic images were compared with the private ones themselves."
)


def evaluate_images(
    real: Any,
    synthetic: Any,
    schema: ImageSchema,
    *,
    test: Any = None,
    metrics: str | list[str] | tuple[str, ...] = "quick",
    guarantee: Any = None,
    classifiers: Iterable[str] | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    seed: int = 0,
    jobs: int = 2,
    effort: Effort | None = None,
    on_progress: Progress | None = None,
) -> ImageEvaluation:
    """Compare synthetic images with real ones. The result is confidential to the data holder.

    Args:
        real: the private images that the synthetic ones were made from, with labels: arrays, or
            the path of a file or folder, as for `fit`.
        synthetic: images of the same size, with labels or without; or a dictionary of several.
        schema: what is public about them.
        test: real images with labels that were not used to make the synthetic ones: to compare
            them with, to test classifiers on, and to say what real images score.
        metrics: "quick", "all" (with a stronger network, five runs of the papers' CNN and the
            twelve classifiers: hours for 60,000 images), or names of metrics.
        guarantee: as for tables.
        classifiers: names of classifiers of pixels to try instead of the twelve.
        ledger: a `Ledger` or its address, to show what the data set has spent; only read.
        dataset: the data set's name in the ledger.
        seed: of everything that is random.
        jobs: processes to train classifiers of pixels in.
        effort: how much is computed; by default as much as in the papers.
        on_progress: called with a stage's name and the part done (None if unknown).
    """
    started = time.perf_counter()
    chosen = choose(metrics)
    classes = _classes(schema)
    effort = effort or Effort(runs=5 if metrics == "all" else 1)
    models = available(PUBLISHED if classifiers is None else tuple(classifiers))
    effort = dataclasses.replace(effort, classifiers=models)
    given = by_name(synthetic)
    guarantees = describe(by_table(guarantee, list(given)), schema)
    spent = spending(ledger, dataset)
    report = on_progress or (lambda stage, done: None)
    report("reading", None)
    private = read_images(real, schema, "The real images")
    held = None if test is None else read_images(test, schema, "The test images")
    sets = {name: read_synthetic(d, schema, f"The images '{name}'") for name, d in given.items()}
    side = RealImages(
        train=private.images,
        test=None if held is None else held.images,
        classes=classes,
        effort=effort,
        seed=seed,
    )
    comparisons = [
        ImageComparison(name=name, real=side, synthetic=found.images, jobs=jobs)
        for name, found in sets.items()
    ]
    usable = [m for m in chosen if held is not None or "test" not in m.needs]
    results = list(_measure(usable, comparisons, report))
    read = (private, *(() if held is None else (held,)), *sets.values())
    return ImageEvaluation(
        schema=schema,
        metrics=tuple(usable),
        results=tuple(results),
        findings={name: find(name, results, guarantees.get(name)) for name in sets},
        notes=(
            *(note for each in read for note in each.notes),
            LENET,
            *([] if held else [NO_TEST]),
            *_few(sets, effort),
        ),
        guarantees=guarantees,
        shown={
            "real": _first(private.images, classes),
            **{name: _first(found.images, classes) for name, found in sets.items()},
        },
        counts={
            "real": len(private.images),
            "test": 0 if held is None else len(held.images),
            **{name: len(found.images) for name, found in sets.items()},
        },
        spent=spent,
        silent=silence(
            m
            for m in METRICS.values()
            if m not in chosen and (held is not None or "test" not in m.needs)
        ),
        seconds=round(time.perf_counter() - started, 2),
    )


def _classes(schema: ImageSchema) -> int:
    """How many classes the images have, if they can be compared at all."""
    if schema.classes is None:
        raise NacreError(
            "The schema has no classes. An evaluation of images needs labels, as the features that "
            "it compares are learnt from them: give the schema with its classes."
        )
    if min(schema.height, schema.width) < SMALLEST:
        raise NacreError(f"LeNet's features need images of {SMALLEST} x {SMALLEST} pixels or more.")
    return len(schema.classes)


def _measure(
    metrics: Sequence[ImageMetric], comparisons: Sequence[ImageComparison], report: Progress
) -> Iterator[Score]:
    """Every metric of every set, each beside its reference."""
    references: dict[tuple[str, int], Mapping[Part, float]] = {}
    steps = [(metric, comparison) for metric in metrics for comparison in comparisons]
    for step, (metric, comparison) in enumerate(steps):
        report("evaluating", step / len(steps))
        if "labels" in metric.needs and comparison.synthetic.labels is None:
            continue
        values = list(metric.compute(comparison))
        key = metric.name, len(comparison.synthetic)
        if key not in references and comparison.real.test is not None:
            references[key] = {v.part: v.value for v in metric.reference(comparison)}
        yield from scores_of(metric, comparison.name, values, references.get(key, {}))
    report("evaluating", 1.0)


def _few(sets: Mapping[str, Any], effort: Effort) -> Iterator[str]:
    few = min(len(found.images) for found in sets.values())
    if few < effort.synthetic:
        yield (
            f"FID is larger for fewer images. Papers draw {effort.synthetic:,}; here there are "
            f"{few:,}."
        )


def _first(images: Images, classes: int) -> Images:
    """The first few of each class; of images without labels, as many in all."""
    if images.labels is None:
        return images[: SHOWN * min(classes, SHOWN)]
    places = [np.flatnonzero(images.labels == code)[:SHOWN] for code in range(classes)]
    return images[np.concatenate(places)]
