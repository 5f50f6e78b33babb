"""The error that lists everything wrong with a schema, or with a table's fit to it, at once."""

from __future__ import annotations

from collections.abc import Iterable

from nacre.errors import NacreError


class SchemaError(NacreError):
    """Every problem at once, each with its column and what to do.

    Args:
        problems: one finished message, or a list of problems to be put under a heading.
        subject: what has the problems, as the heading names it.
    """

    problems: tuple[str, ...]

    def __init__(self, problems: str | Iterable[str], *, subject: str = "The schema") -> None:
        if isinstance(problems, str):
            self.problems = (problems,)
            super().__init__(problems)
            return
        self.problems = tuple(problems)
        count = len(self.problems)
        heading = f"{subject} has {count} problem{'' if count == 1 else 's'}:"
        super().__init__("\n".join([heading, *(f"  {problem}" for problem in self.problems)]))
