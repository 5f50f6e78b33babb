"""A histogram with its noise: made-up counts, so that a choice of ε never looks at the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from nacre.report.builder.text import short

WIDTH, ROW, TOP, LEFT, RIGHT = 460, 27, 6, 128, 62  # narrow, so that it fits on a phone
LEVEL = 1.959964  # standard errors, of which 95% of draws stay within
USUAL = 1000  # rows that are drawn if nobody said how many there are
# As usual as draws can be: each in the middle of an eighth of the normal distribution.
DRAWS = (0.49, -1.53, 0.16, 1.01, -0.49, -0.16, 1.53, -1.01)
SHARES = np.array([0.34, 0.22, 0.15, 0.11, 0.08, 0.055, 0.03, 0.015])


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Bar:
    """One value: its made-up count, one noisy draw of it, and where 95% of draws lie."""

    name: str
    y: float
    width: float
    low: float
    high: float
    drawn: float
    text: str


def histogram(example: dict[str, Any], error: float, rows: int | None) -> dict[str, Any]:
    """What the template draws: bars in pixels, for counts among `rows` rows with this error."""
    names: Sequence[str] = example["values"]
    shares = SHARES[: len(names)] / SHARES[: len(names)].sum()
    total = rows or USUAL
    counts = np.round(shares * total)
    # Always the same noise, scaled: a larger ε is seen to shrink it, and nothing else moves.
    noise = np.array(DRAWS[: len(names)]) * error
    scale = (WIDTH - LEFT - RIGHT) / max(float(counts.max()) * 1.25, 1.0)

    def place(count: float) -> float:
        return round(LEFT + min(max(count, 0.0) * scale, WIDTH - LEFT - RIGHT), 1)

    bars = [
        Bar(
            name=short(name, 17),
            y=TOP + ROW * number,
            width=place(count) - LEFT,
            low=place(count - LEVEL * error),
            high=place(count + LEVEL * error),
            drawn=place(count + wrong),
            text=f"± {_rounded(LEVEL * error)}",
        )
        for number, (name, count, wrong) in enumerate(zip(names, counts, noise, strict=True))
    ]
    return {
        "bars": bars,
        "width": WIDTH,
        "height": TOP * 2 + ROW * len(bars),
        "left": LEFT,
        "row": ROW,
        "total": total,
        "stated": rows is not None,
        "column": example["column"],
        "smallest": float(counts.min()),
        "lost": int(np.sum(LEVEL * error >= counts)),
        "error": _rounded(error),
        "band": _rounded(LEVEL * error),
        "off": LEVEL * error,
    }


def _rounded(value: float) -> str:
    """Two digits; whole from ten on."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
