"""Days as a calendar has them: days of the week and of the month, and months, by integers alone.

Days are counted from 1970-01-01.  The arithmetic is that of H. Hinnant's `civil_from_days`, for
NumPy's arrays as for those that JAX traces; years are 0 or later.
"""

from __future__ import annotations

from typing import Any

WEEK = 7
LATER, LAST = 28, 29  # classes of days of a month: the 29th and 30th, and its last day
MONTH = 30  # the 1st to 28th each, later ones, and the last one
YEAR = 12  # its months
CLASSES = WEEK + MONTH + YEAR
PARTS = slice(WEEK), slice(WEEK, WEEK + MONTH), slice(WEEK + MONTH, CLASSES)  # of all classes
SHIFT = 719_468  # days from 0000-03-01 to 1970-01-01
THURSDAY = 3  # 1970-01-01


def weekday(day: Any) -> Any:
    """0 for a Monday to 6 for a Sunday."""
    return (day + SHIFT + (THURSDAY - SHIFT) % WEEK) % WEEK


def day_of_month(day: Any) -> Any:
    """From 1 to 31."""
    day_of_year, month = _since_march(day)
    return day_of_year - (153 * month + 2) // 5 + 1


def month_of_year(day: Any) -> Any:
    """0 for January to 11 for December."""
    return (_since_march(day)[1] + 2) % YEAR


def _since_march(day: Any) -> tuple[Any, Any]:
    """How many days, and whole months, have passed since the 1st of March."""
    whole = day + SHIFT
    day_of_era = whole - whole // 146_097 * 146_097
    part = day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    year = part // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    return day_of_year, (5 * day_of_year + 2) // 153


def month_class(day: Any) -> Any:
    """0 to 27 for the 1st to the 28th, `LATER` and, whichever day it is, `LAST`."""
    own = day_of_month(day)
    last = day_of_month(day + 1) == 1
    # min(own - 1, LATER), and LAST where it is the last day, without a choice of array library.
    early = own <= LATER
    usual = (own - 1) * early + LATER * (1 - early)
    return usual * (1 - last) + LAST * last
