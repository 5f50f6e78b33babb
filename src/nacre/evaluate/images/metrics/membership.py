"""Membership inference: does an image's closeness to synthetic ones tell that it was private?"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric
from nacre.evaluate.images.neighbors import nearest
from nacre.evaluate.images.reading import sampled
from nacre.evaluate.metrics.attack import Attack
from nacre.evaluate.scores.metric import Value

CANDIDATES = 2_000
SYNTHETIC = 10_000


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Closeness to a synthetic image."""
    rng = comparison.real.rng("membership, synthetic")
    features = comparison.features
    chosen = rng.permutation(len(features))[:SYNTHETIC]
    yield Value("", *_attack(comparison, features[chosen]))


def baseline(comparison: ImageComparison) -> Iterator[Value]:
    """Closeness to other test images, which tell nothing about who was private.

    It is off 0.5 as far as LeNet, which has seen the private images, places these elsewhere.
    """
    _, others = _test_halves(comparison)
    yield Value("", *_attack(comparison, others[:SYNTHETIC]))


def _attack(comparison: ImageComparison, among: np.ndarray) -> tuple[float, float]:
    strangers, _ = _test_halves(comparison)
    rng = comparison.real.rng("membership, members")
    members = comparison.real.lenet(sampled(comparison.real.train, len(strangers), rng))
    return Attack("closest", -nearest(members, among), -nearest(strangers, among)).area()


def _test_halves(comparison: ImageComparison) -> tuple[np.ndarray, np.ndarray]:
    """Features of the test images that are asked about, and of the others."""
    features = comparison.real.features
    order = comparison.real.rng("membership, strangers").permutation(len(features))
    size = min(CANDIDATES, len(features) // 2, len(comparison.real.train))
    return features[order[:size]], features[order[size:]]


METRIC = ImageMetric(
    name="membership",
    title="Membership inference, AUC",
    group="privacy",
    goal="lower",
    low=0,
    high=1,
    meaning="How well closeness to a synthetic image, in LeNet’s features, tells private images "
    "from test images (0.5 is guessing; beside it, closeness to other test images). That this "
    "attack fails proves nothing.",
    compute=compute,
    reference=baseline,
    needs=frozenset({"test"}),
)
