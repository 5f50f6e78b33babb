"""Accuracy of the papers' CNN (Cao et al., 2021), trained on synthetic images."""

from collections.abc import Iterator

from nacre.evaluate.images.accuracy import trained_accuracy
from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.scores.metric import Value


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Five epochs of Adam."""
    from nacre.evaluate.images.networks import Classifier

    shape, classes = comparison.synthetic.pixels.shape[1:], comparison.real.classes
    effort = comparison.effort
    yield trained_accuracy(
        comparison,
        lambda rng: Classifier(shape, classes, rng=rng),
        epochs=effort.epochs,
        runs=effort.runs,
    )


METRIC = ImageMetric(
    name="cnn-accuracy",
    title="Accuracy of the papers’ CNN",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The share of real test images that a small CNN gets right after five epochs on the "
    "synthetic ones (one run; among all metrics the mean of five ± their standard deviation).",
    compute=compute,
    reference=as_real(compute),
    needs=frozenset({"test", "labels"}),
)
