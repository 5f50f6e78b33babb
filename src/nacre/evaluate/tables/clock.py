"""Times by the hour of the day and by the day of the week: what a chart of a year does not show."""

from typing import NamedTuple

import numpy as np

from nacre.evaluate.tables.rows import Rows
from nacre.schema import Datetime
from nacre.schema.columns.timed import DAY, UNITS

WEEKS = 2  # that dates must reach over, if their days of the week are to be looked at
THURSDAY = 3  # the first day of 1970, Monday being 0


class Clock(NamedTuple):
    """How many rows of two tables lie at each place of a cycle.

    Attributes:
        column: a date or time.
        by: "hour of the day" or "day of the week".
        real: shares of the real rows.
        synthetic: likewise.
        excess: the share of rows at the wrong place, beyond what chance explains.
    """

    column: str
    by: str
    real: np.ndarray
    synthetic: np.ndarray
    excess: float


def find_clocks(real: Rows, synthetic: Rows) -> tuple[Clock, ...]:
    """Every column of dates or times, by all cycles that its step and its bounds leave room for."""
    found = []
    for name, column in real.schema.columns.items():
        if not isinstance(column, Datetime):
            continue
        moments = [rows.values(name) for rows in (real, synthetic)]
        moments = [each[~np.isnan(each)].astype(np.int64) for each in moments]
        if not all(map(len, moments)):
            continue
        span = column.ticks * column.length
        if column.length <= UNITS["h"] and span >= DAY:
            found.append(_clock(name, "hour of the day", [m // UNITS["h"] % 24 for m in moments]))
        if column.length <= DAY and span >= WEEKS * 7 * DAY:
            days = [(m // DAY + THURSDAY) % 7 for m in moments]
            found.append(_clock(name, "day of the week", days))
    return tuple(found)


def _clock(name: str, by: str, places: list[np.ndarray]) -> Clock:
    size = 24 if by.startswith("hour") else 7
    real, synthetic = (np.bincount(each, minlength=size) / len(each) for each in places)
    rows = 1 / sum(1 / len(each) for each in places)
    # Of two samples of one law, half the absolute differences; E|N(0, s)| = s sqrt(2 / pi).
    both = (real + synthetic) / 2
    chance = float(np.sqrt(both * (1 - both) / rows * 2 / np.pi).sum()) / 2
    wrong = float(np.abs(real - synthetic).sum()) / 2
    return Clock(name, by, real, synthetic, wrong - chance)
