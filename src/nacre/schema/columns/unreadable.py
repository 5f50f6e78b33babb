"""A column of a schema file that cannot be understood, kept so that all problems come at once."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, NoReturn, final

import numpy as np
import pyarrow as pa

from nacre.schema.columns.column import Column, Reading


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Unreadable(Column):
    """Stands in for a column until `Schema` has reported it; no schema ever has one."""

    type: ClassVar[str] = "unreadable"
    reasons: tuple[str, ...]

    def problems(self) -> list[str]:
        """See `Column`."""
        return list(self.reasons)

    def accepts(self, kind: pa.DataType) -> bool:
        """See `Column`."""
        return False

    def read(self, array: pa.Array) -> Reading:
        """See `Column`."""
        self._refuse()

    def write(self, values: np.ndarray, missing: np.ndarray | None) -> pa.Array:
        """See `Column`."""
        self._refuse()

    @property
    def ticks(self) -> int | None:
        """See `Column`."""
        self._refuse()

    @property
    def size(self) -> int | None:
        """See `Column`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError("This column could not be understood, so it cannot be used.")
