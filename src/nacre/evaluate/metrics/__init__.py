"""The metrics, each in a file of its own; this is the list of them."""

from nacre.errors import NacreError
from nacre.evaluate.metrics import (
    accuracy,
    anonymity,
    association,
    auc,
    average_precision,
    closer_share,
    closest_record,
    copies,
    coverage,
    detection,
    dimension_prediction,
    dimension_probability,
    dimension_published,
    group_medians,
    hard_labels,
    label_groups,
    marginal_l1,
    membership,
    mmd,
    one_way,
    one_way_quantiles,
    r2,
    range_queries,
    ranking,
    shifts,
    small_groups,
    three_way,
    three_way_100,
    two_way,
    wasserstein,
)
from nacre.evaluate.scores.metric import Metric

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        one_way.METRIC,
        one_way_quantiles.METRIC,
        shifts.METRIC,
        coverage.METRIC,
        two_way.METRIC,
        association.METRIC,
        group_medians.METRIC,
        label_groups.METRIC,
        small_groups.METRIC,
        marginal_l1.METRIC,
        three_way.METRIC,
        three_way_100.METRIC,
        detection.METRIC,
        range_queries.METRIC,
        mmd.METRIC,
        wasserstein.WHOLE,
        wasserstein.WHOLE_SCORE,
        wasserstein.PLANE,
        wasserstein.PLANE_SCORE,
        dimension_probability.METRIC,
        dimension_prediction.METRIC,
        dimension_published.METRIC,
        auc.METRIC,
        average_precision.METRIC,
        hard_labels.ROC,
        hard_labels.PRC,
        accuracy.ACCURACY,
        accuracy.F1_WEIGHTED,
        accuracy.F1_MACRO,
        r2.METRIC,
        ranking.METRIC,
        closest_record.METRIC,
        copies.METRIC,
        closer_share.METRIC,
        membership.AREA,
        membership.FOUND,
        membership.EPSILON,
        anonymity.SINGLED_OUT,
        anonymity.LINKED,
        anonymity.INFERRED,
    )
}


def choose(metrics: str | list[str] | tuple[str, ...]) -> tuple[Metric, ...]:
    """The metrics called "quick", "all", or by name.

    Examples:
        >>> [metric.name for metric in choose(["tv2", "tv1"])]
        ['tv1', 'tv2']
    """
    if metrics == "all":
        return tuple(METRICS.values())
    if metrics == "quick":
        return tuple(metric for metric in METRICS.values() if metric.quick)
    asked = [metrics] if isinstance(metrics, str) else list(metrics)
    unknown = [name for name in asked if name not in METRICS]
    if unknown or not asked:
        raise NacreError(
            f"No such metric: {', '.join(map(repr, unknown)) or 'the list is empty'}.\n"
            f'Give "quick", "all", or some of: {", ".join(METRICS)}.'
        )
    return tuple(metric for name, metric in METRICS.items() if name in asked)
