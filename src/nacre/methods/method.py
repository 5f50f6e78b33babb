"""What every method is: frozen settings, the questions it will ask, and `learn`."""

from __future__ import annotations

import abc
import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nacre.errors import NacreError

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import AbstractQuestion, Adjacency, Hidden, Plan, Vault


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outlook:
    """What noise will leave of a table, from public numbers alone.

    Attributes:
        words: what to expect; empty if the method cannot tell.
        plain: the same in numbers that anybody can check.
        weak: whether people should be warned.
    """

    words: str = ""
    plain: tuple[str, ...] = ()
    weak: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractMethod(abc.ABC):
    """A method is its settings, all of them public constants; `learn` never sees a row.

    Attributes:
        title: its name for people.
        paper: where it comes from.
        summary: what it does, in a line.
        proof: the theorem that its privacy rests on, in a few words.
        cost: CPU time of a fit with defaults, measured on Adult's 32,561 rows where it was.
        when: what it is to be used for.
        data: what it learns from: 'table', 'image'.
        private: whether it can be fitted with noise; the others are there to compare with.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    proof: ClassVar[str] = "not stated"
    cost: ClassVar[str] = "not stated"
    when: ClassVar[str] = "not stated"
    data: ClassVar[frozenset[str]] = frozenset({"table"})
    private: ClassVar[bool] = True

    @abc.abstractmethod
    def questions(
        self, encoder: Any, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """What will be asked, in order; `rows` is a public number of rows, if there is one."""

    def check(self, *, delta: float | None, rows: int | None) -> None:
        """Refuse a budget that the method cannot serve, before anything is planned or spent."""
        return

    @abc.abstractmethod
    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Ask the questions of the plan and make a generator from the answers."""

    @property
    def protected(self) -> tuple[Hidden, ...]:
        """Columns whose joint distribution it is asked to hide (α-LMDP); most hide none."""
        return ()

    def hiding(self, protect: tuple[str, ...]) -> Self:
        """The method that hides the sets of columns which a schema protects, or a refusal.

        Most methods publish the distribution of every column, as exactly as noise allows.
        """
        if protect:
            raise NacreError(
                f"The schema protects the distribution of {', '.join(protect)}, and {self.title} "
                "would publish it. Use the method 'ppem', or take `protect` out of the schema."
            )
        return self

    def outlook(self, encoder: Any, plan: Plan, rows: int) -> Outlook:
        """What the noise of this plan will leave of so many rows."""
        return Outlook()

    def small(self) -> Self:
        """The same method with settings that make it quick, for tests of its contract."""
        return self
