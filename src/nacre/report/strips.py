"""Rows of small images as pages show them: one PNG in the page itself, with gaps to see through."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.rows.pictures import picture_bytes, sheet


def strip(pixels: NDArray[np.uint8]) -> str:
    """Images side by side, [n, height, width, channels], as a `data:` address."""
    color = pixels if pixels.shape[-1] == 3 else np.repeat(pixels, 3, axis=3)
    seen = np.full((*color.shape[:3], 1), 255, np.uint8)
    row = sheet([np.concatenate([color, seen], axis=3)], background=0)
    return "data:image/png;base64," + base64.b64encode(picture_bytes(row)).decode()


def strip_of(name: str, pixels: NDArray[np.uint8], across: int) -> dict[str, Any]:
    """What the template of sheets shows in one line: at most `across` images."""
    pixels = pixels[:across]
    return {
        "name": name,
        "address": strip(pixels) if len(pixels) else "",
        "label": f"{len(pixels)} images{name and ', '}{name}",
        "width": round(100 * len(pixels) / across),
    }
