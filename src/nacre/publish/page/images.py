"""The page on images that everybody may read."""

from nacre.evaluate.report.chapters.common import Context
from nacre.publish.images import SHOWN, PublicImages
from nacre.publish.page.guarantee import in_short, releases
from nacre.report.builder import Chapter, Page, build
from nacre.report.strips import strip_of


def render(report: PublicImages) -> str:
    """The whole page; it loads nothing, and the same report gives the same bytes."""
    shown = [
        Chapter("short", "In short", in_short(report), "images_"),
        Chapter("sheets", "Synthetic images", _sheets(report), "images_"),
        Chapter("releases", "What was released", releases(report), "public_"),
    ]
    made = "; ".join(f"{name} {version}" for name, version in report.versions.items())
    return build(
        Page(
            title="Public report on synthetic images",
            banner=report.first_line,
            kicker="nacre · public report",
            heading="How were these images made?",
            lede=_lede(report),
            chapters=shown,
            footer=(
                report.first_line,
                f"Schema {report.schema.digest[:12]}. The model was made with {made}.",
            ),
            public=True,
        )
    )


def _lede(report: PublicImages) -> str:
    schema, classes = report.schema, len(report.schema.classes or ())
    kinds = f" in {classes} classes" if classes else ""
    return (
        f"{report.drawn:,} synthetic images of {schema.height} × {schema.width} pixels{kinds} "
        f"from a {report.method} model, drawn with seed {report.seed}, so that whoever has the "
        "model can make this very page again."
    )


def _sheets(report: PublicImages) -> Context:
    """The first synthetic images of each class."""
    names, images = report.schema.classes, report.images
    if names is None:
        parts = range(0, len(images), SHOWN)
        strips = [strip_of("", images[i : i + SHOWN].pixels, SHOWN) for i in parts]
        return {"words": "The first that were drawn.", "classes": [{"name": "", "strips": strips}],
                "width": "one"}  # fmt: skip
    found = [
        {
            "name": name,
            "strips": [strip_of("", images.pixels[images.labels == code], SHOWN)],
        }
        for code, name in enumerate(names)
    ]
    words = "The first of each class that were drawn; every one of them is synthetic."
    return {"words": words, "classes": found, "width": "two"}
