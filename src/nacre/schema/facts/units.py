"""Units of time, in which a number of a fact may count: `discharge = arrival + stay minutes`."""

from __future__ import annotations

from fractions import Fraction

from nacre.schema.constraints.statement import NotUnderstood, Reader, value_text
from nacre.schema.suggest import suggest

SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}
SHORT = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}  # as in `step`
SPELLINGS = {**{unit: unit for unit in SECONDS}, **{unit[:-1]: unit for unit in SECONDS}, **SHORT}
NEARLY = {**SHORT, "sec": "seconds", "m": "minutes", "hr": "hours", "wk": "weeks"}
NO_UNITS = ("month", "quarter", "year")
UNITS = "Units are seconds, minutes, hours, days and weeks"
NO_DIVISION = (
    "there is no `/`. Multiply by a number (`0.5 * a`), or say what a number counts: `arrival + "
    f"stay minutes`. {UNITS}"
)


def read_unit(reader: Reader) -> str:
    """The unit that comes next, in its usual spelling; nothing if none does."""
    word = reader.ahead
    for spelling, unit in SPELLINGS.items():
        if word.lower() == spelling and reader.skip(word):
            return unit
    return ""


def days(unit: str) -> Fraction:
    """How many days it has; without a unit a number counts days.

    Examples:
        >>> days("minutes"), days("")
        (Fraction(1, 1440), Fraction(1, 1))
    """
    return Fraction(SECONDS[unit], SECONDS["days"]) if unit else Fraction(1)


def in_units(length: Fraction) -> tuple[float, str]:
    """So many days as a number of the largest unit that it is a whole number of.

    Examples:
        >>> in_units(Fraction(1, 2880)), in_units(Fraction(3)), in_units(Fraction(1, 2 * 86_400))
        ((30.0, 'seconds'), (3.0, 'days'), (0.5, 'seconds'))
    """
    for unit in ("days", "hours", "minutes"):
        if (length / days(unit)).denominator == 1:
            return float(length / days(unit)), unit
    return float(length / days("seconds")), "seconds"


def length_text(length: Fraction) -> str:
    """A number of days as a statement writes it, such as `30 seconds`."""
    number, unit = in_units(length)
    return f"{value_text(number)} {unit}"


def refuse_rest(reader: Reader) -> None:
    """Refuse what stands behind a formula, with what to write instead."""
    word = reader.ahead
    if not word:
        return
    plain = word.lower().rstrip("s.")
    if word == "/":
        said = NO_DIVISION
    elif word == "*":
        said = "a unit stands behind the whole product: `2 * stay minutes`"
    elif word == "in":
        said = "the unit stands behind the number that counts it: `stay minutes = end - start`"
    elif plain in NO_UNITS:
        said = f"a {plain} has no fixed length. {UNITS}"
    elif plain in NEARLY:
        said = f"write `{NEARLY[plain]}` instead of `{word[:30]}`. {UNITS}"
    elif close := suggest(word, SPELLINGS):
        said = f"`{word[:30]}` is no unit.{close} {UNITS}"
    else:
        said = (
            f"`{word[:30]}` cannot stand there: between columns stands `+`, `-` or `*`, behind a "
            f"number its unit (`arrival + stay minutes`). {UNITS}. A column's name with blanks or "
            "signs stands in backticks"
        )
    raise NotUnderstood(f"{said}.")
