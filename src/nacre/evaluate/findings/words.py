"""Numbers and lists as a sentence says them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

LONGEST = 500  # entries of a list that can be opened


def percent(share: float) -> str:
    """A share for reading.

    Examples:
        >>> percent(0.1234), percent(0.0123), percent(0.0001), percent(0.0)
        ('12%', '1.2%', '0.01%', '0%')
    """
    hundredths = share * 100
    if hundredths >= 10:
        return f"{hundredths:.0f}%"
    return f"{hundredths:.2g}%" if hundredths >= 0.005 else ("0%" if hundredths == 0 else "<0.01%")


class Listed(NamedTuple):
    """A list as a sentence says it.

    Attributes:
        text: the first few, and how many more there are.
        rest: these others, for whoever wants to see all.
    """

    text: str
    rest: tuple[str, ...]


def listed(said: Sequence[str], shown: int, between: str = ", ") -> Listed:
    """The first `shown` in words, the others beside them.

    Examples:
        >>> listed(["a", "b", "c"], 1)
        Listed(text='a and 2 more', rest=('b', 'c'))
        >>> listed(["a", "b"], 2).text
        'a, b'
    """
    rest = said[shown:]
    beyond = [f"and {len(rest) - LONGEST:,} more"] if len(rest) > LONGEST else []
    return Listed(between.join(said[:shown]) + more(said, shown), (*rest[:LONGEST], *beyond))


def more(listed: Sequence[Any], shown: int) -> str:
    """How many of `listed` were left unsaid after the first `shown`.

    Examples:
        >>> more("abcde", 3), more("ab", 3)
        (' and 2 more', '')
    """
    return f" and {len(listed) - shown:,} more" if len(listed) > shown else ""
