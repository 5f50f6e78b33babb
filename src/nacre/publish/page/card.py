"""A small form of the public report for notebooks."""

from nacre.evaluate.findings.words import percent
from nacre.publish.public import PublicReport
from nacre.report.builder import fill
from nacre.report.builder.text import number


def render_card(report: PublicReport) -> str:
    """The findings, guarantee and bounds."""
    known = [(band.column, band.at_most) for band in report.bands if band.at_most is not None]
    known.sort(key=lambda found: -found[1])
    lines = [(column, percent(at_most)) for column, at_most in known]
    lines += [(f"{score.name} on private rows", number(score.value)) for score in report.scores]
    return fill(
        "card.html",
        banner=report.first_line,
        tables=[{"name": "", "findings": report.findings}],
        guarantee=str(report.together),
        head=["", "off by at most"],
        rows=[[{"text": text, "title": None} for text in line] for line in lines],
    )
