"""Numbers, dates and lengths of time as a sentence writes them."""

import dataclasses
import datetime
from collections.abc import Sequence

from nacre.evaluate.tables.shift import Difference, Group, Subject
from nacre.schema import Column, Schema, Time
from nacre.schema.columns.clock import clock_text
from nacre.schema.columns.timed import DAY, UNITS, Timed
from nacre.schema.written import holds_years

_EPOCH = datetime.datetime(1970, 1, 1)
_LENGTHS = ((DAY, "day"), (DAY // 24, "hour"), (DAY // 1440, "minute"), (DAY // 86400, "second"))


@dataclasses.dataclass(frozen=True)
class Amount:
    """How values of a column are written, or differences of two such values.

    Examples:
        >>> from nacre.schema import Integer
        >>> Amount(Integer(low=0, high=10**6)).text(6151.28)
        '6,151'
        >>> Amount(Integer(low=1900, high=2020)).text(1952.3)
        '1952'
        >>> from nacre.schema import Datetime
        >>> seen = Datetime(low="2020-01-01", high="2024-01-01")
        >>> Amount(seen).text(18300.7 * DAY), Amount(seen, difference=True).text(4.0 * DAY)
        ('2020-02-08', '4 days')
        >>> Amount(Time()).text(0.355 * DAY)
        '08:31'
    """

    column: Column
    difference: bool = False

    def text(self, value: float) -> str:
        """A value, with no more digits than say something."""
        if not isinstance(self.column, Timed):
            years = holds_years(self.column) and not self.difference
            return f"{value:.0f}" if years else _number(value)
        days = self.column.length % DAY == 0
        if self.difference:
            return _length(value, _LENGTHS[:1] if days else _LENGTHS)
        if isinstance(self.column, Time):
            unit = UNITS["min" if self.column.whole(UNITS["min"]) else "s"]
            return clock_text(min(round(value / unit) * unit, DAY - unit))
        moment = _EPOCH + datetime.timedelta(microseconds=round(value))
        return moment.date().isoformat() if days else moment.isoformat(" ", "minutes")


def amount_of(subject: Subject, schema: Schema) -> Amount:
    """How values of a column, of a difference of two, or of a group are written."""
    if isinstance(subject, Group):
        subject = subject.column
    if isinstance(subject, Difference):
        return Amount(schema.columns[subject.later], difference=True)
    return Amount(schema.columns[subject])


def _number(value: float) -> str:
    """A number with at least three digits that say something, and no fraction beyond 100.

    Examples:
        >>> _number(39412.7), _number(38.58), _number(0.01234), _number(-4.0)
        ('39,413', '38.6', '0.0123', '-4')
    """
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def _length(microseconds: float, units: Sequence[tuple[int, str]] = _LENGTHS) -> str:
    """A length of time in the largest of some units that it reaches, or else the smallest.

    Examples:
        >>> _length(float(DAY)), _length(0.5 * DAY), _length(0.0), _length(36.5 * DAY)
        ('1 day', '12 hours', '0 seconds', '36.5 days')
    """
    unit, name = next((found for found in units if abs(microseconds) >= found[0]), units[-1])
    text = _number(microseconds / unit)
    return f"{text} {name}" + ("" if text == "1" else "s")
