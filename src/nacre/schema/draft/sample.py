"""Some rows of a stream, evenly spread over it: for guesses that need columns side by side."""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np
import pyarrow as pa

MOST = 20_000  # rows are kept up to twice as many, then every second one goes


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Every `stride`-th row so far.

    Attributes:
        rows: the rows that were kept.
        stride: how far they are apart.
        seen: how many rows went by.
    """

    rows: pa.Table | None = None
    stride: int = 1
    seen: int = 0

    def add(self, batch: pa.RecordBatch) -> Sample:
        """The sample after one more batch."""
        first = -self.seen % self.stride
        places = np.arange(first, batch.num_rows, self.stride)
        more = pa.Table.from_batches([batch]).take(pa.array(places))
        rows = more if self.rows is None else pa.concat_tables([self.rows, more.select(self.names)])
        stride = self.stride
        while rows.num_rows > 2 * MOST:
            rows, stride = rows.take(pa.array(np.arange(0, rows.num_rows, 2))), 2 * stride
        return Sample(rows, stride, self.seen + batch.num_rows)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [] if self.rows is None else self.rows.column_names

    def column(self, name: str) -> pa.Array:
        """The cells of a column that were kept."""
        if self.rows is None:
            return pa.nulls(0)
        chunks = self.rows.column(name).combine_chunks()
        return chunks.combine_chunks() if isinstance(chunks, pa.ChunkedArray) else chunks
