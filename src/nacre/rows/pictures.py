"""One picture file to pixels, and pixels to picture files; by Pillow."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import MissingExtra
from nacre.schema import ImageSchema

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")
# Only these are decoded, whatever the bytes claim to be: Pillow hands some others to programs.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF")
MOST_PIXELS = 1 << 26
GAP = 2  # pixels between the images of a sheet


def require_pillow() -> Any:
    """Pillow's module of images, or how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra(
            "Picture files need Pillow, which is not installed: pip install 'nacre-dp[images]'."
        ) from None
    return Image


def read_picture(content: bytes, schema: ImageSchema) -> bytes | None:
    """The pixels of one file as the schema has them; None if it cannot be read as such."""
    pillow = require_pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's warnings tell about the picture
            return _pixels(pillow, content, schema)
    except Exception:  # whatever a damaged file makes of it, it is this image's fault alone
        return None


def _pixels(pillow: Any, content: bytes, schema: ImageSchema) -> bytes | None:
    with pillow.open(io.BytesIO(content), formats=FORMATS) as opened:
        if opened.width * opened.height > MOST_PIXELS:
            return None
        picture = opened.convert("L" if schema.channels == 1 else "RGB")
    if schema.crop is not None:
        left = (picture.width - schema.crop) // 2
        top = (picture.height - schema.crop) // 2
        if min(left, top) < 0:
            return None
        picture = picture.crop((left, top, left + schema.crop, top + schema.crop))
    if picture.size != (schema.width, schema.height):
        if not schema.resize:
            return None
        picture = picture.resize((schema.width, schema.height), pillow.Resampling.BILINEAR)
    return bytes(picture.tobytes())


def picture_size(content: bytes) -> tuple[int, int, int] | None:
    """Height, width and channels from a file's header; None if it has none."""
    pillow = require_pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pillow.open(io.BytesIO(content), formats=FORMATS) as opened:
                gray = opened.mode in ("1", "L", "LA", "I", "F") or opened.mode.startswith("I;")
                return opened.height, opened.width, 1 if gray else 3
    except Exception:
        return None


def picture_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of [height, width, channels]."""
    pillow = require_pillow()
    gray = pixels.shape[-1] == 1
    file = io.BytesIO()
    pillow.fromarray(pixels[..., 0] if gray else pixels).save(file, "PNG")
    return file.getvalue()


def sheet(rows: Sequence[NDArray[np.uint8]], *, background: int = 255) -> NDArray[np.uint8]:
    """Rows of images, side by side with a gap: one image, [height, width, channels]."""
    height, width, channels = rows[0].shape[1:]
    across = max(len(row) for row in rows)
    size = (len(rows) * (height + GAP) - GAP, across * (width + GAP) - GAP, channels)
    found = np.full(size, background, np.uint8)
    for down, row in enumerate(rows):
        for place, image in enumerate(row):
            top, left = down * (height + GAP), place * (width + GAP)
            found[top : top + height, left : left + width] = image
    return found


def contact_sheet(
    pixels: NDArray[np.uint8], labels: NDArray[np.integer] | None, *, across: int = 10
) -> NDArray[np.uint8]:
    """A sheet with one row of images a class, or with rows of any images where there are none."""
    if labels is None:
        down = min(across, math.ceil(len(pixels) / across))
        return sheet([pixels[i * across : (i + 1) * across] for i in range(down)])
    return sheet([pixels[labels == c][:across] for c in np.unique(labels)])


def enlarged(image: NDArray[np.uint8], times: int) -> NDArray[np.uint8]:
    """Each pixel as a square of so many."""
    return np.repeat(np.repeat(image, times, axis=0), times, axis=1)


def write_folder(
    folder: Path, pixels: NDArray[np.uint8], names: Sequence[str] | None, first: int = 0
) -> None:
    """PNG files, numbered from `first`, each in the folder of that name if there are names."""
    for place, image in enumerate(pixels):
        inside = folder if names is None else folder / names[place]
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"{first + place:06d}.png").write_bytes(picture_bytes(image))


def folder_names(classes: Sequence[str]) -> list[str]:
    """A folder for each class: its own name, as far as that can be one; numbered if two agree.

    A stranger's model must not choose where files go.

    Examples:
        >>> folder_names(["cat", "../dog", ".."]), folder_names(["dog", "Dog"])
        (['cat', '_dog', '_'], ['0-dog', '1-Dog'])
    """
    safe = [_safe_name(name) for name in classes]
    # Some file systems do not tell upper from lower case.
    if len({name.casefold() for name in safe}) == len(safe):
        return safe
    return [f"{place}-{name}" for place, name in enumerate(safe)]


def _safe_name(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in " -_." else "_" for c in name).strip(" .")
    return kept[:100] or "_"
