"""What several chapters share: the key of colors, and how bad a gap is."""

import re
from collections.abc import Iterable
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.find import AVOID_TV, CARE_TV
from nacre.report.markup import Markup, tag


def key(evaluation: Evaluation, real: str = "real") -> Markup:
    """Which color is which table."""
    return tag(
        "p",
        tag("span", real, class_="area", style="--color: var(--real)"),
        *(
            tag("span", table, class_="dot", style=f"--color: var(--series-{place % 5 + 1})")
            for place, table in enumerate(evaluation.tables)
        ),
        class_="key",
    )


def grid(figures: Iterable[Any], columns: str = "three") -> Markup:
    """Figures beside each other, as many as the page has room for."""
    return tag("div", *figures, class_=f"grid {columns}")


def lede(words: str) -> Markup:
    """The sentence under a chapter's title."""
    return tag("p", words, class_="section-lede")


def level(gap: float, bad: float = AVOID_TV, doubt: float = CARE_TV) -> str | None:
    """The class of a number that is this much worse than real data's.

    Example:
        >>> level(0.2), level(0.07), level(0.01)
        ('bad', 'doubt', None)
    """
    return "bad" if gap > bad else "doubt" if gap > doubt else None


def of_table(
    evaluation: Evaluation, table: str | None, content: Any, *, mark: bool = False
) -> Markup:
    """A number with its table's color before it, where there are several; None is the real one."""
    if not mark and len(evaluation.tables) == 1:
        return tag("span", content)
    place = None if table is None else evaluation.tables.index(table) % 5 + 1
    color = "real" if place is None else f"series-{place}"
    return tag(
        "span", content, class_="of", title=table or "real", style=f"--color: var(--{color})"
    )


def shades(
    gaps: Iterable[float], words: str, bad: float = AVOID_TV, doubt: float = CARE_TV
) -> Markup:
    """What the colors of numbers mean, if any of these numbers is colored.

    In `words` the limit stands as %, for a share, or #.
    """
    if not {level(gap, bad, doubt) for gap in gaps} - {None}:
        return Markup("")
    said = [f"{100 * limit:g}%" if "%" in words else f"{limit:g}" for limit in (doubt, bad)]
    words = re.sub("[%#]", said[0], words)
    return tag(
        "p",
        tag("span", "Amber", class_="doubt"),
        f": {words}. ",
        tag("span", "Red", class_="bad"),
        f": more than {said[1]}.",
        class_="shades",
    )


def data_table(head: Iterable[Any], rows: Iterable[Iterable[Any]], class_: str = "") -> Markup:
    """A table whose cells are (content, class) or just content."""

    def cell(kind: str, content: Any) -> Markup:
        if isinstance(content, tuple):
            return tag(kind, content[0], class_=content[1])
        return tag(kind, content)

    table = tag(
        "table",
        tag("thead", tag("tr", *(cell("th", content) for content in head))),
        tag("tbody", *(tag("tr", *(cell("td", content) for content in row)) for row in rows)),
        class_=class_ or None,
    )
    return tag("div", table, class_="scroll")
