"""How far the label is off by group: the share of refunds by agent, the mean price by quarter.

The label may be right as a whole, and what agents, quarters or fares have to do with it made up.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from scipy.stats import chi2

from nacre.evaluate.tables.grouping import Grouping, group_rows
from nacre.evaluate.tables.rows import Rows
from nacre.schema.written import value_names

FEWEST = 50
"""Rows of a group in either table, and real rows of a class, below which neither is judged."""
MOST_GROUPS, MOST_CLASSES = 50, 20
"""The most frequent groups of a column, and the most frequent classes."""
CHANCE = 1e-3
"""How seldom chance alone may make the groups of a column differ as they do."""


@dataclasses.dataclass(frozen=True)
class GroupRate:
    """The share of a class, or the mean of a numeric label, in one group of both tables."""

    group: str
    real: float
    synthetic: float


@dataclasses.dataclass(frozen=True)
class LabelGroups:
    """The label by the groups of one column.

    Attributes:
        by: the column.
        value: the class that is worst off; None for the mean of a numeric label.
        rates: the groups, those that are farthest off first.
        gap: how far groups typically are off beyond chance (root mean square, groups weighted by
            their real rows), once all are moved alike so that the whole is right. In standard
            deviations of the label: of a class with share p, sqrt(p (1 - p)). 0 where chance
            explains it.
    """

    by: str
    value: str | None
    rates: tuple[GroupRate, ...]
    gap: float


@dataclasses.dataclass(frozen=True, eq=False)
class _Means:
    """Means of something in each group of one table."""

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def find_label_groups(real: Rows, synthetic: Rows, label: str) -> tuple[LabelGroups, ...]:
    """The label by every other column, by the class that is farthest off."""
    found = []
    for name in real.names:
        if name != label:
            grouping = group_rows(real, synthetic, name)
            judge = _of_number if real.is_number(label) else _of_classes
            each = list(judge(real, synthetic, label, name, grouping))
            if each:
                found.append(max(each, key=lambda groups: groups.gap))
    return tuple(found)


def _of_classes(
    real: Rows, synthetic: Rows, label: str, by: str, grouping: Grouping
) -> Iterator[LabelGroups]:
    """The shares of each frequent class."""
    names, size = value_names(real.schema, label), real.bin(label).size
    groups = (grouping.real, grouping.synthetic)
    cells = len(grouping.names) * size
    counts = [
        np.bincount(code.astype(np.int64) * size + rows.bin(label).codes, minlength=cells)
        for code, rows in zip(groups, (real, synthetic), strict=True)
    ]
    tables = [count.reshape(-1, size) for count in counts]
    totals = tables[0].sum(0)
    # Of two classes, the rarer one says it all, and is the one that people speak of.
    frequent = np.argsort(-totals, kind="stable")[int(size == 2) : MOST_CLASSES]
    for place in frequent:
        share = totals[place] / max(totals.sum(), 1)
        if totals[place] < FEWEST or share == 1:
            continue
        # A class that no row of a group has is rare there, not impossible: as if one more row
        # of each table had fallen out as in the whole.
        both = (sum(t[:, place] for t in tables) + share) / (sum(t.sum(1) for t in tables) + 1)
        means = [
            _Means(t.sum(1), t[:, place] / np.maximum(t.sum(1), 1), both * (1 - both))
            for t in tables
        ]
        width = float(np.sqrt(share * (1 - share)))
        yield from _judged(by, names[place], grouping.names, means[0], means[1], width)


def _of_number(
    real: Rows, synthetic: Rows, label: str, by: str, grouping: Grouping
) -> Iterator[LabelGroups]:
    """The mean of a label that is a number, over the rows that have one."""
    means, size = [], len(grouping.names)
    for rows, codes in ((real, grouping.real), (synthetic, grouping.synthetic)):
        values = rows.values(label)
        known = ~np.isnan(values)
        values, codes = values[known], codes[known]
        count = np.bincount(codes, minlength=size)
        mean = np.bincount(codes, values, size) / np.maximum(count, 1)
        spread = np.bincount(codes, (values - mean[codes]) ** 2, size)
        means.append(_Means(count, mean, spread / np.maximum(count - 1, 1)))
    width = float(np.nanstd(real.values(label))) if means[0].rows.any() else 0.0
    if width:
        yield from _judged(by, None, grouping.names, means[0], means[1], width)


def _judged(
    by: str, value: str | None, names: list[str], real: _Means, synthetic: _Means, width: float
) -> Iterator[LabelGroups]:
    """The groups with rows enough in both tables, if there are two or more."""
    frequent = np.argsort(-real.rows, kind="stable")[:MOST_GROUPS]
    enough = np.minimum(real.rows, synthetic.rows)[frequent] >= FEWEST
    chosen = frequent[enough]
    if len(chosen) < 2:
        return
    apart = (synthetic.mean - real.mean)[chosen]
    chance = (real.variance / np.maximum(real.rows, 1))[chosen]
    chance = chance + (synthetic.variance / np.maximum(synthetic.rows, 1))[chosen]
    weights = real.rows[chosen] / real.rows[chosen].sum()
    apart = apart - weights @ apart
    sure = chance > 0
    if not sure.any():
        return
    squares = float(np.sum(apart[sure] ** 2 / chance[sure]))
    explained = chi2.sf(squares, max(int(sure.sum()) - 1, 1)) > CHANCE
    beyond = 0.0 if explained else float(weights @ (apart**2 - chance))
    worst = np.argsort(-(np.abs(apart) - 2 * np.sqrt(chance)), kind="stable")
    rates = (
        GroupRate(names[code], float(real.mean[code]), float(synthetic.mean[code]))
        for code in chosen[worst]
    )
    yield LabelGroups(by, value, tuple(rates), float(np.sqrt(max(beyond, 0.0))) / width)
