"""Coverage (Naeem et al., 2020): the share of real images that have a synthetic one near."""

from collections.abc import Iterator

from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.images.neighbors import features_of, radii, share_filled
from nacre.evaluate.scores.metric import Value

NEIGHBORS = 5


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Balls of real features with a synthetic one in them."""
    real, synthetic = features_of(comparison)
    yield Value("", share_filled(synthetic, real, radii(real, NEIGHBORS)))


METRIC = ImageMetric(
    name="coverage",
    title="Coverage",
    group="likeness",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of real images with a synthetic one within the reach of their fifth "
    "neighbor (Naeem et al., 2020); outliers among synthetic images do not raise it.",
    compute=compute,
    reference=as_real(compute),
)
