"""Mosaic's generator: mixtures over bins, cells inside bins by class, and a taught label.

p(x, c) = p(x) q(c | x) prod_l p_l(x_l | c): the mixture gives the bins of the joined columns and
with its own class their cells, q labels those rows anew, and loose columns (of which no pairs are
known) follow from the label.  Without a teacher the mixture's own class is the label.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import Calendars
from nacre.histograms.cells import EXACT_TICKS, FEWEST_CELLS, CodeColumn, Column
from nacre.histograms.columns import fixed_cells, known_columns
from nacre.histograms.crosstable import CrossTable
from nacre.histograms.draw import cells_at, chances, decode, draw_cells
from nacre.histograms.heaps import Heaps
from nacre.histograms.herding import herded_rows
from nacre.histograms.likelihood import log_posterior
from nacre.histograms.measurement import Measurement
from nacre.histograms.tied import Inside, Tied, tied_numbers
from nacre.methods.mosaic.drawing import NOT_POSSIBLE, draw_rows
from nacre.methods.mosaic.labeling import labeled_rows
from nacre.methods.mosaic.sparse import Link
from nacre.methods.mosaic.tilts import SLOTS, tilts
from nacre.nets import stored
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout
from nacre.schema.calendar import CLASSES

if TYPE_CHECKING:
    from nacre.methods.mosaic.target import Target

Array = NDArray[np.float32]
Floats = NDArray[np.float64]
Index = NDArray[np.int64]
NO_LINKS = np.zeros((0, 2), np.int64)
NO_TABLES = np.zeros((0, 4), np.int64)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MosaicGenerator(AbstractGenerator):
    """Fitted mixtures and what refines them; all of it post-processing of noisy counts.

    Attributes:
        components: (R, D) probabilities of the joined columns' bins.
        weights: (R, C) joint weights of component and class.
        bins: (cells,) the place among the D of each cell's bin, -1 for a loose column.
        inside: (C, cells) P(cell | bin, class), for a loose column P(cell | class).
        tilt: (C, cells) the teacher's coefficients of single cells, zero for loose columns.
        pairs: (T, 2) joined columns whose pairs of bins the teacher knows.
        pair_tilt: (C, sum of the pairs' sizes) its coefficients.
        sizes: cells of each column.
        most: cells of a number, as in `table_columns`.
        trust: how much of the mixture's own posterior the teacher keeps; None without a teacher.
        label: place of the label among the codes, if there is one.
        layout: of the rows.
        links: (L, 2) joined columns, the second of which is drawn again where the pair cannot be.
        linked: (sum of the links' sizes,) the joint tables that they are to have.
        coarse: (cells,) the bin of each cell in `tables`, if there are any.
        tables: (T, 4) joined columns whose tables the label model knows; -1 for none.
        table_tilt: (C, T * WIDEST) its coefficients.
        counts: (C, cells) the first release as it was, if it is kept.
        noise: (columns,) the deviation of one of these counts of each column.
        pair_counts: (C or 1, sum of all pairs' sizes) the second release as it was, if it is kept:
            every pair of joined columns in order.
        pair_noise: (pairs,) the deviation of one of these counts.
        whole_counts: (cells,) the histograms of all rows as they were, if there are any.
        whole_noise: (columns,) the deviation of one of these counts.
        whole_pair_counts: (sum of all pairs' sizes,) pairs of all rows, if those were counted, too.
        whole_pair_noise: (pairs,) the deviation of one of these counts; 0 where none was made.
        atoms: (A, 3) single values inside wide cells: number, cell and tick.
        atom_shares: (A,) of the rows of their cells.
        finer: (F, 2) joined columns whose pairs of single values were counted.
        finer_shares: (sum of these tables' sizes,) of each pair of cells.
        heaps: (H, 3) steps that numbers are multiples of: number, ticks of the step, first tick.
        heap_weights: (H,) of one tick on that step.
        dates: the numbers that are dates, or distances of dates, of which some days are likelier.
        date_weights: (dates, 49) of days of the week, of the month, and months; see `Calendars`.
        target: the column that is a numeric label, if there is one.
        target_classes: (cells of that column,) the class of each; those that are missing come last.
        fixed: codes that every row is to have.
    """

    components: Array = stored.field(stored.Array("R", "D", low=0))
    weights: Array = stored.field(stored.Array("R", "C", low=0))
    bins: Index = stored.field(stored.Array("cells", dtype=np.int64, low=-1))
    inside: Array = stored.field(stored.Array("C", "cells", low=0))
    tilt: Array = stored.field(stored.Array("C", "cells"))
    pairs: Index = stored.field(stored.Array(None, 2, dtype=np.int64, low=0))
    pair_tilt: Array = stored.field(stored.Array("C", None))
    sizes: tuple[int, ...] = stored.field(stored.Many(stored.Whole(low=1)))
    most: int = stored.field(stored.Whole(low=FEWEST_CELLS, high=EXACT_TICKS))
    trust: float | None = stored.field(stored.Real(low=0, high=1, optional=True))
    label: int | None = stored.field(stored.Whole(low=0, optional=True))
    layout: Layout = stored.from_encoder("layout")
    links: Index = stored.field(
        stored.Array(None, 2, dtype=np.int64, low=0), default_factory=lambda: NO_LINKS
    )
    linked: Array = stored.field(
        stored.Array(None, low=0), default_factory=lambda: np.zeros(0, np.float32)
    )
    coarse: Index | None = stored.field(
        stored.Array("cells", dtype=np.int64, low=0, optional=True), default=None
    )
    tables: Index = stored.field(
        stored.Array(None, 4, dtype=np.int64, low=-1), default_factory=lambda: NO_TABLES
    )
    table_tilt: Array = stored.field(
        stored.Array(None, None), default_factory=lambda: np.zeros((0, 0), np.float32)
    )
    counts: Array | None = stored.field(stored.Array("C", "cells", optional=True), default=None)
    noise: Floats = stored.field(
        stored.Array(None, dtype=np.float64, low=0), default_factory=lambda: np.zeros(0)
    )
    pair_counts: Array | None = stored.field(stored.Array(None, None, optional=True), default=None)
    pair_noise: Array | None = stored.field(stored.Array(None, low=0, optional=True), default=None)
    whole_counts: Array | None = stored.field(stored.Array("cells", optional=True), default=None)
    whole_noise: Floats = stored.field(
        stored.Array(None, dtype=np.float64, low=0), default_factory=lambda: np.zeros(0)
    )
    whole_pair_counts: Array | None = stored.field(stored.Array(None, optional=True), default=None)
    whole_pair_noise: Array | None = stored.field(
        stored.Array(None, low=0, optional=True), default=None
    )
    atoms: Index = stored.field(
        stored.Array(None, 3, dtype=np.int64, low=0), default_factory=lambda: Atoms.none().places
    )
    atom_shares: Array = stored.field(
        stored.Array(None, low=0), default_factory=lambda: Atoms.none().shares
    )
    finer: Index = stored.field(
        stored.Array(None, 2, dtype=np.int64, low=0), default_factory=lambda: NO_LINKS
    )
    finer_shares: Array = stored.field(
        stored.Array(None, low=0), default_factory=lambda: np.zeros(0, np.float32)
    )
    heaps: Index = stored.field(
        stored.Array(None, 3, dtype=np.int64, low=0), default_factory=lambda: Heaps.none().places
    )
    heap_weights: Floats = stored.field(
        stored.Array(None, dtype=np.float64, low=0), default_factory=lambda: Heaps.none().weights
    )
    dates: Index = stored.field(
        stored.Array("D days", dtype=np.int64, low=0),
        default_factory=lambda: Calendars.none().numbers,
    )
    date_weights: Floats = stored.field(
        stored.Array("D days", CLASSES, dtype=np.float64, low=0),
        default_factory=lambda: Calendars.none().weights,
    )
    target: int | None = stored.field(stored.Whole(low=0, optional=True), default=None)
    target_classes: Index | None = stored.field(
        stored.Array(None, dtype=np.int64, low=0, optional=True), default=None
    )
    fixed: Mapping[int, int] = dataclasses.field(default_factory=dict)

    def given(self, fixed: Mapping[int, int]) -> Self:
        """Condition on codes (place among the layout's codes -> code), by Bayes' rule."""
        return dataclasses.replace(self, fixed=dict(fixed))

    def with_atoms(self, atoms: Atoms) -> Self:
        """The same with single values inside its cells."""
        return dataclasses.replace(self, atoms=atoms.places, atom_shares=atoms.shares)

    def with_links(self, links: Sequence[Link]) -> Self:
        """The same with other links, parents before their children."""
        flat = np.concatenate([np.zeros(0), *(link.table.ravel() for link in links)])
        return dataclasses.replace(
            self,
            links=np.array([(k.parent, k.child) for k in links], np.int64).reshape(-1, 2),
            linked=flat.astype(np.float32),
        )

    def with_heaps(self, heaps: Heaps, calendars: Calendars) -> Self:
        """The same with numbers that are multiples of round steps inside its cells, and dates."""
        found = dataclasses.replace(self, heaps=heaps.places, heap_weights=heaps.weights)
        return found.with_days(calendars)

    def with_days(self, calendars: Calendars) -> Self:
        """The same with other weights of days."""
        return dataclasses.replace(self, dates=calendars.numbers, date_weights=calendars.weights)

    def with_target(self, target: Target | None) -> Self:
        """The same with a numeric label that was cut into classes."""
        if target is None:
            return self
        return dataclasses.replace(self, target=target.column, target_classes=target.group)

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows; conditions hold by Bayes' rule, but for what links draw again."""
        layout, fixed, columns = self.layout, self.fixed, self.columns
        given = fixed_cells(columns, fixed, self.label)
        by_class = self._class_weights(given, fixed)
        if given or not (by_class == 1).all():
            cells, label, *chance = self._rows(n, rng, given, by_class)
        else:
            cells, label, *chance = self._herded(n, rng, by_class)
        for column in range(len(columns)):
            if column == self.target and chance:
                cells[:, column] = self._inside_classes(chance[0], label, columns[column], rng)
            elif not self.is_joined(column):
                group, none = np.zeros(self.sizes[column], np.int64), np.zeros(n, np.int64)
                cells[:, column] = draw_cells(self.inside_of(column), group, none, label, rng)
        for column, cell in given.items():
            cells[:, column] = cell
        atoms, heaps = Atoms(self.atoms, self.atom_shares), Heaps(self.heaps, self.heap_weights)
        inside, days = self.inside_bins(columns), Calendars(self.dates, self.date_weights)
        return decode(cells, label, columns, self.label, layout, rng, atoms, heaps, inside, days)

    def tied(self, drawn: Encoded) -> Tied:
        """Drawn rows with what is known of their distances."""
        columns = self.columns
        label = np.zeros(len(drawn), np.int64)
        if self.label is not None:
            label = drawn.codes[:, self.label].astype(np.int64)
        numbers = [column for column in columns if not isinstance(column, CodeColumn)]
        return Tied(
            self.layout,
            numbers,
            self.inside_bins(columns),
            drawn.ticks,
            drawn.codes,
            label,
            Atoms(self.atoms, self.atom_shares),
            Heaps(self.heaps, self.heap_weights),
        )

    def inside_bins(self, columns: Sequence[Column]) -> dict[int, Inside]:
        """Where numbers that are distances, or what these are from, lie in their bins."""
        found = {}
        for place in tied_numbers(self.layout):
            group = np.zeros(self.sizes[place], np.int64)
            if self.is_joined(place):
                group = self.group(place)
            found[place] = Inside.of(columns[place], group, self.inside_of(place))
        return found

    def _rows(
        self, n: int, rng: np.random.Generator, given: Mapping[int, int], by_class: Floats
    ) -> tuple[Index, Index] | tuple[Index, Index, Floats]:
        """Cells of the joined columns, labels, and with a label model the chances of these."""
        if self.trust is None:
            return draw_rows(self, n, rng, given, by_class)
        return labeled_rows(self, n, rng, given, by_class)

    def _herded(self, n: int, rng: np.random.Generator, by_class: Floats) -> Any:
        """The same without conditions, chosen so that pairs of bins are as they should be."""
        joined = [column for column in range(len(self.sizes)) if self.is_joined(column)]

        def draw(m: int) -> tuple[Index, tuple[NDArray[Any], ...]]:
            cells, label, *chance = self._rows(m, rng, {}, by_class)
            single = cells[:, joined].T
            keys = [self.group(column)[cell] for column, cell in zip(joined, single, strict=True)]
            return np.stack([*keys, *single, label], axis=1), (cells, label, *chance)

        widths = [*(self._wide[c] for c in joined), *(self.sizes[c] for c in joined)]
        widths.append(len(self.inside))
        return herded_rows(draw, widths, len(joined), n, rng, others=len(self.sizes))

    def link_tables(self) -> list[Link]:
        """The links, with the joint tables that they are to have."""
        found, start = [], 0
        for parent, child in self.links.tolist():
            shape = tuple(int(self.group(column).max()) + 1 for column in (parent, child))
            end = start + shape[0] * shape[1]
            found.append(Link(parent, child, self.linked[start:end].reshape(shape).astype(float)))
            start = end
        return found

    def pair_moments(self, left: int, right: int) -> Floats:
        """Chances of the mixtures' pairs of bins of two joined columns, (bins, bins)."""
        weights = self.weights.sum(1, keepdims=True, dtype=np.float64)
        return self.components_of(left).T @ (self.components_of(right) * weights)

    def inside_of(self, column: int) -> Array:
        """P(cell | bin, class) of a column, (C, cells)."""
        return self.inside[:, self._span(column)]

    def posterior(self, cells: Index) -> Floats:
        """P(class | joined columns), (n, C): the mixture's, tilted by the teacher."""
        return chances(self.base(cells) + tilts(self, cells))

    def base(self, cells: Index) -> Floats:
        """Log chances before the tilt: the mixture's posterior, drawn towards the class shares."""
        shares = np.log(np.maximum(self.weights.sum(0, dtype=np.float64), 1e-12))
        trust = 1.0 if self.trust is None else self.trust
        if not trust:
            return np.tile(shares, (len(cells), 1))
        joined = [column for column in range(len(self.sizes)) if self.is_joined(column)]
        places = np.stack([self.bins[self.start(c) + cells[:, c]] for c in joined], axis=1)
        own = log_posterior(self.components, self.weights, places)
        return trust * own + (1 - trust) * shares

    def crossed(self, cells: Index, table: Sequence[int]) -> tuple[Index, int]:
        """Each row's cell in a table of several columns in few bins, and how many cells it has."""
        if self.coarse is None:
            raise NacreError("The mosaic has no bins for tables of several columns.")
        found = np.zeros(len(cells), np.int64)
        for column in table:
            found = found * SLOTS + self.coarse[self.start(column) + cells[:, column]]
        return found, SLOTS ** len(table)

    def pair_cell(self, cells: Index, left: int, right: int) -> tuple[Index, int]:
        """Each row's pair of bins as one number, and how many pairs of bins there are."""
        one, other = (self.group(column)[cells[:, column]] for column in (left, right))
        return one * self._wide[right] + other, self._wide[left] * self._wide[right]

    def _inside_classes(
        self, chance: Floats, label: Index, column: Column, rng: np.random.Generator
    ) -> Index:
        """The cell of a numeric label, given its class and what the row makes of its neighbors."""
        from nacre.methods.mosaic.target import within_classes

        shares = self.weights.sum(0, dtype=np.float64)
        place = within_classes(chance, label, shares, len(shares) - column.nullable, rng)
        return cells_at(self.inside_of(self.target or 0), label, place)

    def _class_weights(self, given: Mapping[int, int], fixed: Mapping[int, int]) -> Floats:
        """What the conditions on the label and on loose columns say about each class; at most 1."""
        weights = np.ones(len(self.inside))
        if self.label is not None and self.label in fixed:
            weights = (np.arange(len(weights)) == fixed[self.label]).astype(np.float64)
        for column, cell in given.items():
            if not self.is_joined(column):
                weights = weights * self.inside[:, self.start(column) + cell]
        if not weights.max() > 0:
            raise NacreError(NOT_POSSIBLE)
        return weights / weights.max()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Whose cells these are."""
        classes = self.weights.shape[1]
        return known_columns(self.layout, self.label, self.most, self.sizes, classes)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *itertools.accumulate(self.sizes)]

    def start(self, column: int) -> int:
        """The place of a column's first cell."""
        return self._starts[column]

    def _span(self, column: int) -> slice:
        return slice(self.start(column), self.start(column) + self.sizes[column])

    def group(self, column: int) -> Index:
        """The bin of each cell of a joined column, among its own bins."""
        return self._groups[column]

    @cached_property
    def _groups(self) -> list[Index]:
        spans = [self.bins[self._span(column)] for column in range(len(self.sizes))]
        return [own - own.min() for own in spans]

    def width(self, column: int) -> int:
        """How many bins a joined column has."""
        return self._wide[column]

    @cached_property
    def _wide(self) -> list[int]:
        """How many bins each joined column has."""
        return [int(group.max()) + 1 for group in self._groups]

    def components_of(self, column: int) -> Array:
        """Each component's probabilities of a joined column's bins."""
        own = self.bins[self._span(column)]
        return self.components[:, own.min() : own.max() + 1]

    def is_joined(self, column: int) -> bool:
        """Whether a column's pairs were counted."""
        return bool(self.bins[self.start(column)] >= 0)

    def measured(self) -> tuple[Measurement, ...]:
        """The histograms of the first release."""
        from nacre.methods.mosaic.tables import measured_histograms

        return measured_histograms(self)

    def released(self) -> tuple[CrossTable, ...]:
        """Each column and the label, from the first release; pairs of columns, from the second."""
        from nacre.methods.mosaic.tables import released_tables

        return released_tables(self)

    def kept(self) -> tuple[str, ...]:
        """The releases of which it has tables as they left the vault."""
        from nacre.methods.mosaic.tables import kept_names

        return kept_names(self)

    def _check(self) -> None:
        """Raise ValueError unless sampling is well defined, whatever a file said."""
        from nacre.methods.mosaic.check import check

        check(self)
