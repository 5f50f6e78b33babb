"""Whether two numbers may be amounts of one kind, by what their names say: money, time, lengths."""

from __future__ import annotations

from nacre.schema.draft.names import words

# What a number is an amount of, and the words that say so; a unit is a kind within a kind.
KINDS = {
    "money": "fare fares price prices cost costs fee fees amount refund refunds paid payment pay "
    "charge charges wage wages salary income revenue turnover tax vat balance budget discount tip "
    "toll premium deposit rent loan debt credit debit eur euro euros usd dollar dollars gbp chf",
    "time": "time delay delays duration wait waiting stay age tenure lag",
    "time second": "second seconds sec secs",
    "time minute": "minute minutes mins",
    "time hour": "hour hours hrs",
    "time day": "day days night nights",
    "time week": "week weeks",
    "time month": "month months",
    "time year": "year years yrs",
    "mass": "weight mass",
    "mass kilogram": "kg kilo kilos kilogram kilograms",
    "mass gram": "gram grams",
    "mass pound": "lb lbs pound pounds",
    "length": "length height width depth distance altitude elevation",
    "length meter": "meter meters metre metres",
    "length centimeter": "cm centimeter centimeters",
    "length kilometer": "km kilometer kilometers",
    "length mile": "mile miles",
    "area": "area sqft sqm acres hectares",
    "temperature": "temperature temp celsius fahrenheit kelvin",
    "pressure": "pressure systolic diastolic bp mmhg",
    "share": "percent percentage pct ratio score rating grade",
    "count": "count counts quantity qty items visits passengers seats persons people children "
    "rooms",
}
LOOSE = {"share", "count"}  # children and rooms are both counted, and yet not of one kind
SAID = {word: kind for kind, some in KINDS.items() for word in some.split()}


def alike(first: str, second: str) -> bool | None:
    """Whether two names speak of one kind: of one unit, where both have one; None if unsaid.

    Examples:
        >>> alike("refund", "delay_minutes"), alike("stay_hours", "stay_minutes")
        (False, False)
        >>> alike("refund", "fare"), alike("wait", "stay_minutes"), alike("x_low", "x_high")
        (True, True, True)
        >>> alike("a", "fare") is None
        True
    """
    kinds = [{SAID[word] for word in words(name) if word in SAID} for name in (first, second)]
    if all(kinds):
        same = {one for one in kinds[0] for other in kinds[1] if _within(one, other)}
        if not same or _apart(*kinds):
            return False
        if same - LOOSE:
            return True
    return True if set(words(first)) & set(words(second)) else None


def _within(one: str, other: str) -> bool:
    """Whether one kind is the other, or a unit of it."""
    return one == other or one.startswith(f"{other} ") or other.startswith(f"{one} ")


def _apart(first: set[str], second: set[str]) -> bool:
    """Whether both have units, and none in common."""
    units = [{kind for kind in kinds if " " in kind} for kinds in (first, second)]
    return all(units) and not units[0] & units[1]
