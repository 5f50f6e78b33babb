"""The YAML form of a schema: read without guessing types, written with comments."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column, as_flag, as_whole, shown
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.columns.unreadable import Unreadable
from nacre.schema.errors import SchemaError
from nacre.schema.unit import KEYS as UNIT_KEYS
from nacre.schema.unit import unknown_keys

VERSION = 1
WIDTH = 96  # of a written line, two blanks of indent apart
TYPES: dict[str, type[Column]] = {
    column.type: column for column in (Integer, Real, Categorical, Ordinal, Boolean, Datetime, Time)
}
KEYS = (
    "nacre",
    "label",
    "unit",
    "provenance",
    "reviewed",
    "columns",
    "constraints",
    "facts",
    "protect",
    "releases",
)
GUIDE = """\
# A nacre schema: only facts that are public anyway, because models carry them in the open.
# Each column has a `type`, and may be `nullable: true` (values may be missing); `missing: [N, -9]`
# says which codes stand for a missing value, of which the first is written again:
#   integer      low, high, step      whole numbers; what lies outside is clamped
#   real         low, high, decimals  `decimals` digits after the point (leave out for any)
#                `step: 100` means low, low + 100, ...; `spikes: [999]` values that many rows share
#   categorical  values, other        `other: true` gathers values that are not listed
#   ordinal      values               listed from lowest to highest
#   boolean                           true or false
#   datetime     low, high, step      `step` is the resolution, such as 1d, 1h, 15min, 1s
#                `format: '%d.%m.%Y'` where dates are not written as 2024-12-31
#   time         low, high, step      times of day such as 08:30; `step` is 1h, 15min, 1min or 1s
# Numbers and dates with `clamp: true` are cut to the bounds on purpose, and nobody is warned.
# `values` are text: no, 1 and null mean just these words.
# After the columns, `constraints` may list what every sampled row satisfies, such as
# `start <= end`, `age >= 18 if employed = yes`, `forbid: {sex: Male, pregnant: yes}`, and `facts`
# what follows from other columns and need not be learned, such as `total = a + b`,
# `departure = arrival + nights` (a date and days), `discharge = arrival + stay minutes` (or
# seconds, hours, weeks), `charges = months * price within 5`,
# `end is missing exactly when status = open`, `group determined by code: {A1: A, B1: B}` (where
# the code may be missing, and the group then be any: `group determined by code if known`).
# `protect: [[age, wage]]` asks to hide the distribution of columns; only the method ppem does.
"""
LABEL = "# The column that models learn to predict.\n"
UNIT = """\
# Whose privacy it is: `column` tells persons apart (it is never fitted), at most `rows` rows of a
# person count, and columns that are `constant` do not change within a person.
"""
PROVENANCE = """\
# Where these facts come from: declared (known without the rows), data (read from the rows, so
# not private), private (paid for with privacy budget; see `releases`).
"""
REVIEW = """\
# Set this to true once a person has checked that every bound and value below is public: would
# anybody know it without seeing this table? Until then a fit refuses the schema.
"""
IMAGES = """\
# A nacre schema of images: only public facts, because models carry them in the open.
#   images   height, width, channels (1 gray, 3 color); for files also `crop: 178` (a square around
#            the center, in pixels) and `resize: true` (bring other sizes to this one)
#   classes  the values of the label, in order; `classes: 10` means 0 to 9; none without a label
"""
REVIEW_IMAGES = """\
# Set this to true once a person has checked that size and classes below are public: would anybody
# know them without seeing these images? Until then a fit refuses the schema.
"""
CONSTRAINTS = "# What every sampled row satisfies; rows that are fitted may break it.\n"
FACTS = "# What follows from other columns in every row: it is computed, not learned.\n"
PROTECT = "# Columns whose joint distribution is itself a secret; the method ppem hides it.\n"
RELEASES = """\
# What a private draft or bought tables released; a fit adds its cost to its own. A fact that is
# `bought: 2-5d0e8c1f9a27b346` is from the second of these, has that one's fingerprint, and is
# refused without it. Whoever deletes a line here deletes the record of what was spent.
"""


def read(path: Path) -> dict[str, Any]:
    """The content of a schema file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SchemaError(
            f"There is no schema file '{path}'. Check the path, or make one with "
            "`nacre schema draft`."
        ) from None
    except UnicodeDecodeError:
        raise SchemaError(f"The schema '{path}' is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise SchemaError(f"'{path}' cannot be read as a schema: {error.strerror}.") from None
    return load(text, f"The schema '{path}'")


WRITTEN_OUT = 1_000_000  # values, aliases written out, that any schema may have


def load(text: str, name: str = "The schema") -> dict[str, Any]:
    """YAML as text, lists and mappings: only in `releases` are there numbers and Booleans."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(text, Loader=loader)
        if not isinstance(root, yaml.MappingNode):
            raise SchemaError(f"{name} must be a mapping with `columns:`; this is not one.")
        said = _Reader(max(WRITTEN_OUT, len(text))).mapping(root)
        for key, node in root.value:
            if key.value == "label" and node.tag == "tag:yaml.org,2002:null":
                said["label"] = None
            if key.value == "releases":
                said["releases"] = yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise SchemaError(f"{name} is not valid YAML{where}: {error.problem}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"{name} is not valid YAML.") from None
    return said


class _Reader:
    """Nodes as plain values with every scalar left as written: no, 1, null, 2000-01-01."""

    def __init__(self, most: int) -> None:
        self.open: set[int] = set()
        self.done: dict[int, Any] = {}  # an alias is the same value again, not a copy
        self.sizes: dict[int, int] = {}  # with aliases written out, as whoever reads on will do
        self.most, self.size = most, 0

    def value(self, node: yaml.Node) -> Any:
        before = self.size
        if id(node) in self.done:
            self._grow(self.sizes[id(node)])
            return self.done[id(node)]
        if id(node) in self.open:
            raise SchemaError("The schema has a YAML alias inside its own anchor. Remove it.")
        self.open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self.done[id(node)] = self.mapping(node)
        elif isinstance(node, yaml.SequenceNode):
            self.done[id(node)] = [self.value(item) for item in node.value]
        else:
            self.done[id(node)] = node.value
        self._grow(1)
        self.sizes[id(node)] = self.size - before
        return self.done[id(node)]

    def _grow(self, size: int) -> None:
        self.size += size
        if self.size > self.most:
            raise SchemaError("The schema's YAML aliases repeat too much. Write it without them.")

    def mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise SchemaError(f"Line {key.start_mark.line + 1}: a name must be plain text.")
            if key.value in found:
                line = key.start_mark.line + 1
                raise SchemaError(f"Line {line}: {shown(key.value)} is there twice. Remove one.")
            found[key.value] = self.value(item)
        return found


def unpack(said: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A schema's fields from its plain form, and the problems outside its columns."""
    problems = [
        f"`{key}` is not known here.{_suggest(key, KEYS)}"
        for key in map(str, said)
        if key not in KEYS
    ]
    problems += [
        f"unit: `{key}` is not known.{_suggest(key, UNIT_KEYS)}"
        for key in unknown_keys(said.get("unit"))
    ]
    if as_whole(said.get("nacre", VERSION)) != VERSION:
        problems.append(
            f"nacre: {shown(said['nacre'])} is not a schema version known here. "
            f"This is version {VERSION}; a later nacre may read it."
        )
    columns, label = said.get("columns", {}), said.get("label")
    if not isinstance(columns, Mapping):
        problems.append("`columns` must be a mapping from names to facts.")
        columns, label = {"?": Unreadable(reasons=())}, None  # nothing more can be said of either
    releases = said.get("releases") or ()
    if not isinstance(releases, list | tuple):
        problems.append("`releases` must be a list, as nacre writes it.")
        releases = ()
    parts = {
        "columns": {name: column(facts) for name, facts in columns.items()},
        "label": None if label == "" else label,
        "provenance": said.get("provenance", "declared"),
        "reviewed": as_flag(said.get("reviewed", False)),
        "releases": tuple(releases),
        "constraints": said.get("constraints") or (),
        "facts": said.get("facts") or (),
        "protect": said.get("protect") or (),
        "unit": said.get("unit"),
    }
    return parts, problems


def column(facts: Any) -> Column:
    """One column from its plain form; problems are kept for `Schema` to report."""
    if isinstance(facts, Column):
        return facts
    if not isinstance(facts, Mapping):
        return Unreadable(reasons=("describe it as {type: ..., ...}.",))
    known = TYPES.get(facts["type"]) if isinstance(facts.get("type"), str) else None
    if known is None:
        given = f"type {shown(facts['type'])} is not known" if "type" in facts else "no type given"
        hint = _suggest(str(facts.get("type", "")), TYPES)
        return Unreadable(reasons=(f"{given}. Use one of {', '.join(TYPES)}.{hint}",))
    fields = dataclasses.fields(known)
    names = [field.name for field in fields]
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    reasons = [
        f"`{name}` is not known for type {known.type}.{_suggest(name, names)}"
        for name in map(str, facts)
        if name not in (*names, "type")
    ]
    reasons += [_needs(name, known.type) for name in needed if name not in facts]
    if reasons:
        return Unreadable(reasons=tuple(reasons))
    return known(**{name: facts[name] for name in names if name in facts})


def _needs(name: str, type_name: str) -> str:
    if name == "values":
        return Categorical(values=()).problems()[0]
    return f"no {name} given. A column of type {type_name} needs a public bound `{name}`."


def _suggest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), known, 1)
    return f" Did you mean {close[0]}?" if close else ""


