"""A small form of the public report for notebooks."""

from nacre.evaluate.findings.words import percent
from nacre.publish.public import PublicReport
from nacre.report.markup import Markup, join, number, tag

_COLORS = {"avoid": "#c0392b", "care": "#b07d12", "good": "#2e8b62", "note": "#888888"}


def render_card(report: PublicReport) -> str:
    """The findings, guarantee and bounds; styled inline, as notebooks drop style sheets."""
    parts = [tag("p", tag("b", report.first_line), style="margin:0 0 .6em")]
    parts += [
        tag(
            "div",
            finding.text,
            style=f"border-left:4px solid {_COLORS[finding.level]};padding:.25em .8em;"
            "margin:0 0 .3em",
        )
        for finding in report.findings
    ]
    parts.append(tag("p", f"{report.together}", style="margin:.6em 0"))
    rows = [
        tag("tr", tag("td", band.column), tag("td", percent(band.at_most)))
        for band in sorted(report.bands, key=lambda b: -(b.at_most or 0))
        if band.at_most is not None
    ]
    rows += [
        tag("tr", tag("td", f"{score.name} on private rows"), tag("td", number(score.value)))
        for score in report.scores
    ]
    head = tag("tr", tag("th", ""), tag("th", "off by at most"))
    table = tag("table", tag("thead", head), tag("tbody", *rows)) if rows else Markup("")
    return tag("div", join(*parts, table), style="max-width:60em;line-height:1.45") + Markup("")
