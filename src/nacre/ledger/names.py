"""Names of data sets: two that look alike must not be two budgets for one table."""

from __future__ import annotations

import unicodedata

from nacre.errors import LedgerError

# Not shown either, although Unicode counts them as letters, marks or symbols.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(place)
    for start, end in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for place in range(start, end + 1)
}


def normalized(name: str) -> str:
    """The name in Unicode's compatibility form (NFKC), without spaces around it.

    Examples:
        >>> normalized("  cen\uff53us\u00a02020 ")
        'census 2020'
    """
    return unicodedata.normalize("NFKC", name).strip() if isinstance(name, str) else name


def likeness(name: str) -> str:
    """What is left of a name without case, spaces and what is not shown: alike names share it.

    Examples:
        >>> likeness("Cen\u200bsus  2020") == likeness("census 2020")
        True
    """
    shown = (c for c in normalized(name).casefold() if not c.isspace() and not _invisible(c))
    return "".join(shown)


def check_new(name: str) -> None:
    """Refuse what is not shown (control, zero-width and other such characters) in a new name."""
    if isinstance(name, str) and (hidden := [c for c in name if _invisible(c)]):
        raise LedgerError(
            f"The name {name!r} has a character that is not shown (U+{ord(hidden[0]):04X}): two "
            "budgets could look like one. Leave it out."
        )


def _invisible(character: str) -> bool:
    """Control, format, surrogate, unassigned and private characters, line breaks, fillers."""
    kind = unicodedata.category(character)
    return kind[0] == "C" or kind in ("Zl", "Zp") or character in BLANK