def dump(
    said: Mapping[str, Any],
    remarks: Mapping[str, Iterable[str]] | None = None,
    last: Iterable[str] = (),
) -> str:
    """The YAML text of a schema's plain form, with comments.

    Args:
        said: the plain form.
        remarks: a column's own comments, above it.
        last: comments below all columns.
    """
    parts = [GUIDE, _yaml({"nacre": said["nacre"]})]
    if "label" in said:
        parts += [LABEL, _yaml({"label": said["label"]})]
    if "unit" in said:
        parts += [UNIT, column_lines("unit", said["unit"]).removeprefix("  ")]
    if said["provenance"] != "declared" or said["reviewed"]:
        parts += [PROVENANCE, _yaml({"provenance": said["provenance"]})]
    # A fit asks for a review only of what was read from the rows.
    if said["provenance"] == "data" or said["reviewed"]:
        parts += [REVIEW] * (said["provenance"] == "data")
        parts += [_yaml({"reviewed": said["reviewed"]})]
    parts.append("columns:\n")
    for name, facts in said["columns"].items():
        parts += [f"  {line}\n" for line in (remarks or {}).get(name, ())]
        parts.append(column_lines(name, facts))
    parts += [f"  {line}\n" for line in last]
    if "constraints" in said:
        parts += [CONSTRAINTS, _yaml({"constraints": said["constraints"]}, width=10**6)]
    if "facts" in said:
        parts += [FACTS, _yaml({"facts": said["facts"]}, width=10**6)]
    if "protect" in said:
        parts += [PROTECT, _yaml({"protect": said["protect"]})]
    if "releases" in said:
        parts += [RELEASES, _yaml({"releases": said["releases"]})]
    return "".join(parts)


