"""What every method is: frozen settings, the questions it will ask, and `learn`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from nacre.nets.generator import AbstractGenerator
from nacre.schema import Schema

if TYPE_CHECKING:
    from nacre.vault import Adjacency, Bound, Vault


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """One sum that a method will ask the vault for, known before any row is read.

    With `choices` it asks for so many choices among the bound's segments instead.

    `unit` is what one is worth in the features' integer units, so that errors can be told in
    words: the standard error of a mean feature is noise / unit / rows.
    """

    name: str
    bound: Bound
    share: float
    unit: float
    meaning: str
    choices: int = 0


class Method(Protocol):
    """A method is its settings; `learn` sees the vault's noisy answers, never a row."""

    title: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]

    def questions(self, schema: Schema, adjacency: Adjacency) -> tuple[Question, ...]:
        """What will be asked, in order; reads the schema only."""
        ...

    def learn(self, vault: Vault, *, key: Any) -> AbstractGenerator:
        """Ask the questions and make a generator from the answers."""
        ...
