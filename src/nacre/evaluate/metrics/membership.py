"""Membership inference: can a row be told to have been in the table, from synthetic rows alone?

The attacker holds the synthetic table, and for the second attack some real rows of the same
population (van Breugel et al., 2023, "DOMIAS").
"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.metrics.attack import CONFIDENCE, Attack, epsilon_shown
from nacre.evaluate.metrics.closest_record import nearest
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.rows import Rows

CANDIDATES = 2_000
SYNTHETIC_ROWS = 50_000
FALSE_RATE = 0.01
_SMALLEST = 1e-3
"""Added to distances before their logarithm: equal rows are as close as this, not infinitely."""


def attacks(comparison: TableComparison) -> tuple[Attack, ...]:
    """Both attacks on as many training rows as held-out rows, computed once."""
    return _tried(comparison)[0]


def alike(comparison: TableComparison) -> bool:
    """Whether held-out rows look like training rows to one who has not seen the synthetic table.

    If not, an attack may tell them apart though the synthetic table says nothing about any row.
    """
    return _tried(comparison)[1]


def _tried(comparison: TableComparison) -> tuple[tuple[Attack, ...], bool]:
    return comparison.once("membership", lambda: _attacks(comparison))


def _attacks(comparison: TableComparison) -> tuple[tuple[Attack, ...], bool]:
    rng = comparison.rng("membership")
    size = min(CANDIDATES, len(comparison.train), max(len(comparison.test) // 2, 1))
    order = rng.permutation(len(comparison.test))
    strangers = comparison.test.take(order[:size])
    # The attacker's own rows: none of them is asked about.
    others = comparison.test.take(order[size:])
    members = comparison.train.take(rng.permutation(len(comparison.train))[:size])
    synthetic = comparison.synthetic.sample(SYNTHETIC_ROWS, rng)

    def distances(among: Rows) -> tuple[np.ndarray, np.ndarray]:
        return nearest(comparison, members, among), nearest(comparison, strangers, among)

    near = distances(synthetic)
    found = [Attack("closest synthetic record", -near[0], -near[1])]
    if not len(others):
        return tuple(found), True
    away = distances(others)
    ratio = [
        np.log(far + _SMALLEST) - np.log(close + _SMALLEST)
        for close, far in zip(near, away, strict=True)
    ]
    found.append(Attack("density ratio", *ratio))
    area, error = Attack("closest other record", *away).area()
    return tuple(found), abs(area - 0.5) <= max(4 * error, 0.02)


def area(comparison: TableComparison) -> Iterator[Value]:
    """The larger of the attacks' areas, then each."""
    each = [(attack.name, *attack.area()) for attack in attacks(comparison)]
    yield Value("", *max(each, key=lambda found: found[1])[1:])
    yield from (Value(*found) for found in each)


def found_members(comparison: TableComparison) -> Iterator[Value]:
    """The larger of the attacks' true-positive rates at 1% false ones, then each."""
    each = [(attack.name, *attack.found_at(FALSE_RATE)) for attack in attacks(comparison)]
    yield Value("", *max(each, key=lambda found: found[1])[1:])
    yield from (Value(*found) for found in each)


def epsilon(comparison: TableComparison) -> Iterator[Value]:
    """The bound from the better attack; none where its premise visibly does not hold."""
    yield Value("", epsilon_shown(attacks(comparison)) if alike(comparison) else 0.0)


AREA = Metric(
    name="membership",
    title="Membership inference, AUC",
    group="privacy",
    goal="lower",
    low=0,
    high=1,
    meaning="How well an attacker who holds the synthetic table tells training rows from other "
    "real rows (the better of two attacks: closeness to a synthetic row, and closeness relative to "
    "real rows; 0.5 is guessing). That these attacks fail proves nothing.",
    compute=area,
    needs=frozenset({"test"}),
    quick=True,
)
FOUND = Metric(
    name="membership-found",
    title="Membership inference, members found",
    group="privacy",
    goal="lower",
    low=0,
    high=1,
    meaning="The share of training rows that the better attack finds while wrongly accusing 1% of "
    "other rows; 0.01 is guessing.",
    compute=found_members,
    needs=frozenset({"test"}),
)
EPSILON = Metric(
    name="membership-epsilon",
    title="Membership inference, ε shown",
    group="privacy",
    goal="lower",
    low=0,
    high=float("inf"),
    meaning="The ε below which a guarantee is refuted by how well the attacks did "
    f"({CONFIDENCE:.0%} confidence; about rows on average, so the true ε may be far larger), if "
    "the test rows are a random part of the same table. 0 where they visibly are not, as rows of "
    "another year: then nothing is shown.",
    compute=epsilon,
    needs=frozenset({"test"}),
    quick=True,
)
