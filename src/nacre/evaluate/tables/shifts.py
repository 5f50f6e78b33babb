"""How far the mean and the tails of a number are off, and what lies between ordered columns."""

from collections.abc import Iterator, Sequence

import numpy as np

from nacre.evaluate.tables.rows import Rows
from nacre.evaluate.tables.shift import MEAN, Difference, Shift, Statistic, Subject
from nacre.schema import Column, Schema
from nacre.schema.columns.scale import Scale
from nacre.schema.constraints.condition import Order

FEWEST = 200
"""Rows of either table, below which a tail is a handful of rows."""
SLACK = 0.0025
"""A quantile counts as right if it is one of the real table's within this share of the rows."""
CHANCE = 2.0
"""Standard errors that chance explains."""
SINGLE = (MEAN, 0.01, 0.99)
BETWEEN = (0.5, 0.9, 0.99)


def find_shifts(real: Rows, synthetic: Rows) -> tuple[Shift, ...]:
    """Means and 1% and 99% quantiles of numbers; medians, 90% and 99% quantiles of differences."""
    found: list[Shift] = []
    for name in filter(real.is_number, real.names):
        values = [rows.values(name) for rows in (real, synthetic)]
        found += compare_values(name, SINGLE, *values, step=step_of(real.schema.columns[name]))
    for earlier, later in ordered_pairs(real.schema):
        apart = [rows.values(later) - rows.values(earlier) for rows in (real, synthetic)]
        step = step_of(real.schema.columns[later])
        found += compare_values(Difference(later, earlier), BETWEEN, *apart, step=step)
    return tuple(found)


def ordered_pairs(schema: Schema) -> list[tuple[str, str]]:
    """The numbers and dates that a constraint orders in every row: the smaller first.

    Examples:
        >>> from nacre.schema import Integer
        >>> columns = {name: Integer(low=0, high=9) for name in "abc"}
        >>> ordered_pairs(Schema(columns, constraints=["a <= b", "c > b", "a < 5"]))
        [('a', 'b'), ('b', 'c')]
    """
    found: dict[tuple[str, str], None] = {}
    for rule in schema.rules:
        if rule.kind != "rule" or rule.premise:
            continue
        for order in rule.demands:
            if not isinstance(order, Order) or order.sign in ("=", "!="):
                continue
            if Scale(schema.columns[order.left]).measured:
                up = order.sign in ("<", "<=")
                found[(order.left, order.right) if up else (order.right, order.left)] = None
    return list(found)


def step_of(column: Column) -> float:
    """How far apart a column's values are."""
    first, second = Scale(column).values(np.array([0, min(1, column.ticks or 0)]))
    return float(second - first)


def compare_values(
    of: Subject,
    shares: Sequence[float | None],
    real: np.ndarray,
    synthetic: np.ndarray,
    *,
    step: float = 0.0,
) -> Iterator[Shift]:
    """What is off between two columns of values, NaN where missing: the mean, some quantiles.

    A quantile may be off by one `step`, the distance of two values: of a few whole numbers it jumps
    from one to the next where nothing much has changed, and shares of rows tell what has.
    """
    real, synthetic = (np.sort(values[~np.isnan(values)]) for values in (real, synthetic))
    if min(len(real), len(synthetic)) < FEWEST:
        return
    size = 1 / (1 / len(real) + 1 / len(synthetic))
    middle = _quantile(real, 0.5)
    distances = np.abs(real - middle)
    width = float(distances.mean())
    if not width:
        return
    # A long tail widens the mean distance; a median does not move with it.
    typical = float(np.median(distances)) or width

    for share in shares:
        if share is MEAN:
            one, other = float(real.mean()), float(synthetic.mean())
            allowed, unit = CHANCE * float(real.std()) / size**0.5, width
        else:
            one, other = _quantile(real, share), _quantile(synthetic, share)
            reach = max(SLACK, CHANCE * (share * (1 - share) / size) ** 0.5)
            low, high = (_quantile(real, share + sign * reach) for sign in (-1, 1))
            allowed = max(one - low if other < one else high - one, step)
            unit = typical if share == 0.5 else max(abs(one - middle), width)
        gap = max(abs(other - one) - allowed, 0.0) / unit
        yield Shift(Statistic(of, share), one, other, gap)


def _quantile(ordered: np.ndarray, share: float) -> float:
    """The value that this share of the rows does not exceed."""
    place = int(np.ceil(min(max(share, 0.0), 1.0) * len(ordered))) - 1
    return float(ordered[max(place, 0)])
