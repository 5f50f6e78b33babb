"""Numbers and lists as a sentence says them."""

from collections.abc import Sequence
from typing import Any


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


def more(listed: Sequence[Any], shown: int) -> str:
    """How many of `listed` were left unsaid after the first `shown`.

    Examples:
        >>> more("abcde", 3), more("ab", 3)
        (' and 2 more', '')
    """
    return f" and {len(listed) - shown} more" if len(listed) > shown else ""
