"""What MST and AIM share: histograms, private choices of pairs, and a graphical model of them.

Bins are made from the first release, as in Mosaic; inference is Private-PGM's (`mbi`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, Column, table_columns
from nacre.histograms.weights import NORM, column_weights
from nacre.methods.heaps import HEAPS, Rounds, ask_heaps, heaps_question
from nacre.methods.method import Outlook
from nacre.methods.outlook import plain_numbers
from nacre.rows import TableEncoder
from nacre.vault import Bound, Choice, Segment, Sum

if TYPE_CHECKING:
    import numpy as np

    from nacre.methods.graphical.generator import GraphicalGenerator
    from nacre.methods.graphical.learn import Learner
    from nacre.vault import Choices, Plan, Vault

HISTOGRAMS, PAIRS = "histograms", "pairs of columns"
CELLS = 20_000  # of one pair of columns, all classes together
WIDTH = 10_000  # cells of all columns together, about, in a table of many columns

Pick = Callable[["Learner", "Choices", float], Sequence[int]]
"""(learner, choices, part of the rounds that will be done) -> the pairs to count next."""


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    Attributes:
        columns: all of them but the label, if all is counted by label.
        label: the place among the codes of the column by which all is counted, if there is one.
        most: cells of a number.
        slots: how many bins of a column there is room for.
        joined: how many columns are paired; the others follow from the label, if there is one.
        rounds: how often pairs are chosen and then counted.
        each: how many pairs a round counts.
    """

    columns: tuple[Column, ...]
    label: int | None
    most: int
    slots: int
    joined: int
    rounds: int = 1
    each: int = 1

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of places among the joined columns."""
        return tuple(itertools.combinations(range(self.joined), 2))


def check_shares(first: float, choosing: float) -> None:
    """Refuse shares that leave nothing for the counts."""
    if first + choosing > 0.999:
        raise NacreError("first and choosing must leave a part of the budget, got all of it.")


def make_design(
    encoder: TableEncoder, *, cells: int, bins: int, columns: int, by_label: bool
) -> Design:
    """What will be counted, in one round; by label if that is wanted and leaves room."""
    layout = encoder.layout
    label = encoder.place(encoder.label) if by_label else None
    width = max(len(layout.numbers) + len(layout.codes), 1)
    most = min(cells, max(16, WIDTH // width))
    room = bins + bins // 2
    slots = [min(c.size, room + c.nullable) for c in table_columns(layout, label, most)]
    if label is not None and layout.codes[label].size * max(slots, default=1) ** 2 > CELLS:
        label = None
    every = table_columns(layout, label, most)
    slot = max(min(c.size, room + c.nullable) for c in every)
    return Design(every, label, most, slot, min(len(every), columns))


def make_questions(
    encoder: TableEncoder, design: Design, *, first: float, choosing: float, heaps: float
) -> tuple[Sum | Choice, ...]:
    """Histograms, round values, all choices, and for each round the counts of the chosen pairs."""
    from nacre.methods.graphical.fit import require_mbi

    require_mbi()
    label = None if design.label is None else encoder.label
    given = f" for each value of '{label.name}'" if label else ""
    size = sum(column.size for column in design.columns)
    left = 1 - first if design.pairs else 1.0
    heaped = heaps_question(design.columns, encoder.layout, heaps, left)
    spent = sum(question.share for question in heaped)
    histograms = Sum(
        name=HISTOGRAMS,
        meaning="how many rows lie in each cell of each column" + given,
        bound=Bound(segments=(Segment(size=size, norm=NORM, signed=False),), by=label),
        share=first if design.pairs else 1.0 - spent,
        unit=float(column_weights(design.columns).min()),
    )
    if not design.pairs:
        return (histograms, *heaped)
    block = Segment(size=design.slots**2, norm=1.0, signed=False)
    choices = Choice(
        name="choices of pairs",
        meaning="which pairs of columns to count" + given,
        bound=Bound(segments=(block,) * len(design.pairs), by=label),
        share=choosing * (1 - spent / left),
        count=design.rounds * design.each,
    )
    counts = [
        Sum(
            name=f"{PAIRS}, round {place + 1}",
            meaning=f"how many rows lie in each pair of bins of {design.each} chosen pairs" + given,
            bound=Bound(segments=(block,) * design.each, by=label),
            share=(1 - first - spent - choosing * (1 - spent / left)) / design.rounds,
        )
        for place in range(design.rounds)
    ]
    return (histograms, *heaped, choices, *counts)


def make_outlook(encoder: TableEncoder, plan: Plan, rows: int) -> Outlook:
    """What noise leaves of the histograms and of the chosen pairs."""
    histograms = [a for a in plan.asked if a.question.name == HISTOGRAMS]
    pairs = [a for a in plan.asked if a.question.name.startswith(PAIRS)]
    return Outlook(plain=plain_numbers(encoder, plan, rows, histograms=histograms, pairs=pairs))


def learn(
    vault: Vault,
    plan: Plan,
    design: Design,
    pick: Pick,
    *,
    bins: int,
    megabytes: float,
    steps: int,
    rng: np.random.Generator,
) -> GraphicalGenerator:
    """Release histograms, bin by them, then choose and count pairs and fit the model."""
    import numpy as np

    from nacre.embed.blocks import block_features
    from nacre.embed.marginals import cell_places, single_features
    from nacre.histograms.atoms import Atoms
    from nacre.histograms.histograms import Histograms
    from nacre.methods.days import with_distances
    from nacre.methods.families import with_families
    from nacre.methods.graphical.learn import Learner

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    first, *rest = (planned.question for planned in plan.asked)
    places = cell_places(encoder.layout, design.columns)
    weights = column_weights(design.columns)
    sums = vault.sum(first, single_features(places, weights))  # type: ignore[arg-type]
    histograms = Histograms.of(design.columns, sums.values, sums.noise[0], weights)
    histograms = with_families(histograms, encoder)
    rounds = Rounds.none()
    if rest and rest[0].name == HEAPS:
        asked: Sum = rest.pop(0)  # type: ignore[assignment]
        rounds = ask_heaps(vault, asked, encoder.layout, histograms, places, Atoms.none())
        histograms, _, rounds = rounds.settled(histograms, encoder.layout, Atoms.none())

    def finished(learner: Learner) -> GraphicalGenerator:
        found = learner.generator(encoder.layout, design.most, rounds.heaps, rounds.calendars)
        return with_distances(found, rounds, histograms.total, rng)

    learner = Learner.of(
        histograms,
        label=design.label,
        always=_column_of(design, encoder.place(encoder.label)),
        joined=design.joined,
        slots=design.slots,
        bins=bins,
        noise=vault.noise(rest[-1]) if rest else math.inf,
        megabytes=megabytes,
        steps=steps,
    )
    if not rest:
        return finished(learner)
    table = np.concatenate(learner.cell_bins)
    slots = [design.slots] * len(design.columns)

    def features(pairs: Sequence[tuple[int, int]]) -> Any:
        named = [(learner.joined[i], learner.joined[j]) for i, j in pairs]
        starts = [design.slots**2 * place for place in range(len(pairs))]
        return block_features(places, table, named, slots, starts)

    choices, *counts = rest
    choose = vault.choose(choices, features(design.pairs))  # type: ignore[arg-type]
    for place, question in enumerate(counts, 1):
        chosen = pick(learner, choose, place / len(counts))
        # Where too few are allowed, those chosen are counted more than once.
        full = sorted(itertools.islice(itertools.cycle(chosen), design.each))
        picked = [design.pairs[number] for number in full]
        found = vault.sum(question, features(picked))  # type: ignore[arg-type]
        learner.add(picked, found.values, found.noise[0])
        vault.report("fitting the model", place / (len(counts) + 1))
        learner.fit(last=place == len(counts))
    return finished(learner)


def _column_of(design: Design, label: int | None) -> int | None:
    """The column that is the label, where that is a column like the others."""
    for place, column in enumerate(design.columns):
        if isinstance(column, CodeColumn) and column.code == label:
            return place
    return None
