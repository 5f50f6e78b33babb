"""Mosaic: match private two-way marginals, class by class, with a mixture of products.

The first release is a fine histogram of every column for each class; from it alone follow coarse
bins (a spike is a bin by itself, the others hold equal mass), and how many columns and bins the
noise will let be seen.  Where numbers have cells of many values, a small release looks for single
values in the heavy ones.  The last one counts pairs of bins for each class, within a public bound.
A row touches one class only, so the label costs nothing.  The rest is post-processing: mixtures
fitted as closely as the noise allows, and a label model taught by the same counts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.histograms.cells import EXACT_TICKS, Column, table_columns
from nacre.methods.method import AbstractMethod, Outlook
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.rows import TableEncoder
from nacre.vault import Adjacency, Bound, Choice, Segment, Sum

if TYPE_CHECKING:
    from nacre.histograms.atoms import Atoms
    from nacre.histograms.histograms import Histograms
    from nacre.methods.mosaic.generator import MosaicGenerator
    from nacre.methods.mosaic.learn import Loose, Pairs
    from nacre.vault import Plan, Vault


PAIRS = "pairs of columns"
NORM = 4096  # of one row in the second release, in whole units
WIDE_FIRST = 0.5  # share of the histograms in tables of more columns than can be joined
TICKS = 50_000  # that the look for single values counts at most
HIDDEN = 0.1  # correlations that noise hides: beyond it people are warned
WIDTH = 10_000  # cells of all columns together, about, in a table of many columns


@dataclasses.dataclass(frozen=True)
class Design:
    """What will be counted: public, from the schema and the settings.

    Attributes:
        most: cells of a number.
        joined: at most so many columns are counted in pairs.
        by_class: whether pairs are counted for each class, or over all of them.
        size: room for the second release's counts, in each class.
        crossed: among how many columns tables of three and four are looked for.
    """

    columns: tuple[Column, ...]
    most: int
    joined: int
    by_class: bool
    size: int
    crossed: int


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Mosaic(AbstractMethod):
    """Settings of Mosaic; all of them public constants."""

    title: ClassVar[str] = "Mosaic"
    paper: ClassVar[str] = "nacre; after McKenna et al. (2021): marginals first, then a model"
    summary: ClassVar[str] = "matches private two-way marginals, class by class"
    proof: ClassVar[str] = "Gaussian sums"
    cost: ClassVar[str] = "tens of seconds"
    when: ClassVar[str] = "nearly every table: the default"

    first: float = setting(
        0.3, "share of the budget for the histograms; the pairs get the rest", low=0.001, high=0.999
    )
    single: float = setting(
        0.07,
        "of what the histograms leave, the share for single values in heavy cells, where "
        "numbers have cells of several; 0 for none",
        low=0.001,
        high=0.5,
        or_zero=True,
    )
    cells: int = setting(
        512,
        "most values of a number that get a cell each; a number with more gets 256 cells",
        low=4,
        high=EXACT_TICKS,
    )
    bins: int = setting(
        16,
        "of a number where pairs are counted: about so many, half as many more at most",
        low=4,
        high=1000,
    )
    values: int = setting(
        300_000,
        "about the most numbers in one release; where that is too few for pairs by class, "
        "they are counted over all classes",
        low=100,
        high=10**8,
    )
    columns: int = setting(
        64,
        "how many columns pairs are counted of, at most: those that say most about the "
        "label, fewer where noise would drown them; the others follow from the label",
        low=1,
        high=10_000,
    )
    several: float = setting(
        0.06,
        "share of what the histograms leave for tables of three and four columns that the model "
        "gets wrong about the label; 0 for none",
        low=0.001,
        high=0.9,
        or_zero=True,
    )
    components: int = setting(300, "how many products each mixture has", low=1, high=10_000)
    fits: int = setting(
        8, "how many mixtures are fitted, to be drawn from in turn", low=1, high=1000
    )
    steps: int = setting(1200, "how many steps of Adam fit a mixture, at most", low=1, high=10**6)
    rate: float = setting(0.05, "Adam's learning rate", low=1e-6, high=1)
    stop: float = setting(
        1.0, "a fit stops at this multiple of the misfit that noise alone leaves", low=0, high=10**6
    )
    trust: float = setting(
        0.5, "how much of the mixture's own label posterior the taught label keeps", low=0, high=1
    )
    teacher: float = setting(
        0.3,
        "prior deviation of the label model's coefficients; 0 for no label model",
        low=0.001,
        high=1000,
        or_zero=True,
    )
    teacher_pairs: float = setting(
        0.15, "likewise, for pairs of columns", low=0.001, high=1000, or_zero=True
    )

    def __post_init__(self) -> None:
        settle(self)

    def design(self, encoder: TableEncoder) -> Design:
        """What will be counted."""
        layout, label = encoder.layout, encoder.place(encoder.label)
        classes = 1 if label is None else layout.codes[label].size
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
        from nacre.methods.mosaic.crossing import crossed_columns

        taught = self.several > 0 and self.teacher > 0 and by_class
        crossed = crossed_columns(joined, classes, self.values) if taught else 0
        return Design(columns, most, joined, by_class, size, crossed)

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum | Choice, ...]:
        """Histograms by class, then pairs of bins by class, then tables of several columns."""
        design, label = self.design(encoder), encoder.label
        given = f" for each value of '{label.name}'" if label else ""
        size, columns = sum(column.size for column in design.columns), len(design.columns)
        histograms = Segment(size=size, norm=math.sqrt(columns), signed=False)
        look = self._look(encoder, design)
        first = Sum(
            name="histograms",
            bound=Bound(segments=(histograms,), by=label),
            share=self._first(design) if design.joined > 1 else 1.0 - sum(q.share for q in look),
            unit=1.0,
            meaning="how many rows lie in each cell of each column" + given,
        )
        if design.joined < 2:
            return (first, *look)
        several = self.several if design.crossed else 0.0
        rest = 1.0 - self._first(design) - sum(question.share for question in look)
        counts = Segment(size=design.size, norm=NORM, signed=False)
        pairs = design.joined * (design.joined - 1) // 2
        second = Sum(
            name=PAIRS,
            bound=Bound(segments=(counts,), by=label if design.by_class else None),
            share=rest * (1 - several),
            unit=NORM / math.sqrt(pairs + len(design.columns) - design.joined),
            meaning=f"how many rows lie in each pair of bins of at most {pairs} pairs of columns"
            + (given if design.by_class else ""),
        )
        if not design.crossed or label is None:
            return first, *look, second
        from nacre.methods.mosaic.crossing import crossing_questions

        return first, *look, second, *crossing_questions(design.crossed, label, rest * several)

    def _look(self, encoder: TableEncoder, design: Design) -> tuple[Sum, ...]:
        """The look for single values, if there is anything to look at."""
        from nacre.histograms.atoms import looked_at

        room = min(TICKS, self.values)
        columns = looked_at(design.columns, encoder.layout, room)
        if not columns or not self.single:
            return ()
        counts = Segment(size=room, norm=NORM, signed=False)
        return (
            Sum(
                name="values in heavy cells",
                bound=Bound(segments=(counts,)),
                share=self.single * (1.0 - self._first(design) if design.joined > 1 else 1.0),
                unit=NORM / math.sqrt(len(columns)),
                meaning=f"how many rows have each single value in the heaviest cells of "
                f"{len(columns)} numbers at most",
            ),
        )

    def _first(self, design: Design) -> float:
        """The histograms' share: all if there are no pairs, more if many columns have none."""
        if design.joined < 2:
            return 1.0
        return max(self.first, WIDE_FIRST) if len(design.columns) > design.joined else self.first

    def outlook(self, encoder: TableEncoder, plan: Plan, rows: int) -> Outlook:
        """The weakest links that noise leaves visible among so many rows.

        Two columns of two halves each that correlate by r differ from independent ones by r n / 4
        rows in each of four cells; their contrast has the noise of four counts, for each class.  So
        at two deviations r = 4 noise sqrt(classes) / n.
        """
        first, *rest = plan.asked
        classes = 1 if encoder.label is None else encoder.label.classes
        label = 4 * first.release.noise / rows if classes > 1 else 0.0
        pairs = 0.0
        for asked in rest:
            if isinstance(asked.question, Sum) and asked.question.name == PAIRS:
                sides = asked.question.bound.classes
                pairs = 4 * asked.release.noise / asked.question.unit * math.sqrt(sides) / rows
        said = [
            f"{what} that correlate by less than about {min(weakest, 1.0):.2g}"
            for what, weakest in (("two columns", pairs), ("a column and the label", label))
            if weakest
        ]
        words = f"noise will hide the link of {', and of '.join(said)}" if said else ""
        return Outlook(words=words, weak=max(pairs, label) > HIDDEN)

    def small(self) -> Self:
        """A few components and steps of one fit."""
        return dataclasses.replace(self, fits=1, components=6, steps=12)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> MosaicGenerator:
        """Release histograms, bin by them, release pairs, then fit and teach."""
        import numpy as np

        from nacre.embed.marginals import cell_places, single_features
        from nacre.histograms.atoms import Atoms
        from nacre.histograms.histograms import Histograms
        from nacre.methods.mosaic.balance import balanced
        from nacre.methods.mosaic.crossing import Crossing, learn_crossings
        from nacre.methods.mosaic.fit import fit_mixtures
        from nacre.methods.mosaic.learn import (
            agreed,
            emptied,
            refined,
            targets,
            with_label_model,
            without_label_model,
        )
        from nacre.methods.mosaic.tables import with_tables

        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        layout, design, label = encoder.layout, self.design(encoder), encoder.place(encoder.label)
        rest: list[Any] = list(self.questions(encoder, plan.adjacency, plan.rows))
        question = rest.pop(0)
        places = cell_places(layout, design.columns)
        sums = vault.sum(question, single_features(places))
        histograms = Histograms.of(design.columns, sums.values, sums.noise[0])
        atoms = Atoms.none()
        if self._look(encoder, design):
            atoms = self._find_atoms(vault, design, histograms, places, rest.pop(0))
        if not rest:
            components = np.zeros((1, 0), np.float32)
            weights = (histograms.sizes / histograms.total)[None].astype(np.float32)
            alone = without_label_model(
                histograms, None, components, weights, most=design.most, label=label, layout=layout
            )
            return alone.with_atoms(atoms)
        order = _strongest(histograms, encoder.target)
        loose, pairs = self._count(
            vault, design, histograms, order, places, rest[0], encoder.target
        )
        histograms = refined(histograms, loose)
        rng = public_rng(key)
        components, weights = fit_mixtures(
            targets(histograms, pairs),
            fits=self.fits,
            components=self.components,
            steps=self.steps,
            rate=self.rate,
            stop=self.stop,
            rng=rng,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )
        histograms = agreed(histograms, pairs)
        components = emptied(components, weights, histograms, pairs)
        plain = without_label_model(
            histograms, pairs, components, weights, most=design.most, label=label, layout=layout
        )
        plain = with_tables(plain.with_atoms(atoms), pairs, loose, sums.noise[0])
        if label is None or not self.teacher:
            return plain
        taught = with_label_model(
            plain,
            histograms,
            pairs,
            trust=self.trust,
            deviation=self.teacher,
            pair_deviation=self.teacher_pairs,
            rng=rng,
        )
        if len(rest) > 1:
            crossing, asked = Crossing.of(histograms, order[: design.crossed]), (rest[1], rest[2])
            total = histograms.total
            taught = learn_crossings(vault, asked, taught, crossing, places, total, rng)
        return balanced(taught, histograms.sizes / histograms.total, rng)

    def _find_atoms(
        self, vault: Vault, design: Design, histograms: Histograms, places: Any, question: Sum
    ) -> Atoms:
        """Single values that many rows of a heavy cell have."""
        from nacre.embed.ticks import tick_features
        from nacre.histograms.atoms import Look, find_atoms, looked_at

        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        room, noise = question.bound.segments[0].size, vault.noise(question)
        columns = looked_at(design.columns, encoder.layout, room)
        weight = math.floor(NORM / math.sqrt(len(columns)))
        look = Look.of(histograms, columns, room=room, noise=noise / weight)
        # Fewer columns than might have been: each is seen more clearly.
        weight = math.floor(NORM / math.sqrt(max(len(look.starts), 1)))
        features = tick_features(places, design.columns, look.starts, weight)
        sums = vault.sum(question, features)
        return find_atoms(histograms, look, sums.values[0] / weight, sums.noise[0] / weight)

    def _count(
        self,
        vault: Vault,
        design: Design,
        histograms: Histograms,
        order: list[int],
        places: Any,
        question: Sum,
        target: int | None,
    ) -> tuple[Loose, Pairs]:
        """The second release: bins from the first one, then counts of their pairs."""
        import numpy as np

        from nacre.embed.marginals import table_features
        from nacre.methods.mosaic.counting import plan_counting

        counting = plan_counting(
            histograms,
            order=order,
            most=design.joined,
            bins=self.bins,
            size=design.size,
            norm=NORM,
            noise=vault.noise(question),
            by_class=design.by_class,
            target=target,
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
        sums = vault.sum(question, features)
        return counting.split(sums.values, sums.noise[0])


def _room(columns: Sequence[Column], joined: int, bins: int) -> int:
    """How many values bins of all columns and pairs of the `joined` widest can need."""
    slots = [min(column.size, bins + bins // 2 + column.nullable) for column in columns]
    wide = sorted(slots)[-joined:]
    return (sum(wide) ** 2 - sum(s * s for s in wide)) // 2 + sum(slots)


def _strongest(histograms: Histograms, target: int | None) -> list[int]:
    """The columns, those first that say most about the class; a numeric target before all."""
    columns = range(len(histograms.columns))
    # Without classes the columns that vary most come first.
    return sorted(
        columns, key=lambda c: (c != target, -histograms.association(c), -histograms.entropy(c))
    )
