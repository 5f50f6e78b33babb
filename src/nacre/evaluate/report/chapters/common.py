"""How bad a gap is, and what its color says."""

from collections.abc import Iterable
from typing import Any

from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.report.builder import Shades

Context = dict[str, Any]
"""What a template is given, by name."""


def level(gap: float, bad: float = AVOID_TV, doubt: float = CARE_TV) -> str | None:
    """The class of a number that is this much worse than real data's.

    Examples:
        >>> level(0.2), level(0.07), level(0.01)
        ('bad', 'doubt', None)
    """
    return "bad" if gap > bad else "doubt" if gap > doubt else None


def shades(
    gaps: Iterable[float], words: str, limits: tuple[float, float], form: str = "{:g}"
) -> Shades | None:
    """What the colors of numbers mean, if any of these numbers is colored.

    Args:
        gaps: the numbers.
        words: what the lower limit means, with {} in its place.
        limits: of red and of amber.
        form: how a limit is written.
    """
    bad, doubt = limits
    if not {level(gap, bad, doubt) for gap in gaps} - {None}:
        return None
    return Shades(words.format(form.format(doubt)), f"more than {form.format(bad)}")
