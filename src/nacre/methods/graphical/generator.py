"""A graphical model as a generator: bins along a junction tree, cells inside bins by class."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, Column, table_columns
from nacre.histograms.columns import check_most, known_columns
from nacre.histograms.draw import decode, draw_bins, draw_cells, pick
from nacre.histograms.measured import measured
from nacre.histograms.measurement import Measurement
from nacre.methods.graphical.tree import Network, Tree
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout

Index = NDArray[np.int64]
NOT_POSSIBLE = "The model gives rows with these values no probability at all."
DAMAGED = "The tables of the graphical model do not fit together."
TOLERANCE = 1e-3


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalGenerator(AbstractGenerator):
    """A fitted graphical model; all of it post-processing of noisy answers.

    network  of the columns' bins, with the class first (one class without a label)
    bins     (cells,) the bin of each cell of each column
    inside   (C, cells) P(cell | bin, class)
    counts   (C, cells) the histograms that were released, with noise of deviation `noise`
    sizes    cells of each column; `most` as in `table_columns`
    label    the place among the codes of the column that is the class, if there is one
    layout   of the rows
    fixed    codes that every row is to have
    """

    network: Network
    bins: Index
    inside: NDArray[np.float32]
    counts: NDArray[np.float32]
    noise: float
    sizes: tuple[int, ...]
    most: int
    label: int | None
    layout: Layout
    fixed: Mapping[int, int] = dataclasses.field(default_factory=dict)

    def given(self, fixed: Mapping[int, int]) -> Self:
        """Condition on codes (place among the layout's codes -> code), by Bayes' rule."""
        return dataclasses.replace(self, fixed=dict(fixed))

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows; conditions hold by Bayes' rule, along the tree."""
        layout, fixed, classes = self.layout, self.fixed, len(self.network.weights)
        columns = known_columns(layout, self.label, self.most, self.sizes, classes)
        given = _given(columns, fixed, self.label)
        wanted = None if self.label is None else fixed.get(self.label)
        network = self._conditioned(given, wanted)
        bins, label = self._rows(network, n, rng)
        cells = np.zeros((n, len(columns)), np.int64)
        tables = zip(self._split(self.bins[None]), self._split(self.inside), strict=True)
        for column, (group, inside) in enumerate(tables):
            cells[:, column] = draw_cells(inside, group[0], bins[:, column], label, rng)
        for column, cell in given.items():
            cells[:, column] = cell
        return decode(cells, label, columns, self.label, layout, rng)

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

    def _split(self, table: NDArray[Any]) -> list[NDArray[Any]]:
        return np.split(table, np.cumsum(self.sizes)[:-1], axis=1)

    def measured(self) -> tuple[Measurement, ...]:
        """The histograms of the first release."""
        layout = self.layout
        columns = table_columns(layout, self.label, self.most)
        return measured(self.counts, self.noise, columns, layout, self.label)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Sizes and cliques as JSON, tables as arrays."""
        config = {
            "sizes": list(self.sizes),
            "most": self.most,
            "label": self.label,
            "noise": self.noise,
            "cliques": [list(clique) for clique in self.network.tree.cliques],
            "parents": list(self.network.tree.parents),
        }
        arrays: dict[str, NDArray[Any]] = {
            f"table{place}": table.astype(np.float32)
            for place, table in enumerate(self.network.tables)
        }
        arrays["weights"] = self.network.weights
        return config, arrays | {name: getattr(self, name) for name in ("bins", "inside", "counts")}

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
        """The inverse of `state`."""
        cliques = tuple(tuple(int(c) for c in clique) for clique in config["cliques"])
        tree = Tree(cliques, tuple(int(parent) for parent in config["parents"]))
        tables = [np.asarray(arrays[f"table{p}"], np.float64) for p in range(len(cliques))]
        generator = cls(
            network=Network(tree, np.asarray(arrays["weights"], np.float64), tuple(tables)),
            bins=np.asarray(arrays["bins"], np.int64),
            inside=np.asarray(arrays["inside"], np.float32),
            counts=np.asarray(arrays["counts"], np.float32),
            noise=float(config["noise"]),
            sizes=tuple(int(size) for size in config["sizes"]),
            most=int(config["most"]),
            label=None if config["label"] is None else int(config["label"]),
            layout=encoder.layout,
        )
        generator._check()
        return generator

    def _check(self) -> None:
        """Raise ValueError unless sampling is well defined, whatever a file said."""
        check_most(self.most)
        classes, cells = len(self.network.weights), sum(self.sizes)
        parts = (self.inside, self.counts, self.bins, self.network.weights)
        wanted = ((classes, cells), (classes, cells), (cells,), (classes,))
        if min(self.sizes, default=0) < 1 or tuple(part.shape for part in parts) != wanted:
            raise NacreError(DAMAGED)
        numbers: list[NDArray[Any]] = [self.inside, self.network.weights, *self.network.tables]
        if any(not np.isfinite(part).all() or (part < 0).any() for part in numbers):
            raise NacreError(DAMAGED)
        if not np.isfinite(self.counts).all() or not 0 < self.noise < np.inf:
            raise NacreError(DAMAGED)
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


def _check_network(network: Network, widths: list[int]) -> None:
    """Every column comes once, after what its clique shares with one clique before."""
    tree, classes, done = network.tree, len(network.weights), set[int]()
    if not network.weights.sum() > 0 or len(tree.parents) != len(tree.cliques):
        raise NacreError(DAMAGED)
    for place, (clique, table) in enumerate(zip(tree.cliques, network.tables, strict=True)):
        if not (-1 <= tree.parents[place] < place or place == 0 == tree.parents[place] + 1):
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


def _given(
    columns: tuple[Column, ...], fixed: Mapping[int, int], label: int | None
) -> dict[int, int]:
    """The fixed codes other than the class, by column."""
    place = {c.code: k for k, c in enumerate(columns) if isinstance(c, CodeColumn)}
    if any(code != label and code not in place for code in fixed):
        raise NacreError("Only columns with a list of values can be fixed.")
    return {place[code]: value for code, value in fixed.items() if code != label}
