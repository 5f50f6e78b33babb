"""What rules and facts together leave of each column; contradictions are told before a row is read.

Only sound steps are taken: a value is ruled out only if no row with it keeps every rule and fact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from nacre.schema.columns.column import Column
from nacre.schema.columns.span import Spans, contains, join, meet
from nacre.schema.constraints.condition import Among, Order
from nacre.schema.constraints.constraint import Rule
from nacre.schema.constraints.domain import Contradiction, Domain, Known, listing, narrow
from nacre.schema.facts.amounts import ends, per_amount
from nacre.schema.facts.bound import Absence, Belonging, BoundFact, Linear, LookUp, Near

SLACK = 1e-9  # of float64 sums, relative to their size
Range = tuple[float, float]


def narrow_all(
    columns: Mapping[str, Column], rules: Sequence[Rule], facts: Sequence[BoundFact]
) -> dict[str, Domain]:
    """What is left of the columns that rules and facts speak of; raises Contradiction."""
    if not facts:
        return narrow(columns, rules)

    def more(known: Known) -> None:
        for fact in facts:
            if isinstance(fact, LookUp):
                _look_up(known, fact)
            elif isinstance(fact, Belonging):
                _belonging(known, fact)
            elif isinstance(fact, Absence):
                _absence(known, fact)
            else:
                _formula(known, fact)
        _orders(known, rules, facts)

    return narrow(columns, rules, more)


def _look_up(known: Known, fact: LookUp) -> None:
    """Values that no key that is left leads to go, and keys that lead to none that is left."""
    by, column = known[fact.by], known[fact.column]
    ends = [*fact.starts[1:].tolist(), math.inf]
    scale = known.scales[fact.by]
    kept: list[tuple[float, float]] = []
    reached: list[float | None] = []
    for start, end, place in zip(fact.starts.tolist(), ends, fact.places.tolist(), strict=True):
        last = scale.before(end) if math.isfinite(end) else scale.high
        spans = meet(by.spans, ((start, last),))
        if not spans:
            continue
        value = None if place < 0 else fact.scale.values(np.array([place]))[0].item()
        if column.gap if value is None else meet(column.spans, ((value, value),)):
            kept += spans
            reached.append(value)
    unknown = None if fact.unknown < 0 else fact.scale.values(np.array([fact.unknown]))[0].item()
    stays = by.gap and bool(
        column.gap if unknown is None else meet(column.spans, ((unknown, unknown),))
    )
    if stays:
        reached.append(unknown)
    there = join((value, value) for value in reached if value is not None)
    known.keep(fact.column, there, None in reached, (fact.text, *by.because))
    known.keep(fact.by, join(kept), stays, (fact.text, *column.because))


def _belonging(known: Known, fact: Belonging) -> None:
    """Codes of groups that can be, or none; and where there is a code, its group."""
    code, group = known[fact.column], known[fact.group]
    left = contains(code.spans, np.arange(len(fact.places)))
    can = np.where(fact.places < 0, group.gap, contains(group.spans, fact.places)) & left
    codes = join((float(each), float(each)) for each in np.flatnonzero(can))
    known.keep(fact.column, codes, True, (fact.text, *group.because))
    if not code.gap:
        reached = np.unique(fact.places[can]).tolist()
        spans = join((float(each), float(each)) for each in reached if each >= 0)
        known.keep(fact.group, spans, -1 in reached, (fact.text, *code.because))


def _absence(known: Known, fact: Absence) -> None:
    """A gap where all conditions are true, and a value where one cannot be."""
    column = known[fact.column]
    reasons = [text for name in sorted(fact.sources) for text in known[name].because]
    if all(known.surely(condition) for condition in fact.conditions):
        known.keep(fact.column, (), True, (fact.text, *reasons))
    elif any(_never(known, condition) for condition in fact.conditions):
        known.keep(fact.column, column.spans, False, (fact.text, *reasons))
    texts = (fact.text, *column.because)
    if not column.spans:
        for condition in fact.conditions:
            known.apply(condition, "true", texts)
    elif not column.gap and len(fact.conditions) == 1:
        known.apply(fact.conditions[0], "not true", texts)


def _never(known: Known, condition: object) -> bool:
    """Whether a condition on one column is true of nothing that is left."""
    if not isinstance(condition, Among):
        return False
    domain = known[condition.name]
    return not meet(domain.spans, condition.spans) and not (domain.gap and condition.gap)


def _formula(known: Known, fact: Linear | Near) -> None:
    """A sum lies between those of the ends; it is missing only if one of its parts may be."""
    parts = [known[name] for name in fact.sources]
    if any(not part.spans for part in parts):
        known.keep(fact.column, (), True, (fact.text, *(t for p in parts for t in p.because)))
        return
    exact = _linear(known, *_factors(fact)) if isinstance(fact, Linear) else _near(known, fact)
    low, high = map(float, exact)
    reach = SLACK * max(abs(low), abs(high), 1.0)
    spans: Spans = ((low - reach, high + reach),)
    texts = (fact.text, *(text for part in parts for text in part.because))
    known.keep(fact.column, spans, any(part.gap for part in parts), texts)


def _factors(fact: Linear) -> tuple[dict[str, Fraction], Fraction]:
    """A sum's factors and constant, in the columns' own values: exact, as an order asks for."""
    unit = fact.line(fact.column).unit * fact.unit
    factors = {
        name: Fraction(factor * fact.line(name).unit, unit) for name, factor in fact.factors.items()
    }
    return factors, Fraction(fact.constant, unit)


def _linear(
    known: Known, factors: Mapping[str, Fraction], constant: Fraction
) -> tuple[Fraction, Fraction]:
    low = high = constant
    for name, factor in factors.items():
        # As people write it: 0.1 is a tenth, not the float64 beside it.
        both = sorted(factor * Fraction(repr(end)) for end in _ends(known, name))
        low, high = low + both[0], high + both[1]
    return low, high


def _near(known: Known, fact: Near) -> Range:
    """A sum of products, and what it may be off by, on the scale of its column."""
    low = high = 0.0
    for factor, names in fact.terms:
        both: Range = (factor, factor)
        for name in names:
            each = per_amount(fact.columns[name])
            products = [a * b / each for a in both for b in _ends(known, name)]
            both = (min(products), max(products))
        low, high = low + both[0], high + both[1]
    reach = fact.within * (max(abs(low), abs(high)) if fact.relative else 1.0)
    own = per_amount(fact.columns[fact.column])
    return (low - reach) * own, (high + reach) * own


def _ends(known: Known, name: str) -> Range:
    return ends(known.scales[name].column, known[name].spans)


def _orders(known: Known, rules: Sequence[Rule], facts: Sequence[BoundFact]) -> None:
    """Refuse an order between sums that their parts never stand in, such as `a + b < a`."""
    sums = {fact.column: fact for fact in facts if isinstance(fact, Linear)}
    for rule in rules:
        if rule.kind != "rule" or rule.premise:
            continue
        for order in rule.demands:
            if not isinstance(order, Order) or order.places is not None:
                continue
            if not sums.keys() & set(order.names):
                continue
            factors, constant, texts = _difference(order, sums)
            names = [*factors, *order.names]
            if any(known[name].gap or not known[name].spans for name in names):
                continue
            low, high = _linear(known, factors, constant)
            if _impossible(order.sign, low, high):
                said = dict.fromkeys((rule.text, *texts))
                raise Contradiction(f"'{order.left}': no value is left by {listing(said)}.")


def surely_ordered(
    columns: Mapping[str, Column], facts: Sequence[BoundFact], first: str, last: str
) -> bool:
    """Whether bounds and sums alone leave no row in which `first` exceeds `last`."""
    sums = {fact.column: fact for fact in facts if isinstance(fact, Linear)}
    factors, constant, _ = _difference(Order(last, ">=", first), sums)
    return _linear(Known(columns), factors, constant)[0] >= 0


def _difference(
    order: Order, sums: Mapping[str, Linear]
) -> tuple[dict[str, Fraction], Fraction, list[str]]:
    """left - right, with every sum in the place of what it is the sum of."""
    open_ones = {order.left: Fraction(1), order.right: Fraction(-1)}
    constant = Fraction(0)
    texts: list[str] = []
    while found := [name for name in open_ones if name in sums]:
        factor = open_ones.pop(found[0])
        factors, more = _factors(sums[found[0]])
        constant += factor * more
        texts.append(sums[found[0]].text)
        for name, each in factors.items():
            open_ones[name] = open_ones.get(name, Fraction(0)) + factor * each
    return {name: factor for name, factor in open_ones.items() if factor}, constant, texts


def _impossible(sign: str, low: Fraction, high: Fraction) -> bool:
    """Whether no difference between these ends has the sign that is asked for."""
    return {
        "<": low >= 0,
        "<=": low > 0,
        ">": high <= 0,
        ">=": high < 0,
        "=": low > 0 or high < 0,
        "!=": low == high == 0,
    }[sign]
