"""Mosaic: match private two-way marginals, class by class, with a mixture of products.

Two releases.  The first is a fine histogram of every column for each class; from it alone follow
coarse bins (a spike is a bin by itself, the others hold equal mass), and how many columns and bins
the noise will let be seen.  The second counts pairs of bins for each class, within a public bound.
A row touches one class only, so the label costs nothing.  The rest is post-processing: mixtures
fitted as closely as the noise allows, and a label model taught by the same counts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nacre.cells import EXACT_TICKS, Column, table_columns
from nacre.methods.matching import class_label, label_place, public_rng, target_column
from nacre.methods.method import Question
from nacre.methods.settings import settle
from nacre.schema import Schema
from nacre.vault.bound import Adjacency

if TYPE_CHECKING:
    from nacre.nets.mosaic import MosaicGenerator
    from nacre.nets.mosaic_learn import Loose, Pairs, Singles
    from nacre.vault import Vault


NORM = 4096  # of one row in the second release, in whole units
WIDE_FIRST = 0.5  # share of the histograms in tables of more columns than can be joined
WIDTH = 10_000  # cells of all columns together, about, in a table of many columns


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    most      cells of a number
    joined    at most so many columns are counted in pairs
    by_class  whether pairs are counted for each class, or over all of them
    size      room for the second release's counts, in each class
    """

    columns: tuple[Column, ...]
    most: int
    joined: int
    by_class: bool
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mosaic:
    """Settings of Mosaic; all of them public constants.

    first          share of the budget for the histograms; the pairs get the rest
    cells          most values of a number that get a cell each; a number with more gets 256 cells
    bins           of a number where pairs are counted: about so many, half as many more at most
    values         about the most numbers in one release; where that is too few for pairs by
                   class, they are counted over all classes
    columns        how many columns pairs are counted of, at most: those that say most about the
                   label, fewer where noise would drown them; the others follow from the label
    components     how many products each mixture has
    fits           how many mixtures are fitted, to be drawn from in turn
    steps          how many steps of Adam fit a mixture, at most
    rate           Adam's learning rate
    stop           a fit stops at this multiple of the misfit that noise alone leaves
    trust          how much of the mixture's own label posterior the taught label keeps
    teacher        prior deviation of the label model's coefficients; 0 for no label model
    teacher_pairs  likewise, for pairs of columns
    """

    title: ClassVar[str] = "Mosaic"
    paper: ClassVar[str] = "nacre; after McKenna et al. (2021): marginals first, then a model"
    summary: ClassVar[str] = "matches private two-way marginals, class by class"

    first: float = 0.3
    cells: int = 512
    bins: int = 16
    values: int = 300_000
    columns: int = 64
    components: int = 300
    fits: int = 8
    steps: int = 1200
    rate: float = 0.05
    stop: float = 1.0
    trust: float = 0.5
    teacher: float = 0.3
    teacher_pairs: float = 0.15

    def __post_init__(self) -> None:
        settle(
            self,
            or_zero=("teacher", "teacher_pairs"),
            first=(0.001, 0.999),
            cells=(4, EXACT_TICKS),
            bins=(4, 1000),
            values=(100, 10**8),  # room for four bins of two columns
            columns=(1, 10_000),
            components=(1, 10_000),
            fits=(1, 1000),
            steps=(1, 10**6),
            rate=(1e-6, 1),
            stop=(0, 10**6),
            trust=(0, 1),
            teacher=(0.001, 1000),
            teacher_pairs=(0.001, 1000),
        )

    def design(self, schema: Schema) -> Design:
        """What will be counted."""
        layout, label = schema.layout, label_place(schema)
        classes = layout.codes[label].size if label >= 0 else 1
        # Noise grows with the number of columns: wide tables are better seen through few cells.
        width = max(len(layout.numbers) + len(layout.codes), 1)
        room = min(WIDTH // width, self.values // (classes * max(len(layout.numbers), 1)))
        most = min(self.cells, max(16, room))
        columns = table_columns(layout, label, most)
        joined = min(self.columns, len(columns))
        # Pairs are counted by class if four bins of every column that may be joined find room.
        by_class = classes * _room(columns, joined, 4) <= self.values
        room = self.values // (classes if by_class else 1)
        size = min(_room(columns, len(columns), self.bins), room)
        return Design(columns, most, joined, by_class, size)

    def questions(self, schema: Schema, adjacency: Adjacency) -> tuple[Question, ...]:
        """Histograms by class, then pairs of bins by class."""
        from nacre.vault import Bound, Segment

        design, label = self.design(schema), class_label(schema)
        given = f" for each value of '{label}'" if label else ""
        size, columns = sum(column.size for column in design.columns), len(design.columns)
        histograms = Segment(size=size, norm=math.sqrt(columns), signed=False)
        first = Question(
            name="histograms",
            bound=Bound(segments=(histograms,), by=label),
            share=self._first(design),
            unit=1.0,
            meaning="how many rows lie in each cell of each column" + given,
        )
        if design.joined < 2:
            return (first,)
        counts = Segment(size=design.size, norm=NORM, signed=False)
        pairs = design.joined * (design.joined - 1) // 2
        second = Question(
            name="pairs of columns",
            bound=Bound(segments=(counts,), by=label if design.by_class else None),
            share=1.0 - self._first(design),
            unit=NORM / math.sqrt(pairs + len(design.columns) - design.joined),
            meaning=f"how many rows lie in each pair of bins of at most {pairs} pairs of columns"
            + (given if design.by_class else ""),
        )
        return first, second

    def _first(self, design: Design) -> float:
        """The histograms' share: all if there are no pairs, more if many columns have none."""
        if design.joined < 2:
            return 1.0
        return max(self.first, WIDE_FIRST) if len(design.columns) > design.joined else self.first

    def learn(self, vault: Vault, *, key: Any) -> MosaicGenerator:
        """Release histograms, bin by them, release pairs, then fit and teach."""
        import numpy as np

        from nacre.embed.marginals import cell_places, single_features
        from nacre.nets.mosaic_fit import fit_mixtures
        from nacre.nets.mosaic_learn import (
            Singles,
            agreed,
            refined,
            targets,
            taught,
            untaught,
        )

        design, label = self.design(vault.schema), label_place(vault.schema)
        question, *rest = self.questions(vault.schema, vault.adjacency)
        places = cell_places(vault.layout, design.columns, design.most)
        sums = vault.sum(
            single_features(places), question.bound, share=question.share, name=question.name
        )
        singles = Singles.of(design.columns, sums.values, sums.noise[0])
        if not rest:
            components = np.zeros((1, 0), np.float32)
            weights = (singles.sizes / singles.total)[None].astype(np.float32)
            return untaught(singles, None, components, weights, most=design.most, label=label)
        loose, pairs = self._count(vault, design, singles, places, rest[0])
        singles = refined(singles, loose)
        rng = public_rng(key)
        components, weights = fit_mixtures(
            targets(singles, pairs),
            fits=self.fits,
            components=self.components,
            steps=self.steps,
            rate=self.rate,
            stop=self.stop,
            rng=rng,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )
        singles = agreed(singles, pairs)
        plain = untaught(singles, pairs, components, weights, most=design.most, label=label)
        if label < 0 or not self.teacher:
            return plain
        return taught(
            plain,
            singles,
            pairs,
            trust=self.trust,
            deviation=self.teacher,
            pair_deviation=self.teacher_pairs,
            rng=rng,
        )

    def _count(
        self, vault: Vault, design: Design, singles: Singles, places: Any, question: Question
    ) -> tuple[Loose, Pairs]:
        """The second release: bins from the first one, then counts of their pairs."""
        import numpy as np

        from nacre.embed.marginals import table_features
        from nacre.nets.mosaic_counting import plan_counting

        noise = question.bound.sensitivity(vault.adjacency) / vault.mu / math.sqrt(question.share)
        counting = plan_counting(
            singles,
            order=_strongest(singles, target_column(vault.schema)),
            most=design.joined,
            bins=self.bins,
            size=design.size,
            norm=NORM,
            noise=noise,
            by_class=design.by_class,
        )
        groups = [
            counting.groups.get(place, np.zeros(column.size, np.int64))
            for place, column in enumerate(design.columns)
        ]
        features = table_features(
            places,
            np.concatenate(groups),
            [int(group.max()) + 1 for group in groups],
            [*((column,) for column in counting.loose), *counting.pairs],
            counting.weights,
            list(counting.commonest.values()),
        )
        sums = vault.sum(features, question.bound, share=question.share, name=question.name)
        return counting.split(sums.values, sums.noise[0])


def _room(columns: Sequence[Column], joined: int, bins: int) -> int:
    """How many values bins of all columns and pairs of the `joined` widest can need."""
    slots = [min(column.size, bins + bins // 2 + column.nullable) for column in columns]
    wide = sorted(slots)[-joined:]
    return (sum(wide) ** 2 - sum(s * s for s in wide)) // 2 + sum(slots)


def _strongest(singles: Singles, target: int | None) -> list[int]:
    """The columns, those first that say most about the class; a numeric target before all."""
    columns = range(len(singles.columns))
    # Without classes the columns that vary most come first.
    return sorted(
        columns, key=lambda c: (c != target, -singles.association(c), -singles.entropy(c))
    )
