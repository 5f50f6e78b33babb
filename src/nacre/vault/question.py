"""A question is a value: everything that will be asked of the rows is said before one is read."""

from __future__ import annotations

import abc
import dataclasses

from nacre.vault.bound import Adjacency
from nacre.vault.release import Release


@dataclasses.dataclass(frozen=True, kw_only=True)
class Expected:
    """The error to expect of an answer, from public numbers only.

    Attributes:
        error: the standard error of a share (or mean) of all rows, where the number is known.
        count_error: the standard error of a count of rows.
        words: what else there is to say.
    """

    error: float | None = None
    count_error: float | None = None
    words: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractQuestion(abc.ABC):
    """One question to the vault; public, and known before any row is read.

    Attributes:
        name: as the certificate and the ledger list it.
        meaning: what the answer tells, in words.
        share: of the privacy budget, as a part of the squared Gaussian-DP parameter mu^2.
    """

    name: str
    share: float
    meaning: str = ""

    @abc.abstractmethod
    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """What would be released if the whole budget were a Gaussian of mu = `scale`."""

    @abc.abstractmethod
    def expected(self, release: Release, rows: int | None) -> Expected:
        """The error to expect of the answer; `rows` is a public number of rows, if known."""
