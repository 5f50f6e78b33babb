"""Brings the code's docstrings into the form that the reference renders well."""

import re
from typing import Any

import griffe

# "Releases:   what", "numbers   what": a name, at least two blanks, a meaning.
HEADING = re.compile(r"^(?P<name>[A-Z][a-z]+(?: [a-z]+)?): {1,}(?P<text>\S.*)$")
ALIGNED = re.compile(r"^(?P<name>[a-z_]+(?:, [a-z_]+)*) {2,}(?P<text>\S.*)$")
SECTIONS = ("Args", "Attributes", "Examples", "Returns", "Raises")


class Docstrings(griffe.Extension):
    """Doctests become code, aligned lists become lists; what is a section already stays."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite a docstring before it is parsed."""
        if obj.docstring is not None:
            summary, *rest = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join([summary, *map(rewrite, rest)])


def rewrite(paragraph: str) -> str:
    """One paragraph of a docstring."""
    lines = paragraph.split("\n")
    if lines[0] == "Example:":  # the parser knows the plural only
        return "\n".join(["Examples:", *lines[1:]])
    if lines[0].startswith(">>> "):
        return "\n".join(["```pycon", *lines, "```"])
    if lines[0].partition(":")[0] in SECTIONS or lines[0].startswith(" "):
        return paragraph
    found: list[str] = []
    for line in lines:
        heading, aligned = HEADING.match(line), ALIGNED.match(line)
        if heading:
            found.append(f"- **{heading['name']}**: {heading['text']}")
        elif aligned:
            names = aligned["name"].replace(", ", "`, `")
            found.append(f"- `{names}`: {aligned['text']}")
        elif found and line.startswith(" "):
            found[-1] += " " + line.strip()
        elif found and found[-1].startswith("- "):
            return paragraph  # not a list after all
        else:
            found.append(line)
    first = next((i for i, line in enumerate(found) if line.startswith("- ")), None)
    if first:
        found.insert(first, "")
    return "\n".join(found)
