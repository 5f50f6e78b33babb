"""What the name of a column says of its numbers: that they number things, or stand for words."""

from __future__ import annotations

import re

IDENTIFIERS = re.compile(r"id|ids|uid|uuid|guid|nbr|nr|no|key|mrn|ssn|rowid|index|idx|serial")
CODES = re.compile(
    r"zip|zipcode|postal|postcode|plz|fips|sic|naics|icd|codes?|recode|cd|id|type|class|category|cat"
    r"|status|region|state|county|country|district|sex|gender|race|ethnicity|marital|occupation"
    r"|industry|religion|language|species|make|brand|department|ward"
)


def words(name: str) -> list[str]:
    """The words of a name.

    Examples:
        >>> words("admission_typeId"), words("ZIPCode")
        (['admission', 'type', 'id'], ['zip', 'code'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def numbers_things(name: str) -> bool:
    """Whether the last word is one for an identifier."""
    said = words(name)
    return bool(said) and IDENTIFIERS.fullmatch(said[-1]) is not None


def is_code(name: str) -> bool:
    """Whether some word is one for a code or a category."""
    return any(CODES.fullmatch(word) for word in words(name))
