"""A fact of the real rows, and how often it holds in the synthetic ones."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Identity:
    """A fact or an order of every real row, or nearly every one.

    Attributes:
        fact: as a schema says it; a look-up without its table.
        columns: that it is about, the one that it tells first.
        real: the share of the real rows in which it holds, of those that it speaks of.
        synthetic: likewise.
        breaks: which of the synthetic rows that were looked at break it.
        order: whether a schema says it as a constraint rather than as a fact.
    """

    fact: str
    columns: tuple[str, ...]
    real: float
    synthetic: float
    breaks: np.ndarray
    order: bool = False
