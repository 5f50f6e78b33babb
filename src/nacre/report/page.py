"""The page: what a person reads, in the order of what matters."""

import datetime
from importlib import resources

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.scores.score import CONFIDENTIAL
from nacre.report import chapters
from nacre.report.figures.canvas import drawing
from nacre.report.markup import Markup, join, tag
from nacre.report.overview import overall, scorecard
from nacre.version import __version__

_CLOSING = (
    "This page was computed from private rows and must not be published. The synthetic table may "
    "be, with its guarantee."
)


def render(evaluation: Evaluation) -> str:
    """The whole report as one HTML page that loads nothing."""
    with drawing():
        sections = [
            ("overall", "What to use it for", overall(evaluation)),
            ("scores", "All scores", scorecard(evaluation)),
            ("columns", "Columns", chapters.columns(evaluation)),
            ("pairs", "Pairs of columns", chapters.pairs(evaluation)),
            ("structure", "Structure", chapters.structure(evaluation)),
            ("usefulness", "Usefulness", chapters.usefulness(evaluation)),
            ("privacy", "Privacy", chapters.privacy(evaluation)),
        ]
    sections = [section for section in sections if section[2]]
    body = join(
        tag("div", CONFIDENTIAL, class_="confidential"),
        tag("div", class_="pearl"),
        tag(
            "main",
            _header(evaluation, [(anchor, title) for anchor, title, _ in sections]),
            *(
                tag("section", tag("h2", title), content, id=anchor)
                for anchor, title, content in sections
            ),
            _footer(evaluation),
        ),
    )
    style = Markup(resources.files("nacre.report").joinpath("style.css").read_text("utf-8"))
    head = join(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="robots" content="noindex">'),
        # An empty icon: without one a browser asks the page's folder for favicon.ico.
        Markup('<link rel="icon" href="data:,">'),
        tag("title", f"Evaluation of synthetic data: {', '.join(evaluation.tables)}"),
        tag("style", style),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _header(evaluation: Evaluation, sections: list[tuple[str, str]]) -> Markup:
    first = next(iter(evaluation.comparisons.values()))
    several = len(evaluation.tables) > 1
    tables = "; ".join(
        (f"{name}: " if several else "") + f"{len(c.synthetic):,} synthetic rows"
        for name, c in evaluation.comparisons.items()
    )
    label = f", predicting {evaluation.label}" if evaluation.label else ""
    return tag(
        "header",
        tag("p", "nacre · evaluation report", class_="kicker"),
        tag("h1", "How good are these tables?" if several else "How good is this table?"),
        tag(
            "p",
            f"{tables}, compared with {len(first.real):,} real rows of "
            f"{len(evaluation.schema.names)} columns{label}. "
            f"{datetime.date.today():%d %B %Y}.".replace(" 0", " "),
            class_="lede",
        ),
        tag("nav", *(tag("a", title, href=f"#{anchor}") for anchor, title in sections)),
    )


def _footer(evaluation: Evaluation) -> Markup:
    return tag(
        "footer",
        *(tag("p", note) for note in evaluation.notes),
        tag("p", _CLOSING),
        tag(
            "p",
            f"nacre {__version__}; schema {evaluation.schema.digest[:12]}; computed in "
            f"{evaluation.seconds:.0f} s.",
        ),
    )
