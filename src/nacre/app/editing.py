"""The fields of a column's form, and what a person has written into them as facts of a schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, final

import yaml

from nacre.app.column import EDITED, ReviewedColumn
from nacre.app.forms import Form
from nacre.app.review import Review
from nacre.errors import NacreError
from nacre.schema import Schema

FIELDS = {
    "integer": ("low", "high", "step", "spikes"),
    "real": ("low", "high", "decimals", "step", "spikes"),
    "categorical": ("values",),
    "ordinal": ("values",),
    "boolean": (),
    "datetime": ("low", "high", "step", "format"),
    "time": ("low", "high", "step", "format"),
}
FLAGS = {
    "categorical": ("other",),
    "integer": ("clamp",),
    "real": ("clamp",),
    "datetime": ("clamp",),
    "time": ("clamp",),
}
LINES = ("values", "spikes", "missing")  # a value a line
HINTS = {
    "low": "the lowest value anybody would expect",
    "high": "the highest value anybody would expect",
    "step": "only if all values are so far apart",
    "decimals": "digits after the point",
    "spikes": "values that many rows share, one a line",
    "values": "one a line",
    "format": "if dates are not written as 2024-12-31 (%d.%m.%Y), or times as 08:30 (%H:%M:%S)",
    "missing": 'codes that stand for a missing value, one a line; "" is an empty cell',
    "other": "gather values that are not listed as ‘other’",
    "clamp": "values beyond the bounds are cut to them on purpose",
    "nullable": "values may be missing",
}


def shown_fields(column: ReviewedColumn, kind: str) -> list[dict[str, Any]]:
    """What a form for a column of this type asks, with what is known."""
    found = []
    for name in (*FIELDS[kind], "missing"):
        value = column.facts.get(name, "")
        if name in LINES:
            value = "\n".join('""' if each == "" else str(each) for each in value or ())
        found.append(
            {"name": name, "lines": name in LINES, "value": str(value), "hint": HINTS[name]}
        )
    return found


def shown_flags(column: ReviewedColumn, kind: str) -> list[dict[str, Any]]:
    """What the form asks to be ticked."""
    names = (*FLAGS.get(kind, ()), "nullable")
    facts = column.facts
    return [
        {"name": name, "hint": HINTS[name], "on": bool(facts.get(name) or _coded(facts, name))}
        for name in names
    ]


def _coded(facts: dict[str, Any], name: str) -> bool:
    return name == "nullable" and bool(facts.get("missing"))


def edited(review: Review, place: int, form: Form) -> Review:
    """The review with what a person wrote of one column; raises SchemaError if it cannot be."""
    column = review.columns[place]
    if form.get("leave_out"):
        return review.changed(place, kept=False, public=False)
    kind = form.get("type")
    if kind not in FIELDS:
        raise NacreError(f"Choose a type: {', '.join(FIELDS)}.")
    facts: dict[str, Any] = {"type": kind}
    for name in (*FIELDS[kind], "missing"):
        text = form.get(name)
        if name in LINES and text:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            facts[name] = ["" if line == '""' else line for line in lines]
        elif text:
            facts[name] = text
    for flag in (*FLAGS.get(kind, ()), "nullable"):
        if form.get(flag):
            facts[flag] = True
    settled = Schema.from_dict({"columns": {column.name: facts}}).columns[column.name].to_dict()
    same = settled == column.facts
    rare = tuple(each for each in column.rare if _still(each, settled, column.facts))
    return review.changed(
        place,
        facts=settled,
        kept=True,
        rare=rare,
        source=column.source if same else EDITED,
        public=bool(form.get("public")),
    )


def _still(rare: str, facts: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether what few rows hold still stands there."""
    if rare in before.get("missing", ()):
        return rare in (*facts.get("missing", ()), *facts.get("values", ()))
    if "values" in before:
        return rare in facts.get("values", ())
    return str(facts.get(rare)) == str(before.get(rare))


