"""The page that everybody may read: what the table is, how far it may be off, what it cost."""

from collections.abc import Sequence
from importlib import resources
from typing import Any

from nacre.evaluate.findings.finding import Finding
from nacre.publish.public import PublicReport
from nacre.report.chapters.common import lede
from nacre.report.figures.canvas import drawing
from nacre.report.markup import Markup, join, tag
from nacre.report.public.columns import columns, facts
from nacre.report.public.guarantee import guarantees, releases
from nacre.report.public.prediction import links, prediction


def render(report: PublicReport) -> str:
    """The whole page; it loads nothing, and the same report gives the same bytes."""
    with drawing():
        sections = [
            ("short", "In short", _short(report)),
            ("columns", "Columns", columns(report)),
            ("prediction", "Prediction", prediction(report)),
            ("links", "Links between columns", links(report)),
            ("facts", "What the columns are", facts(report)),
            ("releases", "What was released", releases(report)),
        ]
    sections = [section for section in sections if section[2]]
    body = join(
        tag("div", report.first_line, class_="public"),
        tag("div", class_="pearl"),
        tag(
            "main",
            _header(report, [(anchor, title) for anchor, title, _ in sections]),
            *(
                tag("section", tag("h2", title), content, id=anchor)
                for anchor, title, content in sections
            ),
            _footer(report),
        ),
    )
    head = join(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        # An empty icon: without one a browser asks the page's folder for favicon.ico.
        Markup('<link rel="icon" href="data:,">'),
        tag("title", "Public report on synthetic data"),
        tag("style", _style("nacre.report", "style.css"), _style(__package__, "public.css")),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _style(package: Any, name: str) -> Markup:
    return Markup(resources.files(package).joinpath(name).read_text("utf-8"))


def _header(report: PublicReport, sections: list[tuple[str, str]]) -> Markup:
    rows, names = report.table.rows, report.schema.names
    origin = (
        "given by the publisher"
        if report.table.seed is None
        else f"drawn with seed {report.table.seed}, so that whoever has the model can make this "
        "very page again"
    )
    label = f" The label is {report.schema.label}." if report.schema.label else ""
    return tag(
        "header",
        tag("p", "nacre · public report", class_="kicker"),
        tag("h1", "How far can this table be trusted?"),
        tag(
            "p",
            f"{len(rows):,} synthetic rows of {len(names)} columns from a {report.method} model, "
            f"{origin}.{label}",
            class_="lede",
        ),
        tag("nav", *(tag("a", title, href=f"#{anchor}") for anchor, title in sections)),
    )


def _short(report: PublicReport) -> Markup:
    words = "What the releases allow to say about this table, worst first."
    return join(lede(words), finding_list(report.findings), guarantees(report))


def finding_list(findings: Sequence[Finding]) -> Markup:
    """Findings in words, as the report for the data holder shows them."""
    return tag(
        "ul",
        *(
            tag("li", tag("b", f"{f.mark} {f.topic}"), tag("span", f.text), class_=f.level)
            for f in findings
        ),
        class_="findings",
    )


def _footer(report: PublicReport) -> Markup:
    made = "; ".join(f"{name} {version}" for name, version in report.versions.items())
    return tag(
        "footer",
        tag("p", report.first_line),
        tag("p", f"Schema {report.schema.digest[:12]}. The model was made with {made}."),
    )
