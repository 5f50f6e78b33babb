"""The confidential report on images: what a data holder reads, in the order of what matters."""

import datetime

from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.report.chapters import overall, scores
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.chapters.privacy import released
from nacre.evaluate.scores.score import CONFIDENTIAL
from nacre.report.builder import Cell, Chapter, DataTable, Page, build, right
from nacre.report.builder.text import number
from nacre.report.strips import strip_of
from nacre.version import __version__

MOST_CLASSES = 20
ACROSS = 10
_CLOSING = (
    "This page was computed from private images, shows some of them, and must not be published. "
    "The synthetic images may be, with their guarantee."
)
_CLOSING_NOT_PRIVATE = (
    "This page was computed from private images, shows some of them, and must not be published; "
    "nor may images that are NOT PRIVATE."
)


def render(evaluation: ImageEvaluation) -> str:
    """The whole report as one HTML page that loads nothing."""
    shown = [
        Chapter("overall", "What to use them for", overall(evaluation)),
        Chapter("sheets", "Side by side", sheets(evaluation), "images_"),
        Chapter("scores", "All scores", _scores(evaluation), "images_"),
        Chapter("privacy", "Privacy", _privacy(evaluation), "images_"),
    ]
    private = all(found["epsilon"] is not None for found in evaluation.guarantees.values())
    return build(
        Page(
            title=f"Evaluation of synthetic images: {', '.join(evaluation.tables)}",
            banner=CONFIDENTIAL.replace("private rows", "private images"),
            kicker="nacre · evaluation report",
            heading="How good are these images?",
            lede=_lede(evaluation),
            chapters=shown,
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


def _lede(evaluation: ImageEvaluation) -> str:
    counts, schema, several = evaluation.counts, evaluation.schema, len(evaluation.tables) > 1
    sets = "; ".join(
        (f"{name}: " if several else "") + f"{counts[name]:,} synthetic images"
        for name in evaluation.tables
    )
    test = f" and {counts['test']:,} test images" if counts["test"] else ""
    today = datetime.date.today()
    return (
        f"{sets}, compared with {counts['real']:,} private images{test} of {schema.height} × "
        f"{schema.width} pixels in {len(schema.classes or ())} classes. "
        f"{today.day} {today:%B %Y}."
    )


def sheets(evaluation: ImageEvaluation) -> Context:
    """A few images of each class, real ones above synthetic ones."""
    classes = evaluation.schema.classes or ()
    shown = classes[:MOST_CLASSES]
    words = "The first images of each class; private ones above, synthetic ones below."
    if len(shown) < len(classes):
        words += f" The first {len(shown)} of {len(classes)} classes."
    found = [
        {
            "name": name,
            "strips": [
                strip_of(of, images.pixels[images.labels == code], ACROSS)
                for of, images in evaluation.shown.items()
                if images.labels is not None
            ],
        }
        for code, name in enumerate(shown)
    ]
    found += [
        {"name": f"{name}, without labels", "strips": [strip_of(name, images.pixels, ACROSS)]}
        for name, images in evaluation.shown.items()
        if images.labels is None
    ]
    return {"words": words, "classes": found, "width": "two"}


def _scores(evaluation: ImageEvaluation) -> Context:
    found = scores(evaluation)
    head, rows = found["table"].head, found["table"].rows
    renamed = [right("real images") if cell.text == "real data" else cell for cell in head]
    return {"table": DataTable(renamed, rows), "models": _models(evaluation)}


def _models(evaluation: ImageEvaluation) -> DataTable | None:
    """The accuracy of each classifier of pixels."""
    of = [s for s in evaluation.results if s.metric == "accuracy" and s.part]
    names = dict.fromkeys(str(score.part) for score in of)
    rows = []
    for model in names:
        row = [evaluation.score("accuracy", table, model) for table in evaluation.tables]
        values = [None if score is None else score.value for score in row]
        reference = next((s.reference for s in row if s is not None), None)
        rows.append([Cell(model), *(right(number(value)) for value in (*values, reference))])
    head = [Cell("Accuracy"), *(right(name) for name in (*evaluation.tables, "real images"))]
    return DataTable(head, rows) if rows else None


def _privacy(evaluation: ImageEvaluation) -> Context | None:
    if not evaluation.guarantees and not evaluation.spent:
        return None
    return {
        "several": len(evaluation.tables) > 1,
        "tables": [released(t, evaluation.guarantees.get(t, {})) for t in evaluation.tables],
        "spent": evaluation.spent,
    }
