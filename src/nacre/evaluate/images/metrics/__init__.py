"""The metrics of images, each in a file of its own; this is the list of them."""

from nacre.errors import NacreError
from nacre.evaluate.images.metric import ImageMetric
from nacre.evaluate.images.metrics import (
    classifiers,
    cnn,
    coverage,
    fid,
    kid,
    membership,
    precision,
    recall,
    residual,
)
from nacre.schema.suggest import suggest

METRICS: dict[str, ImageMetric] = {
    metric.name: metric
    for metric in (
        fid.METRIC,
        kid.METRIC,
        precision.METRIC,
        recall.METRIC,
        coverage.METRIC,
        cnn.METRIC,
        residual.METRIC,
        classifiers.ACCURACY,
        classifiers.F1,
        membership.METRIC,
    )
}


def choose(metrics: str | list[str] | tuple[str, ...]) -> list[ImageMetric]:
    """The metrics that are asked for: "quick", "all", or names."""
    if metrics == "all":
        return list(METRICS.values())
    if metrics == "quick":
        return [metric for metric in METRICS.values() if metric.quick]
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if name not in METRICS:
            raise NacreError(
                f"There is no metric of images '{name}'. There are: {', '.join(METRICS)}; or "
                f"quick, or all.{suggest(name, list(METRICS))}"
            )
    return [metric for name, metric in METRICS.items() if name in names]
