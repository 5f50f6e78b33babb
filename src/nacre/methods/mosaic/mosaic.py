"""Mosaic: match private two-way marginals, class by class, with a mixture of products.

The first releases are fine histograms of every column, for each class and of all rows; from them
alone follow coarse bins (a spike is a bin by itself, the others hold equal mass), and how many
columns and bins the noise will let be seen.  Where numbers have cells of many values, two small
releases look for single values in the heavy ones, and for multiples of round steps in all.  The
last ones count pairs of bins for each class, within a public bound: all of them, then those again
that turn out to be worth it, over all classes where these are many.  A row touches one class only,
so the label costs nothing.  The rest is post-processing: mixtures fitted as closely as the noise
allows, and a label model taught by the same counts.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.histograms.cells import EXACT_TICKS
from nacre.histograms.weights import NORM, column_weights
from nacre.methods.heaps import MEANING, heaps_question
from nacre.methods.method import AbstractMethod, Outlook
from nacre.methods.mosaic.design import Design, design_of
from nacre.methods.mosaic.finer import FINER, finer_question
from nacre.methods.mosaic.tables import HISTOGRAMS, PAIRS, WHOLE
from nacre.methods.mosaic.target import target_question
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.rows import Label, TableEncoder
from nacre.vault import Adjacency, Bound, Choice, Segment, Sum

if TYPE_CHECKING:
    import numpy as np

    from nacre.histograms.histograms import Histograms
    from nacre.methods.mosaic.asking import Seen
    from nacre.methods.mosaic.generator import MosaicGenerator
    from nacre.methods.mosaic.learn import Pairs
    from nacre.vault import Plan, Vault


SIZES, AGAIN = "number of rows", "pairs of columns again"
LOOK = "values in heavy cells"
SIZES_SHARE = 0.02  # of the budget, for the number of rows
WIDE_FIRST = 0.5  # share of the histograms in tables of more columns than can be joined
FEW_CLASSES = 2  # so many hardly add to the noise of their sum
TICKS = 50_000  # that the look for single values counts at most


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Mosaic(AbstractMethod):
    """Settings of Mosaic; all of them public constants."""

    title: ClassVar[str] = "Mosaic"
    paper: ClassVar[str] = "nacre; after McKenna et al. (2021): marginals first, then a model"
    summary: ClassVar[str] = "matches private two-way marginals, class by class"
    proof: ClassVar[str] = "Gaussian sums"
    cost: ClassVar[str] = "15 s on Adult"
    when: ClassVar[str] = "nearly every table: the default"

    first: float = setting(
        0.3, "share of the budget for the histograms; the pairs get the rest", low=0.001, high=0.999
    )
    whole: float = setting(
        0.3,
        "of the budget for histograms by class, the share for those of all rows; 0 for none",
        low=0.001,
        high=0.9,
        or_zero=True,
    )
    single: float = setting(
        0.07,
        "of what the histograms leave, the share for single values in heavy cells, where "
        "numbers have cells of several; 0 for none",
        low=0.001,
        high=0.5,
        or_zero=True,
    )
    heaps: float = setting(0.02, MEANING, low=0.001, high=0.5, or_zero=True)
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
    again: float = setting(
        0.5,
        "share of the pairs' budget for counting those again that turn out to be worth it; 0 for "
        "counting all of them once",
        low=0.001,
        high=0.9,
        or_zero=True,
    )
    finer: float = setting(
        0.04,
        "share of what the histograms leave for pairs of single values of columns that go "
        "together; 0 for none",
        low=0.001,
        high=0.9,
        or_zero=True,
    )
    shifts: float = setting(
        0.5,
        "of what the histograms leave in tables of more columns than pairs are counted of, the "
        "share for where each class's numbers lie among all; 0 for none",
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
        0.5,
        "how much of the mixture's own label posterior the taught label keeps where pairs were not "
        "counted by class",
        low=0,
        high=1,
    )
    teacher: float = setting(
        0.12,
        "prior deviation of the label model's coefficients; 0 for no label model",
        low=0.001,
        high=1000,
        or_zero=True,
    )
    teacher_pairs: float = setting(
        0.1, "likewise, for pairs of columns", low=0.001, high=1000, or_zero=True
    )

    def __post_init__(self) -> None:
        settle(self)

    def design(self, encoder: TableEncoder) -> Design:
        """What will be counted, at most."""
        return design_of(self, encoder)

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum | Choice, ...]:
        """Histograms by class, then pairs of bins by class, then tables of several columns."""
        design, label = self.design(encoder), encoder.label
        given = f" for each value of '{label.name}'" if label else ""
        size = cells = sum(column.size for column in design.columns)
        before: tuple[Sum, ...] = ()
        if design.adapts:
            before = (sizes_question(label, given),)
        if design.target is not None:
            name = encoder.layout.numbers[design.target].name
            given = f" for each class of '{name}'"
            before = (target_question(name, design.columns[design.target]),)
            size *= design.classes
        histograms = Segment(size=size, norm=NORM, signed=False)
        look = self._look(encoder, design)
        spent = sum(question.share for question in (*before, *look))
        first = Sum(
            name=HISTOGRAMS,
            bound=Bound(segments=(histograms,), by=label),
            share=self._first(design) if design.joined > 1 else 1.0 - spent,
            unit=float(column_weights(design.columns).min()),
            meaning="how many rows lie in each cell of each column" + given,
        )
        shifts = self._shifts(design, label, 1.0 - self._first(design) - spent, given)
        if design.classes > 1 and design.joined > 1 and self.whole:
            every = dataclasses.replace(
                first,
                name=WHOLE,
                bound=Bound(segments=(Segment(size=cells, norm=NORM, signed=False),)),
                share=self.whole * first.share,
                meaning="how many rows lie in each cell of each column",
            )
            first = dataclasses.replace(first, share=first.share - every.share)
            before = (*before, first, every)
        else:
            before = (*before, first)
        if design.joined < 2:
            return (*before, *look)
        several = self.several if design.crossed else 0.0
        rest = 1.0 - self._first(design) - spent - sum(question.share for question in shifts)
        look = (*look, *shifts)
        finer = finer_question(design.columns, design.joined, NORM, rest * self.finer)
        values = () if finer is None else (finer,)
        counts = Segment(size=design.size, norm=NORM, signed=False)
        pairs = design.joined * (design.joined - 1) // 2
        share = rest * (1 - several - (self.finer if values else 0.0))
        summed = design.by_class and design.classes > FEW_CLASSES
        again = share * self.again / (2 if summed else 1) if pairs > 1 else 0.0
        second = Sum(
            name=PAIRS,
            bound=Bound(segments=(counts,), by=label if design.by_class else None),
            share=share - again,
            unit=NORM / math.sqrt(pairs + len(design.columns) - design.joined),
            meaning=f"how many rows lie in each pair of bins of at most {pairs} pairs of columns"
            + (given if design.by_class else ""),
        )
        if again:
            meaning = second.meaning + ", of those that are worth it"
            # By class they are counted already: now those of all rows.
            bound = dataclasses.replace(second.bound, by=None) if summed else second.bound
            more = dataclasses.replace(
                second, name=AGAIN, bound=bound, share=again, meaning=meaning
            )
            values = (more, *values)
        if not design.crossed or label is None:
            return *before, *look, second, *values
        from nacre.methods.mosaic.crossing import crossing_questions

        crossing = crossing_questions(design.crossed, label, rest * several)
        return *before, *look, second, *values, *crossing

    def _shifts(
        self, design: Design, label: Label | None, rest: float, given: str
    ) -> tuple[Sum, ...]:
        """The sums of numbers' ranks, in wide tables with classes."""
        from nacre.methods.mosaic.shifts import numbers_of, shifts_question

        numbers = len(numbers_of(design.columns, design.target))
        if not (design.wide and design.classes > 1 and numbers and self.shifts):
            return ()
        stretches = 1 if design.target is None else design.classes
        share = rest * self.shifts * numbers / len(design.columns)
        return (shifts_question(numbers, stretches, label, NORM, share, given),)

    def _look(self, encoder: TableEncoder, design: Design) -> tuple[Sum, ...]:
        """The looks for single values and for heaps, if there is anything to look at."""
        from nacre.histograms.look import looked_at

        room = min(TICKS, self.values)
        columns = looked_at(design.columns, encoder.layout, room)
        left = 1.0 - self._first(design) if design.joined > 1 else 1.0
        heaps = heaps_question(design.columns, encoder.layout, self.heaps, left)
        if not columns or not self.single:
            return heaps
        counts = Segment(size=room, norm=NORM, signed=False)
        return (
            Sum(
                name=LOOK,
                bound=Bound(segments=(counts,)),
                share=self.single * left,
                unit=NORM / math.sqrt(len(columns)),
                meaning="how many rows have each single value in the heaviest cells of "
                + ("one number" if len(columns) == 1 else f"{len(columns)} numbers at most"),
            ),
            *heaps,
        )

    def _first(self, design: Design) -> float:
        """The histograms' share: all if there are no pairs, more if many columns have none."""
        if design.joined < 2:
            return 1.0
        return max(self.first, WIDE_FIRST) if len(design.columns) > design.joined else self.first

    def outlook(self, encoder: TableEncoder, plan: Plan, rows: int) -> Outlook:
        """The weakest links that noise leaves visible among so many rows, and hidden values."""
        from nacre.methods.mosaic.outlook import outlook_of

        return outlook_of(self.design(encoder), encoder, plan, rows)

    def small(self) -> Self:
        """A few components and steps of one fit."""
        return dataclasses.replace(self, fits=1, components=6, steps=12)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> MosaicGenerator:
        """Release histograms, bin by them, release pairs, then fit and teach."""
        from nacre.methods.days import with_distances
        from nacre.methods.families import with_families
        from nacre.methods.mosaic.asking import ask_histograms, ask_pairs
        from nacre.methods.mosaic.finer import with_finer
        from nacre.methods.mosaic.learn import alone, refined
        from nacre.methods.mosaic.shifts import SHIFTS, with_shifts
        from nacre.methods.mosaic.tables import with_tables
        from nacre.methods.mosaic.zeros import cuts, out_of_bounds, structural_zeros, with_zeros
        from nacre.nets.threads import one_thread

        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        label = encoder.place(encoder.label)
        asked = list(self.questions(encoder, plan.adjacency, plan.rows))
        seen, rest = ask_histograms(vault, self.design(encoder), asked)
        design, histograms, target = seen.design, seen.histograms, seen.target
        if not rest:
            found = alone(histograms, design.most, label, encoder.layout)
            found = found.with_atoms(seen.atoms).with_target(target)
            found = found.with_heaps(seen.rounds.heaps, seen.rounds.calendars)
            return with_distances(found, seen.rounds, histograms.total, public_rng(key))
        zeros = structural_zeros(encoder, design.columns)
        histograms = dataclasses.replace(histograms, begins=cuts(zeros, design.columns))
        zeros |= out_of_bounds(encoder.layout, design.columns)
        histograms = with_families(histograms, encoder)
        shifted = rest[0].name == SHIFTS
        if shifted:
            seen = dataclasses.replace(seen, histograms=histograms)
            histograms = with_shifts(vault, rest.pop(0), seen)
        order = _strongest(histograms, design.target)
        seen = dataclasses.replace(seen, histograms=histograms)
        counted = [question for question in rest if question.name in (PAIRS, AGAIN)]
        loose, counts = ask_pairs(vault, seen, order, counted, self.bins, shifted=shifted)
        histograms, pairs = refined(histograms, loose), with_zeros(counts, zeros)
        rng = public_rng(key)
        with one_thread():
            histograms, plain = self._fitted(vault, design, histograms, pairs, label, rng)
        plain = with_tables(plain.with_atoms(seen.atoms), counts, loose)
        plain = plain.with_heaps(seen.rounds.heaps, seen.rounds.calendars).with_target(target)
        rest = rest[len(counted) :]
        if rest and rest[0].name == FINER:
            plain = with_finer(vault, rest.pop(0), seen.places, histograms, counts, plain)
        if design.classes > 1 and self.teacher:
            seen = dataclasses.replace(seen, histograms=histograms)
            with one_thread():
                plain = self._taught(vault, seen, pairs, plain, order, rest, rng)
        return with_distances(plain, seen.rounds, histograms.total, rng)

    def _fitted(
        self,
        vault: Vault,
        design: Design,
        histograms: Histograms,
        pairs: Pairs,
        label: int | None,
        rng: np.random.Generator,
    ) -> tuple[Histograms, MosaicGenerator]:
        """Mixtures that meet the counts, and histograms that agree with them."""
        from nacre.methods.mosaic.agreement import agreed
        from nacre.methods.mosaic.fit import fit_mixtures
        from nacre.methods.mosaic.learn import emptied, targets, without_label_model

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
        layout = vault.encoder.layout  # type: ignore[attr-defined]
        return histograms, without_label_model(
            histograms, pairs, components, weights, most=design.most, label=label, layout=layout
        )

    def _taught(
        self,
        vault: Vault,
        seen: Seen,
        pairs: Pairs,
        plain: MosaicGenerator,
        order: list[int],
        questions: list[Any],
        rng: np.random.Generator,
    ) -> MosaicGenerator:
        """The generator with a label model that knows pairs, and tables of several columns."""
        from nacre.methods.mosaic.balance import balanced
        from nacre.methods.mosaic.crossing import Crossing, learn_crossings
        from nacre.methods.mosaic.learn import with_label_model

        histograms = seen.histograms
        taught, drawn = with_label_model(
            plain,
            histograms,
            pairs,
            trust=self.trust,
            deviation=self.teacher,
            pair_deviation=self.teacher_pairs,
            rng=rng,
        )
        if questions:
            crossing = Crossing.of(histograms, order[: seen.design.crossed])
            asked, total = (questions[0], questions[1]), histograms.total
            taught = learn_crossings(vault, asked, taught, crossing, seen.places, total, drawn)
        return balanced(taught, histograms.sizes / histograms.total, drawn)


def sizes_question(label: Label | None, given: str) -> Sum:
    """How many rows there are, by which it is decided how finely numbers are counted.

    Sensitivity:
        a row counts once: add-remove 1; replace-one sqrt(2) by class, 1 without classes (a row that
        fits in the place of one that does not).
    """
    return Sum(
        name=SIZES,
        bound=Bound(segments=(), by=label, count=1.0),
        share=SIZES_SHARE,
        meaning="how many rows there are" + given,
    )


def _strongest(histograms: Histograms, target: int | None) -> list[int]:
    """The columns but a numeric label, those first that say most about the class, or vary most."""
    columns = [column for column in range(len(histograms.columns)) if column != target]
    return sorted(columns, key=lambda c: (-histograms.association(c), -histograms.entropy(c)))
