"""The documentation's pages and the code blocks in them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# logistic.md has a test of its own, tests/vault/test_logistic.py.
PAGES = sorted(page for page in DOCS.glob("*.md") if page.name != "logistic.md")
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')


@dataclasses.dataclass(frozen=True)
class Block:
    """One fenced block: its language, title and text, and where it starts."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page that name a language."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        title = TITLE.search(match[2])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], title and title[1], match[3], line))
    return found


def settings(page: Path, heading: str = "## Settings") -> dict[str, tuple[str, str]]:
    """The table of settings of a method's page: name to default and meaning, as written."""
    section = page.read_text(encoding="utf-8").partition(f"{heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+?) \| ([^|]+?) \|$", section, re.MULTILINE)
    return {name: (default, meaning) for name, default, meaning in rows}
