"""A small form of the report for notebooks."""

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.scores.score import CONFIDENTIAL
from nacre.report.markup import Markup, join, number, tag

_COLORS = {"avoid": "#c0392b", "care": "#b07d12", "good": "#2e8b62", "note": "#888888"}


def render_card(evaluation: Evaluation) -> str:
    """The findings and the overall scores; styled inline, as notebooks drop style sheets."""
    parts = [tag("p", tag("b", CONFIDENTIAL), style="margin:0 0 .6em")]
    for table in evaluation.tables:
        parts.append(tag("p", tag("b", table), style="margin:.4em 0 .2em"))
        parts += [
            tag(
                "div",
                finding.text,
                style=f"border-left:4px solid {_COLORS[finding.level]};padding:.25em .8em;"
                "margin:0 0 .3em",
            )
            for finding in evaluation.findings[table]
        ]
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        if any(scores):
            first = next(score for score in scores if score is not None)
            rows.append(
                tag(
                    "tr",
                    tag("td", metric.title, title=metric.meaning),
                    *(tag("td", number(None if s is None else s.value)) for s in scores),
                    tag("td", number(first.reference)),
                    tag("td", metric.goal),
                )
            )
    head = tag(
        "tr",
        *(tag("th", name) for name in ("", *evaluation.tables, "real data", "better")),
    )
    table = tag("table", tag("thead", head), tag("tbody", *rows), style="margin-top:.8em")
    return tag("div", join(*parts, table), style="max-width:60em;line-height:1.45") + Markup("")
