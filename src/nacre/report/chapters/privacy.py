"""The chapter of privacy: the releases behind the guarantee, and some smoke alarms."""

from collections.abc import Mapping
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.figures.canvas import plate
from nacre.report.figures.models import draw_closest
from nacre.report.markup import Markup, join, number, tag

_FIELDS = ("name", "mechanism", "size", "sensitivity", "noise", "steps", "rate", "theorem")


def privacy(evaluation: Evaluation) -> Markup:
    """What was released, and how close synthetic rows come to real ones."""
    parts: list[Any] = [
        lede(
            "Only the guarantee protects people. Distances are smoke alarms: one that is silent "
            "proves nothing."
        )
    ]
    for table in evaluation.tables:
        found = evaluation.guarantees.get(table, {})
        releases = [r for r in found.get("releases") or () if isinstance(r, Mapping)]
        if releases:
            title = "What was released" + (f" for {table}" if len(evaluation.tables) > 1 else "")
            parts += [tag("h3", title), _releases(releases)]
        parts += [tag("p", said, class_="muted") for said in found.get("assumptions") or ()]
    figures = [
        plate(
            draw_closest(comparison, place),
            join(tag("b", f"{table}"), " distance to the closest record; held-out rows in gray"),
            f"Distance to the closest record, {table}",
        )
        for place, (table, comparison) in enumerate(evaluation.comparisons.items())
        if evaluation.score("closest-record", table) is not None
    ]
    alarms = _alarms(evaluation)
    return join(*parts, grid([*figures, alarms] if alarms else figures, "two"))


def _releases(releases: list[Mapping[str, Any]]) -> Markup:
    fields = [f for f in _FIELDS if any(r.get(f) not in (None, "") for r in releases)]
    numeric = {f for f in fields if any(isinstance(r.get(f), int | float) for r in releases)}

    def cell(value: Any) -> str:
        return number(value) if isinstance(value, float) else str("" if value is None else value)

    return data_table(
        [(field, "n") if field in numeric else field for field in fields],
        [
            [(cell(r.get(f)), "n") if f in numeric else cell(r.get(f)) for f in fields]
            for r in releases
        ],
    )


def _alarms(evaluation: Evaluation) -> Markup:
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        known = [score for score in scores if score is not None]
        if metric.group == "privacy" and known:
            values = [(number(None if s is None else s.value), "n") for s in scores]
            rows.append([metric.title, *values, (number(known[0].reference), "n")])
    if not rows:
        return Markup("")
    return data_table(
        ["Alarm", *((table, "n") for table in evaluation.tables), ("held-out rows", "n")], rows
    )
