"""Precision (Kynkäänniemi et al., 2019): the share of synthetic images among real ones."""

from collections.abc import Iterator

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.images.neighbors import features_of, radii, share_inside
from nacre.evaluate.scores.metric import Value

NEIGHBORS = 3


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Synthetic features in the balls of real ones."""
    real, synthetic = features_of(comparison)
    yield Value("", share_inside(synthetic, real, radii(real, NEIGHBORS)))


METRIC = ImageMetric(
    name="precision",
    title="Precision",
    group="likeness",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of synthetic images that look like some real one: LeNet features within "
    "the reach of a real image's third neighbor (Kynkäänniemi et al., 2019). Means of many images "
    "may score well here; recall tells.",
    compute=compute,
    reference=as_real(compute),
)
