"""One number of an evaluation, and many of them as a frame."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from nacre.evaluate.scores.part import Part

CONFIDENTIAL = (
    "Confidential to the data holder: these numbers were computed from the private rows without "
    "noise, and are not covered by any privacy guarantee."
)
_COLUMNS = pa.schema(
    [
        ("table", pa.string()),
        ("metric", pa.string()),
        ("part", pa.string()),
        ("value", pa.float64()),
        ("error", pa.float64()),
        ("reference", pa.float64()),
        ("goal", pa.string()),
    ]
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Score:
    """One number of the evaluation.

    Attributes:
        table: which synthetic table.
        metric: the metric's name.
        part: the column, pair, model or other part that it is of; empty for the whole table.
        value: the number.
        error: its standard error, if it rests on a sample.
        reference: the same of real data: fresh or held-out rows, or a model trained on real rows.
        goal: whether lower or higher is better.
    """

    table: str
    metric: str
    part: Part
    value: float
    error: float | None
    reference: float | None
    goal: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the part as people read it."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**found, "part": str(self.part)}


def frame(results: Iterable[Score]) -> Any:
    """Scores as a tidy frame: pandas if it is installed, else Arrow."""
    table = pa.Table.from_pylist([score.to_dict() for score in results], schema=_COLUMNS)
    try:
        import pandas  # noqa: F401
    except ImportError:
        return table
    return table.to_pandas()
