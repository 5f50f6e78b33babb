"""One result: a method fitted to all training images, and what is learnt from its samples."""

import functools
import time
import warnings
from typing import Any

from bench.images.runs import VARIANTS
from bench.tables.runs import REAL, Run
from nacre.datasets.images import ImageSplit, load_images
from nacre.evaluate.images.comparison import Effort, ImageComparison, RealImages
from nacre.evaluate.images.metrics import METRICS
from nacre.evaluate.images.reading import read_images
from nacre.evaluate.tables.classifiers import PUBLISHED, available
from nacre.fit import fit
from nacre.methods.settings import as_data
from nacre.rows import Images

DRAWN = 60_000
"""Synthetic images, as in the papers."""
EFFORT = Effort(classifiers=available(PUBLISHED))


def measure(run: Run, jobs: int = 1) -> dict[str, Any]:
    """Fit, draw 60,000 images, learn from them, and score on the real test images.

    Real images take the place of synthetic ones in a run of `REAL`.
    """
    split = load_images(run.dataset)
    found: dict[str, Any] = {"dataset": run.dataset, "variant": run.variant, "seed": run.seed}
    real = real_side(run.dataset, run.seed)
    images, seconds = real.train, (0.0, 0.0)
    if run.variant != REAL:
        method = VARIANTS[run.variant].make(run.settings)
        found |= {"guarantee": run.guarantee, "changed": dict(run.settings)}
        found["settings"] = as_data(method)
        images, seconds = synthesize(method, run, split)
    found["images"] = {
        "fitted": len(real.train),
        "learnt from": len(images),
        "scored": len(real.base),
    }
    found["fit_seconds"], found["sample_seconds"] = seconds
    start = time.process_time()
    found |= score(run, ImageComparison(name=run.variant, real=real, synthetic=images, jobs=jobs))
    found["score_seconds"] = round(time.process_time() - start, 1)
    return found


@functools.lru_cache(maxsize=2)
def real_side(dataset: str, seed: int) -> RealImages:
    """The real images, and with them the LeNet that is trained once for all methods."""
    split = load_images(dataset)
    train, test = (
        read_images(part, split.schema, "The real images").images
        for part in (split.train, split.test)
    )
    classes = len(split.schema.classes or ())
    return RealImages(train=train, test=test, classes=classes, effort=EFFORT, seed=seed)


def synthesize(method: Any, run: Run, split: ImageSplit) -> tuple[Images, tuple[float, float]]:
    """Synthetic images, and the CPU seconds of the fit and of drawing them."""
    start = time.process_time()
    model = fit(
        split.train,
        split.schema,
        method=method,
        epsilon=run.epsilon,
        delta=run.delta,
        adjacency=run.adjacency,
        seed=run.seed,
    )
    fitted = time.process_time()
    drawn = model.sample(DRAWN, seed=run.seed)
    seconds = round(fitted - start, 1), round(time.process_time() - fitted, 1)
    return read_images(drawn, split.schema, "The synthetic images").images, seconds


def score(run: Run, comparison: ImageComparison) -> dict[str, Any]:
    """The run's metrics: of the whole set, their errors, and by classifier where there are some."""
    statistics: dict[str, float] = {}
    errors: dict[str, float] = {}
    scores: dict[str, dict[str, float]] = {}
    for name in run.metrics:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classifiers that did not converge
            values = list(METRICS[name].compute(comparison))
        for value in values:
            if str(value.part):
                scores.setdefault(str(value.part), {})[name] = round(float(value.value), 5)
                continue
            statistics[name] = round(float(value.value), 5)
            if value.error is not None:
                errors[name] = round(float(value.error), 5)
    return {"statistics": statistics, "errors": errors, "scores": scores}
