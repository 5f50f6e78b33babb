"""Recall (Kynkäänniemi et al., 2019): the share of real images among synthetic ones."""

from collections.abc import Iterator

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.images.metrics.precision import NEIGHBORS
from nacre.evaluate.images.neighbors import features_of, radii, share_inside
from nacre.evaluate.scores.metric import Value


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Real features in the balls of synthetic ones."""
    real, synthetic = features_of(comparison)
    yield Value("", share_inside(real, synthetic, radii(synthetic, NEIGHBORS)))


METRIC = ImageMetric(
    name="recall",
    title="Recall",
    group="likeness",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of real images that some synthetic ones surround. Images that are all like "
    "the mean of their class surround almost none.",
    compute=compute,
    reference=as_real(compute),
)
