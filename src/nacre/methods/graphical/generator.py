"""A graphical model as a generator: bins along a junction tree, cells inside bins by class."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import Calendars
from nacre.histograms.cells import EXACT_TICKS, FEWEST_CELLS, CodeColumn, Column, table_columns
from nacre.histograms.columns import fixed_cells, known_columns
from nacre.histograms.crosstable import CrossTable, single_tables
from nacre.histograms.draw import decode, draw_bins, draw_cells, pick
from nacre.histograms.heaps import Heaps
from nacre.histograms.herding import herded_rows
from nacre.histograms.measured import measured, one_noise_each
from nacre.histograms.measurement import Measurement
from nacre.histograms.tied import Inside, Tied, check_bins, tied_numbers
from nacre.methods.graphical.tree import Network, Tree
from nacre.nets import stored
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout
from nacre.schema.calendar import CLASSES

Index = NDArray[np.int64]
NOT_POSSIBLE = "The model gives rows with these values no probability at all."
DAMAGED = "The tables of the graphical model do not fit together."
TOLERANCE = 1e-3

TREE = stored.Record(
    Tree,
    {
        "cliques": stored.Many(stored.Many(stored.Whole(low=0))),
        "parents": stored.Many(stored.Whole(low=0, optional=True)),
    },
)
NETWORK = stored.Record(
    Network,
    {
        "tree": TREE,
        "weights": stored.Array("C", dtype=np.float64, low=0),
        "tables": stored.Many(stored.Array(..., dtype=np.float64, kept=np.float32, low=0)),
    },
)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalGenerator(AbstractGenerator):
    """A fitted graphical model; all of it post-processing of noisy answers.

    Attributes:
        network: of the columns' bins, with the class first (one class without a label).
        bins: (cells,) the bin of each cell of each column.
        inside: (C, cells) P(cell | bin, class).
        counts: (C, cells) the histograms that were released.
        noise: (columns,) the deviation of one of these counts of each column.
        sizes: cells of each column.
        most: cells of a number, as in `table_columns`.
        label: the place among the codes of the column that is the class, if there is one.
        layout: of the rows.
        heaps: (H, 3) steps that numbers are multiples of: number, ticks of the step, first tick.
        heap_weights: (H,) of one tick on that step.
        dates: the numbers that are dates, or distances of dates, of which some days are likelier.
        date_weights: (dates, 49) of days of the week, of the month, and months; see `Calendars`.
        fixed: codes that every row is to have.
    """

    network: Network = stored.field(NETWORK)
    bins: Index = stored.field(stored.Array("cells", dtype=np.int64, low=0))
    inside: NDArray[np.float32] = stored.field(stored.Array("C", "cells", low=0))
    counts: NDArray[np.float32] = stored.field(stored.Array("C", "cells"))
    noise: NDArray[np.float64] = stored.field(stored.Array(None, dtype=np.float64, low=0))
    sizes: tuple[int, ...] = stored.field(stored.Many(stored.Whole(low=1)))
    most: int = stored.field(stored.Whole(low=FEWEST_CELLS, high=EXACT_TICKS))
    label: int | None = stored.field(stored.Whole(low=0, optional=True))
    layout: Layout = stored.from_encoder("layout")
    heaps: Index = stored.field(
        stored.Array(None, 3, dtype=np.int64, low=0), default_factory=lambda: Heaps.none().places
    )
    heap_weights: NDArray[np.float64] = stored.field(
        stored.Array(None, dtype=np.float64, low=0), default_factory=lambda: Heaps.none().weights
    )
    dates: Index = stored.field(
        stored.Array("D days", dtype=np.int64, low=0),
        default_factory=lambda: Calendars.none().numbers,
    )
    date_weights: NDArray[np.float64] = stored.field(
        stored.Array("D days", CLASSES, dtype=np.float64, low=0),
        default_factory=lambda: Calendars.none().weights,
    )
    fixed: Mapping[int, int] = dataclasses.field(default_factory=dict)

    def given(self, fixed: Mapping[int, int]) -> Self:
        """Condition on codes (place among the layout's codes -> code), by Bayes' rule."""
        return dataclasses.replace(self, fixed=dict(fixed))

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows; conditions hold by Bayes' rule, along the tree."""
        layout, fixed, classes = self.layout, self.fixed, len(self.network.weights)
        columns = known_columns(layout, self.label, self.most, self.sizes, classes)
        given = fixed_cells(columns, fixed, self.label)
        wanted = None if self.label is None else fixed.get(self.label)
        network = self._conditioned(given, wanted)
        bins, label = self._rows(network, n, rng) if fixed else self._herded(n, rng)
        cells = np.zeros((n, len(columns)), np.int64)
        tables = zip(self._split(self.bins[None]), self._split(self.inside), strict=True)
        for column, (group, inside) in enumerate(tables):
            cells[:, column] = draw_cells(inside, group[0], bins[:, column], label, rng)
        for column, cell in given.items():
            cells[:, column] = cell
        heaps = Heaps(self.heaps, self.heap_weights)
        bins, days = self.inside_bins(columns), Calendars(self.dates, self.date_weights)
        return decode(
            cells,
            label,
            columns,
            self.label,
            layout,
            rng,
            heaps=heaps,
            inside=bins,
            calendars=days,
        )

    def tied(self, drawn: Encoded) -> Tied:
        """Drawn rows with what is known of their distances."""
        columns = table_columns(self.layout, self.label, self.most)
        label = np.zeros(len(drawn), np.int64)
        if self.label is not None:
            label = drawn.codes[:, self.label].astype(np.int64)
        numbers = [column for column in columns if not isinstance(column, CodeColumn)]
        heaps = Heaps(self.heaps, self.heap_weights)
        inside, none = self.inside_bins(columns), Atoms.none()
        return Tied(self.layout, numbers, inside, drawn.ticks, drawn.codes, label, none, heaps)

    def with_days(self, calendars: Calendars) -> Self:
        """The same with other weights of days."""
        return dataclasses.replace(self, dates=calendars.numbers, date_weights=calendars.weights)

    def inside_bins(self, columns: Sequence[Column]) -> dict[int, Inside]:
        """Where numbers that are distances, or what these are from, lie in their bins."""
        groups, inside = self._split(self.bins[None]), self._split(self.inside)
        return {
            place: Inside.of(columns[place], groups[place][0], inside[place])
            for place in tied_numbers(self.layout)
        }

    def _conditioned(self, given: Mapping[int, int], label: int | None) -> Network:
        network, evidence = self.network, {}
        if label is not None:
            chosen = np.arange(len(network.weights)) == label
            network = dataclasses.replace(network, weights=network.weights * chosen)
        groups, inside = self._split(self.bins[None]), self._split(self.inside)
        for column, cell in given.items():
            group = groups[column][0]
            mine = np.arange(group.max() + 1) == group[cell]
            evidence[column] = inside[column][:, [cell]].astype(np.float64) * mine
        if given:
            network = network.given(evidence)
        if not network.weights.sum() > 0:
            raise NacreError(NOT_POSSIBLE)
        return network

    def _rows(self, network: Network, n: int, rng: np.random.Generator) -> tuple[Index, Index]:
        """Bins (n, K) and classes: clique after clique, given what it shares with its parent."""
        label = pick(network.weights, n, rng)
        bins = np.zeros((n, len(self.sizes)), np.int64)
        for place, table in enumerate(network.tables):
            separator, new = network.tree.separator(place), network.tree.new(place)
            shared = 1 + len(separator)
            known = (label, *(bins[:, column] for column in separator))
            state = np.ravel_multi_index(known, table.shape[:shared])
            flat = table.reshape(-1, int(np.prod(table.shape[shared:])))
            # What has no probability is never drawn; its row only has to be harmless.
            flat = np.where(flat.sum(1, keepdims=True) > 0, flat, 1.0)
            drawn = draw_bins(flat, state, rng)
            for column, found in zip(
                new, np.unravel_index(drawn, table.shape[shared:]), strict=True
            ):
                bins[:, column] = found
        return bins, label

    def _herded(self, n: int, rng: np.random.Generator) -> Any:
        """Bins and classes without conditions, chosen so that pairs are as they should be."""

        def draw(m: int) -> tuple[Index, tuple[NDArray[Any], ...]]:
            bins, label = self._rows(self.network, m, rng)
            return np.column_stack([bins, label]), (bins, label)

        widths = [int(own.max()) + 1 for own in self._split(self.bins[None])]
        return herded_rows(draw, [*widths, len(self.network.weights)], len(widths), n, rng)

    def _split(self, table: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(table, np.cumsum(self.sizes)[:-1], axis=1)

    def measured(self) -> tuple[Measurement, ...]:
        """The histograms of the first release."""
        layout = self.layout
        columns = table_columns(layout, self.label, self.most)
        return measured(self.counts, self.noise, columns, layout, self.label)

    def released(self) -> tuple[CrossTable, ...]:
        """The tables of each column and the label of the first release."""
        columns = table_columns(self.layout, self.label, self.most)
        return single_tables(self.counts, self.noise, columns, self.layout, self.label)

    def _check(self) -> None:
        """Raise ValueError unless sampling is well defined, whatever a file said."""
        if not self.sizes or self.bins.shape != (sum(self.sizes),):
            raise NacreError("The columns of the graphical model have other sizes than its tables.")
        if not one_noise_each(self.noise, len(self.sizes)):
            raise NacreError("The graphical model has noise of other counts than its own.")
        widths = []
        for group, inside in zip(
            self._split(self.bins[None]), self._split(self.inside), strict=True
        ):
            used = np.unique(group)
            if not np.array_equal(used, np.arange(len(used))):
                raise NacreError(DAMAGED)
            widths.append(len(used))
            sums = np.stack([np.bincount(group[0], row) for row in inside])
            if np.abs(sums - 1).max() > TOLERANCE:
                raise NacreError(DAMAGED)
        _check_network(self.network, widths)
        check_bins(self.layout, [group[0] for group in self._split(self.bins[None])])
        Heaps(self.heaps, self.heap_weights).check(self.layout)
        Calendars(self.dates, self.date_weights).check(self.layout)


def _check_network(network: Network, widths: list[int]) -> None:
    """Every column comes once, after what its clique shares with one clique before."""
    tree, classes, done = network.tree, len(network.weights), set[int]()
    if not network.weights.sum() > 0 or len(tree.parents) != len(tree.cliques):
        raise NacreError(DAMAGED)
    for place, (clique, table) in enumerate(zip(tree.cliques, network.tables, strict=True)):
        parent = tree.parents[place]
        if parent is not None and not parent < place:
            raise NacreError(DAMAGED)
        if table.ndim != 1 + len(clique):
            raise NacreError(DAMAGED)
        separator, new = tree.separator(place), tree.new(place)
        ordered = (*separator, *new) == clique and not done & set(new) and set(separator) <= done
        if not ordered or not set(clique) <= set(range(len(widths))):
            raise NacreError(DAMAGED)
        if not new or table.shape != (classes, *(widths[column] for column in clique)):
            raise NacreError(DAMAGED)
        sums = table.sum(axis=tuple(range(1 + len(separator), table.ndim)))
        if np.minimum(np.abs(sums - 1), sums).max() > TOLERANCE:
            raise NacreError(DAMAGED)
        done |= set(new)
    if done != set(range(len(widths))):
        raise NacreError(DAMAGED)
