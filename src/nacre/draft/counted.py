"""How many rows of a person count, where nobody has said it: chosen from counts of persons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.schema import Unit
from nacre.schema.unit import MOST_ROWS

AUTO = "auto"
BEYOND = 0.05  # of the persons may have more rows than count
SURE = 2.0  # deviations of noise: persons that do not stand out by so much are none


def to_choose(unit: Unit | Mapping[str, Any] | None) -> bool:
    """Whether a unit leaves open how many rows of a person count: {"rows": "auto"}."""
    return isinstance(unit, Mapping) and unit.get("rows") == AUTO


def as_unit(unit: Unit | Mapping[str, Any] | None, *, rows: int = MOST_ROWS) -> Unit | None:
    """A unit; if it leaves `rows` open, with these."""
    if unit is None:
        return None
    return Unit.of(
        {**unit, "rows": rows} if to_choose(unit) and not isinstance(unit, Unit) else unit
    )


def enough_rows(persons: NDArray[np.floating], noise: float = 0.0) -> int:
    """The least number of rows that is enough for 95% of the persons, as far as noise tells.

    Args:
        persons: how many have 1, 2, ... rows, perhaps with noise.
        noise: standard deviation of each count.

    Examples:
        >>> enough_rows(np.array([700.0, 200, 60, 30, 10]))
        3
        >>> enough_rows(np.array([700.0, 200, 60, 30, 10]), noise=40.0)
        2
    """
    beyond = persons.sum() - np.cumsum(persons)
    spread = SURE * noise * np.sqrt(len(persons) - np.arange(1, len(persons) + 1))
    allowed = np.maximum(BEYOND * persons.sum(), spread)
    allowed[-1] = np.inf  # all that may count are enough
    return int(np.argmax(beyond <= allowed)) + 1
