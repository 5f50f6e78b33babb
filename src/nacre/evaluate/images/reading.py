"""Sets of images to be compared, read through their schema."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nacre.errors import NacreError
from nacre.rows import ImageEncoder, Images
from nacre.schema import ImageSchema

FEWEST = 10


class Read(NamedTuple):
    """The images that fit the schema, and what a reader has to know of the others."""

    images: Images
    notes: tuple[str, ...]


def read_images(data: Any, schema: ImageSchema, name: str) -> Read:
    """The images of a set, with their labels.

    Args:
        data: as for `open_images`.
        schema: what is public about them.
        name: how messages call them, e.g. "The real images".
    """
    images, strange = _read(data, schema)
    notes = () if not strange else (f"{name}: {strange:,} do not fit the schema; left out.",)
    if len(images) < FEWEST:
        raise NacreError(
            f"{name}: {len(images)} fit the schema. At least {FEWEST} are needed; `nacre schema "
            "check` tells what is wrong with the others."
        )
    return Read(images, notes)


def read_synthetic(data: Any, schema: ImageSchema, name: str) -> Read:
    """The same of synthetic images, which may come without labels."""
    try:
        return read_images(data, schema, name)
    except NacreError:
        found = _without_labels(data, schema, name)
        if found is None:
            raise
    return found


def _without_labels(data: Any, schema: ImageSchema, name: str) -> Read | None:
    try:
        images, notes = read_images(data, schema.with_label(None), name)
    except NacreError:
        return None
    said = f"{name} have no labels among the classes, so no classifier was trained on them."
    return Read(images, (*notes, said))


def _read(data: Any, schema: ImageSchema) -> tuple[Images, int]:
    encoder = ImageEncoder(schema)
    blocks = [encoder.encode(batch) for batch in encoder.open(data).batches()]
    kept = [(b.rows.pixels[b.valid], b.rows.label[b.valid]) for b in blocks]
    pixels = np.concatenate([np.zeros((0, *schema.shape), np.uint8), *(p for p, _ in kept)])
    labels = np.concatenate([np.zeros(0, np.int64), *(label for _, label in kept)])
    strange = sum(len(b.valid) for b in blocks) - len(pixels)
    return Images(pixels, None if schema.classes is None else labels), strange


def sampled(images: Images, most: int, rng: np.random.Generator) -> Images:
    """At most `most` images, drawn without replacement; all of them if there are no more."""
    if len(images) <= most:
        return images
    return images[np.sort(rng.choice(len(images), most, replace=False))]


def by_name(given: Any) -> Mapping[str, Any]:
    """Several sets by name, or the only one."""
    found = given if isinstance(given, Mapping) else {"synthetic": given}
    if not found:
        raise NacreError("No synthetic images were given: the dictionary is empty.")
    return found