def facts_yaml(facts: Iterable[Any], releases: Iterable[Mapping[str, Any]]) -> str:
    """Only facts, and what they were bought with, as `dump` writes them."""
    bought = _yaml({"releases": [dict(release) for release in releases]})
    return _yaml({"facts": list(facts)}, width=10**6) + bought


def dump_images(said: Mapping[str, Any]) -> str:
    """The YAML text of the plain form of a schema of images, with comments."""
    parts = [IMAGES, _yaml({"nacre": said["nacre"]})]
    if "label" in said:
        parts.append(_yaml({"label": said["label"]}))
    if said["provenance"] != "declared" or said["reviewed"]:
        parts += [_yaml({"provenance": said["provenance"]})]
        parts += [REVIEW_IMAGES] * (said["provenance"] == "data")
        parts += [_yaml({"reviewed": said["reviewed"]})]
    parts.append(column_lines("images", said["images"]).removeprefix("  "))
    if "classes" in said:
        parts.append(_yaml({"classes": said["classes"]}, flow=True, width=WIDTH)[1:-2] + "\n")
    return "".join(parts)


def column_lines(name: str, facts: Mapping[str, Any]) -> str:
    """One column on one line where it fits, as a block where it does not."""
    line = _yaml({name: facts}, flow=True, width=10**6)[1:-2]  # without the outer braces
    if len(line) <= WIDTH and "\n" not in line:
        return f"  {line}\n"
    block = _yaml({name: facts}, flow=None)
    return "".join(f"  {each}" for each in block.splitlines(keepends=True))


def _yaml(value: Any, *, flow: bool | None = False, width: int = WIDTH) -> str:
    return yaml.dump(
        value,
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
        default_flow_style=flow,
        sort_keys=False,
        allow_unicode=True,
        width=width,
    )