def remembered(review: Review, form: Form) -> Review:
    """The review with label, rules and suggestions as far as they are said by now."""
    rest = Form([pair for pair in form.fields if not pair[0].startswith("unit_")])
    try:
        found = whole(review, rest)
    except NacreError:
        return review
    return dataclasses.replace(found, unit=review.unit, columns=review.columns)


def by_persons(review: Review, column: str, found: Mapping[str, Any]) -> Review:
    """The review with marks for what few persons hold; what is newly marked waits again.

    `found` is what `nacre.app.work.count_persons` has read from the rows.
    """
    columns = []
    for each in review.columns:
        before = found["facts"].get(each.name)
        if before is None:
            columns.append(each)
            continue
        rare = tuple(r for r in found["rare"][each.name] if _still(r, each.facts, before))
        public = each.public and set(rare) <= set(each.rare)
        columns.append(dataclasses.replace(each, rare=rare, holders="persons", public=public))
    same = tuple(found["same"])
    return dataclasses.replace(review, columns=tuple(columns), counted=column, same=same)


def gathered(review: Review, place: int) -> Review:
    """The review with a column's rare values gathered as 'other'; the others are still to tick."""
    column = review.columns[place]
    if not column.gatherable:
        raise NacreError("There is nothing to gather: write the list of values that are public.")
    values = [value for value in column.listed if value not in column.rare]
    facts = column.facts | {"values": values, "other": True}
    rare = tuple(fact for fact in column.rare if fact not in column.listed)
    return review.changed(place, facts=facts, rare=rare, source=EDITED, public=False)


def all_gathered(review: Review) -> Review:
    """The review with the rare values of every list gathered, but those of the label."""
    for place, column in enumerate(review.columns):
        if column.gatherable and column.name != review.label:
            review = gathered(review, place)
    return review


@final
class Plain(yaml.BaseLoader):
    """Text and mappings alone: a line that refers to itself could grow without bounds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """See PyYAML; refuses what was named before."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a reference")
        return super().compose_node(parent, index)


def statements(text: str) -> tuple[Any, ...]:
    """Constraints or facts, one a line; `forbid: {sex: Male, pregnant: yes}` is a mapping."""
    found: list[Any] = []
    for line in (each.strip() for each in text.splitlines()):
        if not line:
            continue
        try:
            said = yaml.load(line, Loader=Plain) if ":" in line else line
        except (yaml.YAMLError, RecursionError):
            said = line
        found.append(said if isinstance(said, dict) else line)
    return tuple(found)


def written(said: tuple[Any, ...]) -> str:
    """The lines that `statements` reads."""
    lines = []
    for each in said:
        if isinstance(each, str):
            lines.append(each)
            continue
        flow = yaml.safe_dump(
            each, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
        )
        lines.append(flow.strip()[1:-1])
    return "\n".join(lines)


def whole(review: Review, form: Form) -> Review:
    """The review with what a person said of all columns together: label, unit, rules."""
    label = form.get("label") or None
    unit: dict[str, Any] | None = None
    column, rows = form.get("unit_column"), form.get("unit_rows")
    if column:
        unit = {"column": column, "rows": rows or "1"}
        constant = [name.strip() for name in form.get("unit_constant").split(",") if name.strip()]
        ticked = form.places("same")
        constant += [name for place, name in enumerate(review.same) if place in ticked]
        unit |= {"constant": list(dict.fromkeys(constant))} if constant else {}
    taken = form.places("suggested")
    before = (review.unit or {}).get("column")
    columns = tuple(
        # No column of the schema while it is the unit, and one again when it no longer is.
        dataclasses.replace(each, kept=each.name != column, public=False)
        if (each.name == column) != (each.name == before)
        else each
        for each in review.columns
    )
    found = dataclasses.replace(
        review,
        columns=columns,
        label=None if label == column else label,
        unit=unit,
        constraints=statements(form.get("constraints")),
        facts=statements(form.get("facts")),
        suggested=tuple(
            each | {"taken": place in taken} for place, each in enumerate(review.suggested)
        ),
    )
    found.schema(reviewed=False)
    return found
