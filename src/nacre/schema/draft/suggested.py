"""Facts and constraints that the rows keep, written so that a person can confirm them as public."""

from __future__ import annotations

import dataclasses
from typing import Any, final

import yaml

HEAD = """\
# Found in the rows, and so not part of the schema: whether these are public, only a person can
# know. Take the `# ` away from those that are (and from the line above them), delete the rest.
"""
SOME = "# They hold in {:,} of the rows; `nacre schema check` counts those that break them.\n"


@final
@dataclasses.dataclass(frozen=True)
class Suggested:
    """What every row that was looked at keeps.

    Attributes:
        facts: plain forms, as `Schema` takes them.
        constraints: likewise.
        rows: how many rows were looked at; None for all of them.
    """

    facts: tuple[Any, ...] = ()
    constraints: tuple[Any, ...] = ()
    rows: int | None = None

    def to_yaml(self) -> str:
        """Comments, to stand behind a schema; nothing if there is nothing to suggest."""
        if not self.facts and not self.constraints:
            return ""
        text = HEAD
        if self.rows is not None:
            text += SOME.format(self.rows)
        for name, said in (("constraints", self.constraints), ("facts", self.facts)):
            if said:
                lines = [f"{name}:", *(line for each in said for line in entry_lines(each))]
                text += "".join(f"# {line}\n" for line in lines)
        return text

    def describe(self) -> str:
        """How many there are, for the terminal."""
        count = len(self.facts) + len(self.constraints)
        if not count:
            return ""
        what = (
            "1 fact that every row keeps stands" if count == 1 else f"{count} facts that every row"
        )
        return (
            f"{what if count == 1 else f'{what} keeps stand'} at the end of the draft, commented "
            "out: confirm what is public, and it need not be learned."
        )


def entry_lines(said: Any) -> list[str]:
    """One entry of a YAML list; a look-up table is filled into lines."""
    table = not isinstance(said, str)
    written = yaml.safe_dump(
        [said],
        default_flow_style=None if table else False,
        sort_keys=False,
        allow_unicode=True,
        width=90 if table else 10**6,
    )
    return [f"  {line}" for line in written.splitlines()]
