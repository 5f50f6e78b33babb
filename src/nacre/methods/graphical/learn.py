"""From noisy counts to a graphical generator: bins, what to measure next, and the last fit."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.histograms.bins import bin_sums, within
from nacre.histograms.calendars import Calendars
from nacre.histograms.heaps import Heaps
from nacre.histograms.histograms import Histograms, deviation
from nacre.methods.graphical.fit import Graphical, Measured
from nacre.methods.graphical.generator import GraphicalGenerator
from nacre.methods.graphical.tree import Network, Tree
from nacre.schema import Layout

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Pair = tuple[int, int]

LAST = 4  # times as many steps in the last fit


@dataclasses.dataclass
class Learner:
    """What has been released so far and the model of it; pairs are places among `joined`."""

    histograms: Histograms
    label: int | None
    joined: tuple[int, ...]
    groups: list[Index]
    slots: int
    noise: float
    megabytes: float
    steps: int
    graphical: Graphical
    measured: list[Measured]
    model: Any = None

    @staticmethod
    def of(
        histograms: Histograms,
        *,
        label: int | None,
        always: int | None,
        joined: int,
        slots: int,
        bins: int,
        noise: float,
        megabytes: float,
        steps: int,
    ) -> Learner:
        """Bins from the first release; `noise` is that of the pair counts to come."""
        chosen = _strongest(histograms, joined, always)
        error = noise / histograms.total
        groups = [
            histograms.group(
                column,
                most=bins,
                floor=min(max(0.01, 3 * error), 0.5),
                rare=min(max(0.005, 2 * error), 0.5),
                slots=slots,
            )
            for column in chosen
        ]
        widths = [int(group.max()) + 1 for group in groups]
        measured = [
            Measured(
                (place,),
                bin_sums(group, histograms.noisy[column]),
                deviation(histograms.noise[column]) * np.sqrt(np.bincount(group))[None],
            )
            for place, (column, group) in enumerate(zip(chosen, groups, strict=True))
        ]
        graphical = Graphical(widths, len(histograms.sizes))
        limits = (slots, noise, megabytes, steps)
        return Learner(histograms, label, chosen, groups, *limits, graphical, measured)

    @property
    def cell_bins(self) -> list[Index]:
        """The bin of each cell, by column of the table; one bin for columns not joined."""
        found = [np.zeros(column.size, np.int64) for column in self.histograms.columns]
        for column, group in zip(self.joined, self.groups, strict=True):
            found[column] = group
        return found

    @property
    def widths(self) -> list[int]:
        """How many bins each joined column has."""
        return [int(group.max()) + 1 for group in self.groups]

    @property
    def cliques(self) -> list[Pair]:
        """The pairs measured so far."""
        return sorted({m.columns for m in self.measured if len(m.columns) == 2})  # type: ignore[misc]

    def fit(self, *, last: bool) -> None:
        """Fit the model to all that was measured, from where the one before ended."""
        steps = self.steps * (LAST if last else 1)
        self.model = self.graphical.estimate(
            self.measured, self.histograms.total, steps=steps, start=self.model
        )

    def network(self) -> Network:
        """The model as a network; before the first fit, columns that are independent by class."""
        if self.model is not None:
            return self.graphical.network(self.model)
        sizes = self.histograms.sizes
        tables = [
            bin_sums(group, self.histograms.cleaned[column]) / sizes[:, None]
            for column, group in zip(self.joined, self.groups, strict=True)
        ]
        cliques = tuple((place,) for place in range(len(tables)))
        parents = (None,) + (0,) * (len(tables) - 1)
        return Network(Tree(cliques, parents), sizes / sizes.sum(), tuple(tables))

    def targets(self, pairs: Sequence[Pair]) -> Array:
        """The counts that the model expects, in the layout of the choices: (C, all slots)."""
        expected = self.network().pairs()
        found = np.zeros((len(self.histograms.sizes), len(pairs), self.slots, self.slots))
        for place, (i, j) in enumerate(pairs):
            table = expected[i, j] * self.histograms.total
            # The features' places: bin of i times the slots of j, plus bin of j.
            found[:, place, : table.shape[1], : table.shape[2]] = table
        return found.reshape(len(found), -1)

    def penalties(self, pairs: Sequence[Pair]) -> list[float]:
        """The error that counting a pair would bring by its noise alone (AIM, section 4.2)."""
        widths, classes = self.widths, len(self.histograms.sizes)
        one = math.sqrt(2 / math.pi) * self.noise * classes
        return [one * widths[i] * widths[j] for i, j in pairs]

    def growth(self, pairs: Sequence[Pair]) -> list[float]:
        """By how many megabytes each pair would make the model larger."""
        known, widths = self.cliques, self.widths
        before = self.graphical.megabytes(known)
        apart = set(branches(pairs, [pairs.index(pair) for pair in known]))
        one = len(self.histograms.sizes) * 8 / 2**20
        return [
            # An edge between two parts makes no cycle: its own cells are all that is new.
            one * widths[i] * widths[j]
            if place in apart
            else max(0.0, self.graphical.megabytes([*known, (i, j)]) - before)
            for place, (i, j) in enumerate(pairs)
        ]

    def room(self, chosen: Sequence[Pair], part: float) -> float:
        """Megabytes that are left of `part` of the limit with these pairs chosen."""
        return self.megabytes * part - self.graphical.megabytes([*self.cliques, *chosen])

    def add(self, pairs: Sequence[Pair], values: Array, noise: float) -> None:
        """Counts of the pairs as released: (C, len(pairs) * slots^2), slots without bins too."""
        widths = self.widths
        shaped = values.reshape(len(values), len(pairs), self.slots, self.slots)
        for place, (i, j) in enumerate(pairs):
            counts = shaped[:, place, : widths[i], : widths[j]]
            self.measured.append(Measured((i, j), counts, np.array(deviation(noise))))

    def generator(
        self, layout: Layout, most: int, heaps: Heaps, calendars: Calendars
    ) -> GraphicalGenerator:
        """The model with cells inside its bins, and the columns that are not joined."""
        columns, classes = self.histograms.columns, len(self.histograms.sizes)
        network, groups = self.network(), self.cell_bins
        cliques = [tuple(self.joined[c] for c in clique) for clique in network.tree.cliques]
        tables, parents = list(network.tables), list(network.tree.parents)
        for column in range(len(columns)):
            if column not in self.joined:  # it has one bin, and follows from the class
                cliques.append((column,))
                parents.append(0)
                tables.append(np.ones((classes, 1)))
        inside = [within(g, t) for g, t in zip(groups, self.histograms.cleaned, strict=True)]
        return GraphicalGenerator(
            network=Network(Tree(tuple(cliques), tuple(parents)), network.weights, tuple(tables)),
            bins=np.concatenate(groups).astype(np.int64),
            inside=np.concatenate(inside, axis=1).astype(np.float32),
            counts=np.concatenate(self.histograms.noisy, axis=1).astype(np.float32),
            noise=self.histograms.noise,
            sizes=tuple(column.size for column in columns),
            most=most,
            label=self.label,
            heaps=heaps.places,
            heap_weights=heaps.weights,
            dates=calendars.numbers,
            date_weights=calendars.weights,
            layout=layout,
        )


def branches(pairs: Sequence[Pair], picked: Sequence[int]) -> list[int]:
    """Places of pairs that join two parts of the forest that those picked make."""
    parts = {column: {column} for pair in pairs for column in pair}
    for place in picked:
        one, other = (parts[column] for column in pairs[place])
        one |= other
        for column in one:
            parts[column] = one
    return [place for place, (i, j) in enumerate(pairs) if parts[i] is not parts[j]]


def _strongest(histograms: Histograms, count: int, always: int | None) -> tuple[int, ...]:
    """The columns to join: `always`, then those that say most about the class, or vary most."""

    def worth(column: int) -> float:
        if len(histograms.sizes) > 1:
            return histograms.association(column)
        share = histograms.cleaned[column].sum(0) / histograms.total
        return float(-(share[share > 0] * np.log(share[share > 0])).sum())

    order = sorted(range(len(histograms.columns)), key=lambda c: (c != always, -worth(c)))
    return tuple(sorted(order[:count]))
