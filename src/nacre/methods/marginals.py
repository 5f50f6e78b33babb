"""Marginals: private choices of two-way marginals, and a graphical model of what was measured.

MST (McKenna, Miklau and Sheldon, 2021) chooses a spanning tree of pairs of columns, AIM (McKenna,
Mullins, Sheldon and Miklau, 2022) again and again the pairs that the model so far gets most wrong.
Inference is Private-PGM's (`mbi`).  Bins are made from the first release, as in Mosaic.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nacre.cells import EXACT_TICKS, Column, table_columns
from nacre.errors import NacreError
from nacre.methods.matching import class_label, label_place
from nacre.methods.method import Question
from nacre.methods.settings import settle
from nacre.schema import Schema
from nacre.vault.bound import Adjacency

if TYPE_CHECKING:
    from nacre.nets.graphical import GraphicalGenerator
    from nacre.vault import Vault

CELLS = 20_000  # of one pair of columns, all classes together
WIDTH = 10_000  # cells of all columns together, about, in a table of many columns


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    label    the place among the codes of the column by which all is counted, or -1
    most     cells of a number
    slots    how many bins of a column there is room for
    joined   how many columns are paired; the others follow from the label, if there is one
    rounds   how often pairs are chosen and then counted, `each` of them at a time
    """

    columns: tuple[Column, ...]
    label: int
    most: int
    slots: int
    joined: int
    rounds: int
    each: int

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of places among the joined columns."""
        return tuple(itertools.combinations(range(self.joined), 2))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Marginals:
    """Settings of MST and AIM; all of them public constants.

    algorithm    "aim" (for a label with classes, all is counted for each class) or "mst"
    first        share of the budget for the histograms
    choosing     share for the choices; counting the chosen pairs gets the rest
    cells        of a number with so many values or fewer, one each; else 256, finer near zero
    bins         of a number where pairs are counted: about so many, half as many more at most
    columns      that are paired at most; in wider tables those that say most about the label
    rounds       of AIM; MST has one
    each_column  how many pairs AIM counts for each column, in all rounds together
    megabytes    of AIM's model at most: pairs that would make it larger are not chosen
    steps        of the fit after each round; four times as many after the last
    """

    title: ClassVar[str] = "Marginals"
    paper: ClassVar[str] = "McKenna et al. (2021, 2022), MST and AIM; JPC 11(3) and VLDB 15(11)"
    summary: ClassVar[str] = "chooses marginals privately for a graphical model (MST, AIM)"

    algorithm: str = "aim"
    first: float = 0.25
    choosing: float = 0.1
    cells: int = 512
    bins: int = 16
    columns: int = 32
    rounds: int = 4
    each_column: float = 2.5
    megabytes: float = 2.0
    steps: int = 300

    def __post_init__(self) -> None:
        if self.algorithm not in ("aim", "mst"):
            raise NacreError(f"algorithm must be 'aim' or 'mst', got '{self.algorithm}'.")
        # A ledger or certificate that lists both must tell them apart.
        object.__setattr__(self, "title", f"Marginals ({self.algorithm.upper()})")
        settle(
            self,
            first=(0.001, 0.998),
            choosing=(0.001, 0.998),
            cells=(4, EXACT_TICKS),
            bins=(4, 1000),
            columns=(2, 1000),
            rounds=(1, 50),
            each_column=(1e-6, 1000),
            megabytes=(1e-9, 10_000),
            steps=(2, 10**6),
        )
        if self.first + self.choosing > 0.999:
            raise NacreError("first and choosing must leave a part of the budget, got all of it.")

    def design(self, schema: Schema) -> Design:
        """What will be counted."""
        layout, label = schema.layout, label_place(schema)
        if self.algorithm == "mst":
            label = -1  # a column like the others, as in the paper
        width = max(len(layout.numbers) + len(layout.codes), 1)
        most = min(self.cells, max(16, WIDTH // width))
        room = self.bins + self.bins // 2
        slots = [min(c.size, room + c.nullable) for c in table_columns(layout, label, most)]
        if label >= 0 and layout.codes[label].size * max(slots, default=1) ** 2 > CELLS:
            label = -1
        columns = table_columns(layout, label, most)
        slot = max(min(c.size, room + c.nullable) for c in columns)
        joined = min(len(columns), self.columns)
        pairs, rounds = joined * (joined - 1) // 2, 1
        each = joined - 1
        if self.algorithm == "aim" and pairs:
            rounds = min(self.rounds, pairs)
            each = min(pairs, math.ceil(self.each_column * joined / rounds))
        return Design(columns, label, most, slot, joined, rounds, each)

    def questions(self, schema: Schema, adjacency: Adjacency) -> tuple[Question, ...]:
        """Histograms, all choices, and for each round the counts of the chosen pairs."""
        from nacre.nets.graphical_fit import require_mbi
        from nacre.vault import Bound, Segment

        require_mbi()
        design = self.design(schema)
        label = class_label(schema) if design.label >= 0 else None
        given = f" for each value of '{label}'" if label else ""
        size, width = sum(column.size for column in design.columns), len(design.columns)
        first = Question(
            name="histograms",
            bound=Bound(
                segments=(Segment(size=size, norm=math.sqrt(width), signed=False),), by=label
            ),
            share=self.first if design.pairs else 1.0,
            unit=1.0,
            meaning="how many rows lie in each cell of each column" + given,
        )
        if not design.pairs:
            return (first,)
        block = Segment(size=design.slots**2, norm=1.0, signed=False)
        chosen = Question(
            name="choices of pairs",
            bound=Bound(segments=(block,) * len(design.pairs), by=label),
            share=self.choosing,
            unit=1.0,
            meaning="which pairs of columns to count" + given,
            choices=design.rounds * design.each,
        )
        share = (1 - self.first - self.choosing) / design.rounds
        counts = [
            Question(
                name=f"pairs of columns, round {place + 1}",
                bound=Bound(segments=(block,) * design.each, by=label),
                share=share,
                unit=1.0,
                meaning=f"how many rows lie in each pair of bins of {design.each} chosen pairs"
                + given,
            )
            for place in range(design.rounds)
        ]
        return (first, chosen, *counts)

    def learn(self, vault: Vault, *, key: Any) -> GraphicalGenerator:
        """Release histograms, bin by them, then choose and count pairs and fit the model."""
        import numpy as np

        from nacre.embed.blocks import block_features
        from nacre.embed.marginals import cell_places, single_features
        from nacre.nets.graphical_choose import spanning_tree, worst_pairs
        from nacre.nets.graphical_learn import Learner
        from nacre.nets.mosaic_learn import Singles

        design = self.design(vault.schema)
        first, *rest = self.questions(vault.schema, vault.adjacency)
        places = cell_places(vault.layout, design.columns, design.most)
        sums = vault.sum(single_features(places), first.bound, share=first.share, name=first.name)
        singles = Singles.of(design.columns, sums.values, sums.noise[0])
        learner = Learner.of(
            singles,
            label=design.label,
            always=-1 if design.label >= 0 else _column_of(design, label_place(vault.schema)),
            joined=design.joined,
            slots=design.slots,
            bins=self.bins,
            noise=_noise(vault, rest[-1]) if rest else math.inf,
            megabytes=self.megabytes,
            steps=self.steps,
        )
        if not rest:
            return learner.generator(design.most)
        table = np.concatenate(learner.cell_bins)
        slots = [design.slots] * len(design.columns)

        def features(pairs: Sequence[tuple[int, int]]) -> Any:
            named = [(learner.joined[i], learner.joined[j]) for i, j in pairs]
            starts = [design.slots**2 * place for place in range(len(pairs))]
            return block_features(places, table, named, slots, starts)

        choices, *rounds = rest
        choose = vault.choose(
            features(design.pairs),
            choices.bound,
            count=choices.choices,
            share=choices.share,
            name=choices.name,
        )
        for place, question in enumerate(rounds, 1):
            if self.algorithm == "mst":
                chosen = spanning_tree(learner, design.pairs, choose)
            else:
                part = place / len(rounds)
                chosen = worst_pairs(learner, design.pairs, choose, each=design.each, part=part)
            # Where too few are allowed, those chosen are counted more than once.
            full = sorted(itertools.islice(itertools.cycle(chosen), design.each))
            picked = [design.pairs[number] for number in full]
            found = vault.sum(
                features(picked), question.bound, share=question.share, name=question.name
            )
            learner.add(picked, found.values, found.noise[0])
            vault.report("fitting the model", place / (len(rounds) + 1))
            learner.fit(last=place == len(rounds))
        return learner.generator(design.most)


def _noise(vault: Vault, question: Question) -> float:
    """The deviation of one count in the answer to come."""
    return question.bound.sensitivity(vault.adjacency) / vault.mu / math.sqrt(question.share)


def _column_of(design: Design, label: int) -> int:
    """The place of a label that is a column like the others, or -1."""
    places = [k for k, c in enumerate(design.columns) if c.number < 0 and c.code == label >= 0]
    return places[0] if places else -1
