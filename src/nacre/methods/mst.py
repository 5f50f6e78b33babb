"""MST (McKenna, Miklau and Sheldon, 2021): a private spanning tree of pairs of columns, counted."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.histograms.cells import EXACT_TICKS
from nacre.methods.graphical import shared
from nacre.methods.graphical.shared import Design
from nacre.methods.heaps import MEANING
from nacre.methods.method import AbstractMethod, Outlook
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.rows import TableEncoder
from nacre.vault import Adjacency, Choice, Sum

if TYPE_CHECKING:
    from nacre.methods.graphical.generator import GraphicalGenerator
    from nacre.vault import Plan, Vault

MEGABYTES = 2.0  # a tree is small: never reached


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class MST(AbstractMethod):
    """Settings of MST; all of them public constants.  The label is a column like the others."""

    title: ClassVar[str] = "MST"
    paper: ClassVar[str] = "McKenna, Miklau and Sheldon (2021), MST, JPC 11(3)"
    summary: ClassVar[str] = "counts a private spanning tree of pairs of columns"
    proof: ClassVar[str] = "Gaussian sums, exponential mechanism"
    cost: ClassVar[str] = "20 s on Adult"
    when: ClassVar[str] = "simple links, little budget"

    first: float = setting(0.25, "share of the budget for the histograms", low=0.001, high=0.998)
    choosing: float = setting(
        0.1, "share for the choices; counting the chosen gets the rest", low=0.001, high=0.998
    )
    heaps: float = setting(0.02, MEANING, low=0.001, high=0.5, or_zero=True)
    cells: int = setting(
        512,
        "most values of a number with a cell each; else 256, finer near zero",
        low=4,
        high=EXACT_TICKS,
    )
    bins: int = setting(16, "of a number where pairs are counted: about so many", low=4, high=1000)
    columns: int = setting(
        32, "paired at most; in wider tables those that say most of the label", low=2, high=1000
    )
    steps: int = setting(300, "of the fit; four times as many in all", low=2, high=10**6)

    def __post_init__(self) -> None:
        settle(self)
        shared.check_shares(self.first, self.choosing)

    def design(self, encoder: TableEncoder) -> Design:
        """What will be counted: one pair fewer than there are columns."""
        found = shared.make_design(
            encoder, cells=self.cells, bins=self.bins, columns=self.columns, by_label=False
        )
        return dataclasses.replace(found, each=max(1, found.joined - 1))

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum | Choice, ...]:
        """Histograms, the choices of the tree, and the counts of its pairs."""
        return shared.make_questions(
            encoder,
            self.design(encoder),
            first=self.first,
            choosing=self.choosing,
            heaps=self.heaps,
        )

    def outlook(self, encoder: TableEncoder, plan: Plan, rows: int) -> Outlook:
        """What noise leaves of the histograms and of the chosen pairs."""
        return shared.make_outlook(encoder, plan, rows)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> GraphicalGenerator:
        """Choose the tree, count its pairs, fit the model."""
        from nacre.methods.graphical.choose import spanning_tree

        design = self.design(vault.encoder)  # type: ignore[arg-type]
        return shared.learn(
            vault,
            plan,
            design,
            lambda learner, choose, part: spanning_tree(learner, design.pairs, choose),
            bins=self.bins,
            megabytes=MEGABYTES,
            steps=self.steps,
            rng=public_rng(key),
        )

    def small(self) -> Self:
        """A few steps."""
        return dataclasses.replace(self, steps=12)
