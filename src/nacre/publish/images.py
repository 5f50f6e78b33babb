"""A page on a model of images that everybody may see: guarantee, releases, synthetic images."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.findings.finding import Finding
from nacre.model import Model
from nacre.publish.public import SAFE
from nacre.report.written import written
from nacre.rows import ImageEncoder, Images
from nacre.schema import ImageSchema
from nacre.vault.guarantee import Guarantee

MOST = 1_000  # images that are drawn for a page
SHOWN = 10  # of each class
RESTS = (
    "it rests on the model and synthetic images drawn from it. No private image is on it, and "
    "nothing in it was computed from private images other than the releases that it lists, which "
    "are covered by the guarantee."
)
READ = (
    "it rests on the model and synthetic images drawn from it. No private image is on it. Two "
    "things in it were computed from private images: the releases that it lists, which are covered "
    "by the guarantee, and the schema’s size and classes, which are not."
)
PUBLIC = "the schema, read from the images, is public, as a person said"
ALONE = Finding(
    "note",
    "Comparison",
    "Nothing here was compared with private images. How good these are is for the data holder to "
    "find out (nacre evaluate), or for you, by training on them and testing on images of your own.",
)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class PublicImages:
    """A report on a model of images that is safe to publish: post-processing alone.

    Attributes:
        schema: what is public about the images.
        method: that made the model.
        versions: of the software that the model was made with.
        images: some synthetic images of each class.
        drawn: how many there were to choose from.
        seed: with which they were drawn.
        guarantee: the model's.
    """

    schema: ImageSchema
    method: str
    versions: Mapping[str, str]
    images: Images
    drawn: int
    seed: int
    guarantee: Guarantee
    findings: tuple[Finding, ...] = (ALONE,)

    @property
    def bought(self) -> None:
        """Nothing is bought for a page on images."""
        return

    @property
    def together(self) -> Guarantee:
        """The model's, as nothing was bought."""
        return self.guarantee

    @property
    def first_line(self) -> str:
        """What the page begins with."""
        read = self.schema.from_rows
        return f"{SAFE} if {PUBLIC}: {READ}" if read else f"{SAFE}: {RESTS}"

    def summary(self) -> str:
        """The overall picture in words."""
        said = [f"  {finding.mark} {finding.text}" for finding in self.findings]
        return "\n".join([self.first_line, "", *said, "", f"  model  {self.guarantee}"])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<public report on a {self.method} model of images, {self.guarantee}>"

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything but the images, as JSON; written to `path` too if one is given."""
        content = {
            "nacre": 1,
            "public": self.first_line,
            "method": self.method,
            "versions": dict(self.versions),
            "guarantee": self.guarantee.to_dict(),
            "schema": self.schema.to_dict(),
            "synthetic": {"images": self.drawn, "seed": self.seed},
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
        }
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        return written(text, path, end="\n")

    def to_html(self, path: str | Path | None = None) -> str:
        """The report: one page that needs nothing else; written to `path` if one is given."""
        from nacre.publish.page.images import render

        return written(render(self), path)

    def to_registry(self, path: str | Path | None = None) -> str:
        """An entry for OpenDP's registry of deployments; blanks are for the publisher."""
        from nacre.publish.registry import to_yaml

        return written(to_yaml(self), path)

    def to_checklist(self, path: str | Path | None = None) -> str:
        """A checklist by NIST SP 800-226, in Markdown; open points are for the data holder."""
        from nacre.publish.checklist import to_markdown

        return written(to_markdown(self), path)


def publish_images(
    model: Model, synthetic: Any, *, rows: int, seed: int, data: Any
) -> PublicImages:
    """The report on a model of images, which reads no private one."""
    if data is not None:
        raise NacreError(
            "Scores of private images cannot be bought: leave out `data`, `epsilon` and `delta`. "
            "The page shows the guarantee and synthetic images."
        )
    if synthetic is not None:
        raise NacreError(
            "A page on images draws its own from the model: leave out `synthetic`. Images that are "
            "given would be shown as they are, and nobody could tell whether they are private."
        )
    if not isinstance(model.encoder, ImageEncoder):
        raise NacreError("This is no model of images.")
    if rows < 1:
        raise NacreError(f"rows must be a positive number, got {rows}.")
    schema = model.encoder.schema
    encoder = model.encoder
    source = encoder.open(model.sample(min(rows, MOST), seed=seed))
    blocks = [encoder.encode(batch) for batch in source.batches()]
    pixels = np.concatenate([block.rows.pixels for block in blocks])
    labels = np.concatenate([block.rows.label for block in blocks])
    return PublicImages(
        schema=schema,
        method=model.method,
        versions=dict(model.versions),
        images=_some(pixels, labels, schema),
        drawn=len(pixels),
        seed=seed,
        guarantee=model.guarantee,
    )


def _some(pixels: Any, labels: Any, schema: ImageSchema) -> Images:
    if schema.classes is None:
        return Images(pixels[: SHOWN * SHOWN], None)
    places = [np.flatnonzero(labels == code)[:SHOWN] for code in range(len(schema.classes))]
    chosen = np.concatenate(places)
    return Images(pixels[chosen], labels[chosen])
