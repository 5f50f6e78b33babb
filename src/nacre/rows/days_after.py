"""Days after a date, where a fact computes another date from them: `seen = booked + wait`.

The computed date is not modeled, so what days people prefer would be lost with it: clinics that are
closed at weekends.  As of a distance, the layout says from what date such days are counted, and
where they end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any

from nacre.schema.columns.moment import Datetime
from nacre.schema.facts.bound import Linear
from nacre.schema.layout import Layout, Tie
from nacre.schema.line import Line


def with_days_after(layout: Layout, facts: Iterable[Any], apart: Collection[str]) -> Layout:
    """The layout of rows that says of days after (or before) a date on what date they end.

    Only of whole days from a date that is always there, neither of which is `apart`: modeled
    otherwise than by its own ticks.  Of two facts about the same days the first one counts.
    """
    places = {number.name: place for place, number in enumerate(layout.numbers)}
    numbers = list(layout.numbers)
    for fact in facts:
        names = _parts(fact)
        if names is None or not set(names) <= set(places) - set(apart):
            continue
        anchor, days = names
        line, own = _line(fact, anchor, days), places[days]
        taken = {number.tie.anchor for number in numbers if number.tie is not None}
        if line is None or numbers[own].tie is not None or own in taken:
            continue
        tie, day = Tie(places[anchor], None, line), fact.columns[fact.column].day
        numbers[own] = dataclasses.replace(numbers[own], tie=tie, day=day)
    return dataclasses.replace(layout, numbers=tuple(numbers))


def _parts(fact: Any) -> tuple[str, str] | None:
    """The date and the days of a fact that adds the two up; None of other facts."""
    if not isinstance(fact, Linear) or len(fact.factors) != 2:
        return None
    if not isinstance(fact.columns[fact.column], Datetime):
        return None
    dates = [name for name in fact.factors if isinstance(fact.columns[name], Datetime)]
    others = [name for name in fact.factors if name not in dates]
    if len(dates) != 1 or fact.columns[dates[0]].nullable:
        return None
    return dates[0], others[0]


def _line(fact: Linear, anchor: str, days: str) -> Line | None:
    """Both dates on one line, of which a tick of each and of the days is one step; else None."""
    own, start, away = fact.line(fact.column), fact.line(anchor), fact.line(days)
    step, factor = fact.unit * own.step, fact.factors[days]
    alike = fact.factors[anchor] * start.step == step and abs(factor) * away.step == step
    if not alike or fact.columns[fact.column].day is None or fact.columns[anchor].day is None:
        return None
    up = 1 if factor > 0 else -1
    line = Line(
        first=fact.unit * own.first,
        step=step,
        ticks=fact.columns[fact.column].ticks or 0,
        anchor_first=fact.factors[anchor] * start.first,
        anchor_step=step,
        anchor_ticks=fact.columns[anchor].ticks or 0,
        anchor_nullable=False,
        up=up,
        gap=up * (fact.constant + factor * away.first),
    )
    apart = line.anchor_first + up * line.gap - line.first
    return line if line.exact and apart % step == 0 else None
