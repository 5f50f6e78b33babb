"""AIM (McKenna, Mullins, Sheldon and Miklau, 2022): count what the model so far gets most wrong.

Pairs of columns are chosen privately, again and again, and counted; a graphical model is fitted to
all counts.  For a label with classes, all is counted for each class.
"""

from __future__ import annotations

import dataclasses
import math
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


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class AIM(AbstractMethod):
    """Settings of AIM; all of them public constants."""

    title: ClassVar[str] = "AIM"
    paper: ClassVar[str] = "McKenna, Mullins, Sheldon and Miklau (2022), AIM, VLDB 15(11)"
    summary: ClassVar[str] = "chooses marginals that a graphical model gets wrong, and counts them"
    proof: ClassVar[str] = "Gaussian sums, exponential mechanism"
    cost: ClassVar[str] = "90 s on Adult"
    when: ClassVar[str] = "workloads of marginals, few columns"

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
    rounds: int = setting(4, "how often pairs are chosen and counted", low=1, high=50)
    each_column: float = setting(
        2.5, "pairs counted for each column, in all rounds together", low=1e-6, high=1000
    )
    megabytes: float = setting(
        2.0, "of the model at most: larger pairs are not chosen", low=1e-9, high=10_000
    )
    steps: int = setting(
        300, "of the fit after each round; four times as many after the last", low=2, high=10**6
    )

    def __post_init__(self) -> None:
        settle(self)
        shared.check_shares(self.first, self.choosing)

    def design(self, encoder: TableEncoder) -> Design:
        """What will be counted."""
        found = shared.make_design(
            encoder, cells=self.cells, bins=self.bins, columns=self.columns, by_label=True
        )
        pairs = len(found.pairs)
        if not pairs:
            return found
        rounds = min(self.rounds, pairs)
        each = min(pairs, math.ceil(self.each_column * found.joined / rounds))
        return dataclasses.replace(found, rounds=rounds, each=each)

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum | Choice, ...]:
        """Histograms, all choices, and for each round the counts of the chosen pairs."""
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
        """Round by round, choose the pairs that the model so far gets most wrong."""
        from nacre.methods.graphical.choose import worst_pairs

        design = self.design(vault.encoder)  # type: ignore[arg-type]
        return shared.learn(
            vault,
            plan,
            design,
            lambda learner, choose, part: worst_pairs(
                learner, design.pairs, choose, each=design.each, part=part
            ),
            bins=self.bins,
            megabytes=self.megabytes,
            steps=self.steps,
            rng=public_rng(key),
        )

    def small(self) -> Self:
        """One round, half a pair for each column."""
        return dataclasses.replace(self, rounds=1, each_column=0.5, steps=12)
