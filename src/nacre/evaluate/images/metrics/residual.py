"""Accuracy of a small residual network, which learns more from images than the papers' CNN."""

from collections.abc import Iterator

from nacre.evaluate.images.accuracy import trained_accuracy
from nacre.evaluate.images.comparison import ImageComparison
from nacre.evaluate.images.metric import ImageMetric, as_real
from nacre.evaluate.scores.metric import Value


def compute(comparison: ImageComparison) -> Iterator[Value]:
    """Twenty epochs of Adam."""
    from nacre.evaluate.images.residual import Residual

    shape, classes = comparison.synthetic.pixels.shape[1:], comparison.real.classes
    yield trained_accuracy(
        comparison,
        lambda rng: Residual(shape, classes, rng=rng),
        epochs=comparison.effort.residual_epochs,
        runs=1,
    )


METRIC = ImageMetric(
    name="residual-accuracy",
    title="Accuracy of a residual network",
    group="usefulness",
    goal="higher",
    low=0,
    high=1,
    meaning="The same of a stronger network (six convolutions, four of them beside "
    "shortcuts, about 28,000 weights) after twenty epochs.",
    compute=compute,
    reference=as_real(compute),
    needs=frozenset({"test", "labels"}),
    quick=False,
)
