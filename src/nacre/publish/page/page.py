"""The page that everybody may read: what the table is, how far it may be off, what it cost."""

from nacre.evaluate.report.figures.canvas import drawing
from nacre.publish.page.columns import columns, facts
from nacre.publish.page.guarantee import in_short, releases
from nacre.publish.page.prediction import links, prediction
from nacre.publish.public import PublicReport
from nacre.report.builder import Chapter, Page, build


def render(report: PublicReport) -> str:
    """The whole page; it loads nothing, and the same report gives the same bytes."""
    with drawing():
        shown = [
            Chapter("short", "In short", in_short(report), "public_"),
            Chapter("columns", "Columns", columns(report), "public_"),
            Chapter("prediction", "Prediction", prediction(report), "public_"),
            Chapter("links", "Links between columns", links(report), "public_"),
            Chapter("facts", "What the columns are", facts(report), "public_"),
            Chapter("releases", "What was released", releases(report), "public_"),
        ]
    made = "; ".join(f"{name} {version}" for name, version in report.versions.items())
    return build(
        Page(
            title="Public report on synthetic data",
            banner=report.first_line,
            kicker="nacre · public report",
            heading="How far can this table be trusted?",
            lede=_lede(report),
            chapters=shown,
            footer=(
                report.first_line,
                f"Schema {report.schema.digest[:12]}. The model was made with {made}.",
            ),
            public=True,
        )
    )


def _lede(report: PublicReport) -> str:
    """What the table is, and where it comes from."""
    origin = (
        "given by the publisher"
        if report.table.seed is None
        else f"drawn with seed {report.table.seed}, so that whoever has the model can make this "
        "very page again"
    )
    label = f" The label is {report.schema.label}." if report.schema.label else ""
    many = report.table.persons
    whose = "" if many is None else f" of {many:,} persons"
    columns = len(report.schema.names)
    return (
        f"{len(report.table.rows):,} synthetic rows{whose}, with {columns} "
        f"{'column' if columns == 1 else 'columns'}, from a {report.method} model, {origin}.{label}"
    )
