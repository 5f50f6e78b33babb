"""What sets of images are judged by: features learnt from the real ones, and classifiers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from nacre.evaluate.images.arrays import Images
from nacre.evaluate.images.fid import bootstrapped_fid
from nacre.evaluate.images.kid import subset_kid
from nacre.evaluate.tables.classifiers import predict_all
from nacre.evaluate.tables.extras import require
from nacre.evaluate.tables.randomness import generator

CLASSIFIER_IMAGES = 5_000

Found = tuple[str, str, float, float | None]
"""Metric, part, value and standard error."""


class Judge:
    """What all sets are judged by: the features are learnt once, from the real images."""

    def __init__(
        self,
        real: Images,
        test: Images | None,
        *,
        size: int,
        classifiers: Sequence[str],
        steps: int,
        seed: int,
        jobs: int,
    ):
        self.real, self.test, self.size, self.classifiers = real, test, size, classifiers
        self.steps, self.seed, self.jobs = steps, seed, jobs
        self._features = _learn_features(real, steps, seed)
        self._of_real = self._features(real.sample(size, generator(seed, "real images")))

    def reference(self) -> list[Found]:
        """Test images in the place of synthetic ones, and classifiers trained on real ones."""
        if self.test is None:
            return []
        return [*self._distances(self.test), *self._accuracies(self.real)]

    def scores(self, images: Images) -> list[Found]:
        """All scores of one set."""
        return [*self._distances(images), *self._accuracies(images)]

    def _distances(self, images: Images) -> Iterable[Found]:
        rng = generator(self.seed, "distances")
        # As many of every set: with fewer images FID is larger.
        found = self._features(images.sample(self.size, rng))
        yield ("fid", "", *bootstrapped_fid(self._of_real, found, rng))
        yield ("kid", "", *subset_kid(self._of_real, found, rng))

    def _accuracies(self, images: Images) -> Iterable[Found]:
        if self.test is None or self.test.labels is None or images.labels is None:
            return
        share = _cnn_accuracy(images, self.test, self.real.classes, self.steps, self.seed)
        error = float(np.sqrt(share * (1 - share) / len(self.test)))
        yield "cnn-accuracy", "", share, error
        if self.classifiers:
            yield from self._by_classifier(images, self.test)

    def _by_classifier(self, images: Images, test: Images) -> Iterable[Found]:
        train = images.sample(CLASSIFIER_IMAGES, generator(self.seed, "training images"))
        if train.labels is None or test.labels is None:
            return
        found = predict_all(
            self.classifiers,
            (train.flat(), train.labels),
            (test.flat(), test.labels),
            classes=self.real.classes,
            seed=self.seed,
            jobs=self.jobs,
        )
        f1 = require("sklearn.metrics").f1_score
        measures: dict[str, Callable[[Any], float]] = {
            "accuracy": lambda p: float(np.mean(p.truth == p.hard)),
            "f1": lambda p: float(f1(p.truth, p.hard, average="macro", zero_division=0)),
        }
        for name, measure in measures.items():
            each = {p.model: measure(p) for p in found}
            yield name, "", float(np.mean(list(each.values()))), None
            yield from ((name, model, value, None) for model, value in each.items())


def _learn_features(real: Images, steps: int, seed: int) -> Callable[[Images], np.ndarray]:
    # JAX is loaded only here: evaluating tables does without it.
    from nacre.evaluate.images.networks import LeNet
    from nacre.evaluate.images.training import features, train

    network = LeNet(real.pixels.shape[1:], real.classes, rng=np.random.default_rng(seed))
    trained = train(network, real, steps=steps, seed=seed)
    return lambda images: features(trained, images)


def _cnn_accuracy(images: Images, test: Images, classes: int, steps: int, seed: int) -> float:
    from nacre.evaluate.images.networks import Classifier
    from nacre.evaluate.images.training import logits, train

    network = Classifier(images.pixels.shape[1:], classes, rng=np.random.default_rng(seed + 1))
    trained = train(network, images, steps=steps, seed=seed + 1)
    return float(np.mean(logits(trained, test).argmax(axis=1) == test.labels))
