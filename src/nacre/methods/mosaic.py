"""Mosaic: match private two-way marginals, class by class, with a mixture of products.

Two releases.  The first is a fine histogram of every column for each class; from it alone follow
coarse bins (a spike is a bin by itself, the others hold equal mass).  The second counts all pairs
of bins for each class.  A row touches one class only, so the label costs nothing.  The rest is
post-processing: mixtures fitted as closely as the noise allows, and a label model taught by the
same counts.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from nacre.cells import Column, table_columns
from nacre.methods.matching import class_label, label_place, public_rng, target_column
from nacre.methods.method import Question
from nacre.schema import Schema
from nacre.vault.bound import Adjacency

if TYPE_CHECKING:
    from nacre.nets.mosaic import MosaicGenerator
    from nacre.nets.mosaic_learn import Pairs, Singles
    from nacre.vault import Vault


WIDTH = 10_000  # cells of all columns together, about, in a table of many columns


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    most      cells of a number
    by_class  whether pairs are counted for each class, or over all of them
    bins      about how many a number gets
    slots     how many bins of each joined column there is room for
    chosen    whether the joined columns are chosen after the first release, or all columns
    """

    columns: tuple[Column, ...]
    most: int
    by_class: bool
    bins: int
    slots: tuple[int, ...]
    chosen: bool

    @property
    def pairs(self) -> int:
        """How many pairs of columns are counted."""
        return len(self.slots) * (len(self.slots) - 1) // 2

    @property
    def pair_cells(self) -> int:
        """How many pairs of slots there are."""
        return (sum(self.slots) ** 2 - sum(s * s for s in self.slots)) // 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mosaic:
    """Settings of Mosaic; all of them public constants.

    first          share of the budget for the histograms; the pairs get the rest
    cells          most values of a number that get a cell each; a number with more gets 256 cells
    bins           of a number where pairs are counted: about so many, half as many more at most
    values         about the most numbers in one release; wide tables get fewer bins, then pairs
                   over all classes, then pairs of some `columns` only
    columns        how many pairs are counted of, where all would be too many: those that say most
                   about the label; the others follow from the label
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
    columns: int = 32
    components: int = 300
    fits: int = 4
    steps: int = 1200
    rate: float = 0.05
    stop: float = 1.0
    trust: float = 0.5
    teacher: float = 0.3
    teacher_pairs: float = 0.15

    def __post_init__(self) -> None:
        if not 0 < self.first < 1:
            raise ValueError(f"first must lie strictly between 0 and 1, got {self.first}.")
        if not 0 <= self.trust <= 1:
            raise ValueError(f"trust must lie between 0 and 1, got {self.trust}.")
        if (
            min(self.components, self.fits, self.steps, self.columns) < 1
            or min(self.bins, self.cells) < 4
        ):
            raise ValueError(
                "Mosaic needs at least one component, fit and step, and four bins and cells."
            )

    def design(self, schema: Schema) -> Design:
        """What will be counted; the first arrangement whose counts are not too many."""
        layout, label = schema.layout, label_place(schema)
        classes = layout.codes[label].size if label >= 0 else 1
        # Noise grows with the number of columns: wide tables are better seen through few cells.
        width = max(len(layout.numbers) + len(layout.codes), 1)
        room = min(WIDTH // width, self.values // (classes * max(len(layout.numbers), 1)))
        most = min(self.cells, max(16, room))
        columns = table_columns(layout, label, most)
        few = max(self.bins // 2, 4)
        every = [tuple(_slots(column, bins) for column in columns) for bins in (self.bins, few)]
        some = (few + few // 2,) * min(self.columns, len(columns))
        for slots, bins, chosen, by_class in (
            (every[0], self.bins, False, True),
            (every[1], few, False, True),
            (every[0], self.bins, False, False),
            (every[1], few, False, False),
            (some, few, True, True),
            (some, few, True, False),
        ):
            found = Design(columns, most, by_class, bins, slots, chosen)
            if found.pair_cells * (classes if by_class else 1) <= self.values:
                break
        return found

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
        if not design.pairs:
            return (first,)
        counts = Segment(size=design.pair_cells, norm=math.sqrt(design.pairs), signed=False)
        second = Question(
            name="pairs of columns",
            bound=Bound(segments=(counts,), by=label if design.by_class else None),
            share=1.0 - self._first(design),
            unit=1.0,
            meaning=f"how many rows lie in each pair of bins of {design.pairs} pairs of columns"
            + (given if design.by_class else ""),
        )
        return first, second

    def _first(self, design: Design) -> float:
        """The histograms' share: all if there are no pairs, more if most columns have none."""
        if not design.pairs:
            return 1.0
        return max(self.first, 0.5) if design.chosen else self.first

    def learn(self, vault: Vault, *, key: Any) -> MosaicGenerator:
        """Release histograms, bin by them, release pairs, then fit and teach."""
        import numpy as np

        from nacre.embed.marginals import cell_places, single_features
        from nacre.nets.mosaic_fit import fit_mixtures
        from nacre.nets.mosaic_learn import Singles, targets, taught, untaught

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
        pairs = self._pairs(vault, design, singles, places, rest[0])
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

    def _pairs(
        self, vault: Vault, design: Design, singles: Singles, places: Any, question: Question
    ) -> Pairs:
        """The second release: bins from the first one, then counts of all their pairs."""
        import numpy as np

        from nacre.embed.marginals import pair_features, pair_starts
        from nacre.nets.mosaic_learn import Pairs, pair_tables

        joined = tuple(range(len(design.columns)))
        if design.chosen:
            joined = _strongest(singles, len(design.slots), target_column(vault.schema))
        noise = question.bound.sensitivity(vault.adjacency) / vault.mu / math.sqrt(question.share)
        error = noise / singles.total
        groups = [
            singles.group(
                column,
                most=design.bins,
                floor=max(0.01, 3 * error),
                rare=max(0.005, 2 * error),
                slots=slots,
            )
            for column, slots in zip(joined, design.slots, strict=True)
        ]
        table = [np.zeros(column.size, np.int64) for column in design.columns]
        for column, group in zip(joined, groups, strict=True):
            table[column] = group
        features = pair_features(places, np.concatenate(table), joined, design.slots)
        sums = vault.sum(features, question.bound, share=question.share, name=question.name)
        bins = [int(group.max()) + 1 for group in groups]
        starts = pair_starts(design.slots).tolist()
        tables = pair_tables(sums.values, starts, design.slots, bins)
        return Pairs(joined, groups, tables, sums.noise[0])


def _slots(column: Column, bins: int) -> int:
    """Room for a column's bins; the lumped rest and 'missing' included."""
    return min(column.size, bins + bins // 2 + column.nullable)


def _strongest(singles: Singles, count: int, target: int | None) -> tuple[int, ...]:
    """The columns that say most about the class, a numeric target always among them."""
    columns = range(len(singles.columns))
    order = sorted(columns, key=lambda c: (c != target, -singles.association(c)))
    return tuple(sorted(order[:count]))
