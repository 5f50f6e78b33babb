"""The confidential report: what a data holder reads, in the order of what matters."""

import datetime

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.report import chapters
from nacre.evaluate.report.chapters.overview import MANY
from nacre.evaluate.report.figures.canvas import drawing
from nacre.evaluate.scores.score import CONFIDENTIAL
from nacre.report.builder import Chapter, Page, build
from nacre.version import __version__

_CLOSING = (
    "This page was computed from private rows and must not be published. The synthetic table may "
    "be, with its guarantee."
)
_CLOSING_NOT_PRIVATE = (
    "This page was computed from private rows and must not be published; nor may a table that is "
    "NOT PRIVATE."
)


def render(evaluation: Evaluation) -> str:
    """The whole report as one HTML page that loads nothing."""
    with drawing():
        shown = [
            Chapter("overall", "What to use it for", chapters.overall(evaluation)),
            Chapter("scores", "All scores", chapters.scores(evaluation)),
            Chapter("columns", "Columns", chapters.columns(evaluation)),
            Chapter("pairs", "Pairs of columns", chapters.pairs(evaluation)),
            Chapter("structure", "Structure", chapters.structure(evaluation)),
            Chapter("usefulness", "Usefulness", chapters.usefulness(evaluation)),
            Chapter("privacy", "Privacy", chapters.privacy(evaluation)),
        ]
        if evaluation.lmdp:
            shown.append(Chapter("hidden", "Hidden columns", chapters.hidden(evaluation)))
    several = len(evaluation.tables) > 1
    private = all(found["epsilon"] is not None for found in evaluation.guarantees.values())
    return build(
        Page(
            title=f"Evaluation of synthetic data: {', '.join(evaluation.tables)}",
            banner=CONFIDENTIAL,
            kicker="nacre · evaluation report",
            heading="How good are these tables?" if several else "How good is this table?",
            lede=_lede(evaluation),
            chapters=ordered(shown, len(evaluation.tables)),
            footer=(
                *evaluation.notes,
                _CLOSING if private else _CLOSING_NOT_PRIVATE,
                f"nacre {__version__}; schema {evaluation.schema.digest[:12]}; computed in "
                f"{evaluation.seconds:.0f} s.",
            ),
            public=False,
            note=evaluation.silent,
        )
    )


def ordered(shown: list[Chapter], tables: int) -> list[Chapter]:
    """Verdicts first; whoever compares many tables wants their scores before."""
    return [shown[1], shown[0], *shown[2:]] if tables >= MANY else shown


def _lede(evaluation: Evaluation) -> str:
    """How many rows are compared, of how many columns, and when."""
    first = next(iter(evaluation.comparisons.values()))
    several = len(evaluation.tables) > 1
    tables = "; ".join(
        (f"{name}: " if several else "") + f"{len(c.synthetic):,} synthetic rows"
        for name, c in evaluation.comparisons.items()
    )
    label = f", predicting {evaluation.label}" if evaluation.label else ""
    today = datetime.date.today()
    return (
        f"{tables}, compared with {len(first.real):,} real rows of "
        f"{len(evaluation.schema.names):,} columns{label}. {today.day} {today:%B %Y}."
    )
