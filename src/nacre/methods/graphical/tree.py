"""Distributions over bins that factor along a junction tree, class by class, in plain arrays.

Every table has the class as its first axis, one class where there is no label.  A tree's cliques
come in an order in which each meets those before it in columns (perhaps none) that one of them,
its parent, holds; then p(x, c) = w(c) prod_k p_k(new_k | separator_k, c).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError

Array = NDArray[np.float64]
Clique = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Tree:
    """Cliques of columns in order, each written separator first, and the parent of each.

    The first clique has none.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int | None, ...]

    @staticmethod
    def of(cliques: Iterable[Clique], edges: Iterable[tuple[Clique, Clique]]) -> Tree:
        """From the nodes and edges of a junction tree or forest."""
        near: dict[Clique, list[Clique]] = {clique: [] for clique in sorted(cliques)}
        for one, other in edges:
            near[one].append(other)
            near[other].append(one)
        found: dict[Clique, int | None] = {}
        waiting = [(clique, 0) for clique in reversed(near)]  # other roots join the first one
        while waiting:
            clique, parent = waiting.pop()
            if clique not in found:
                found[clique] = parent if found else None
                here = len(found) - 1
                waiting += [(other, here) for other in sorted(near[clique], reverse=True)]
        ordered, parents = list(found), tuple(found.values())
        for place, above in enumerate(parents):
            shared = set() if above is None else set(ordered[above])
            ordered[place] = tuple(sorted(ordered[place], key=lambda c: (c not in shared, c)))
        return Tree(tuple(ordered), parents)

    def separator(self, place: int) -> Clique:
        """The columns that a clique shares with its parent."""
        parent = self.parents[place]
        above = () if parent is None else self.cliques[parent]
        return tuple(c for c in self.cliques[place] if c in above)

    def new(self, place: int) -> Clique:
        """The columns that a clique brings."""
        return self.cliques[place][len(self.separator(place)) :]

    def home(self, columns: Sequence[int]) -> int:
        """The first clique that holds all the columns."""
        for place, clique in enumerate(self.cliques):
            if set(columns) <= set(clique):
                return place
        raise NacreError("No clique of the tree holds these columns together.")

    def walk(self, start: int) -> Iterator[tuple[int, int, Clique]]:
        """Every other clique, seen from `start`: where one comes from, it, and what they share."""
        edges = [(child, parent) for child, parent in enumerate(self.parents) if parent is not None]
        seen, waiting = {start}, [start]
        while waiting:
            here = waiting.pop()
            for child, parent in edges:
                there = parent if child == here else child
                if here in (child, parent) and there not in seen:
                    seen.add(there)
                    waiting.append(there)
                    yield here, there, self.separator(child)


@dataclasses.dataclass(frozen=True)
class Network:
    """A tree with p(class) and, for each clique, p(new | separator, class)."""

    tree: Tree
    weights: Array
    tables: tuple[Array, ...]

    @staticmethod
    def of(tree: Tree, logs: Sequence[Array], prior: Array | float = 0.0) -> Network:
        """From log potentials, one table for each clique with its axes as the clique is written.

        Where nothing is possible the weights are all zero.
        """
        logs, tables = list(logs), list(logs)
        weights = np.zeros(len(logs[0])) + prior
        for place in reversed(range(len(logs))):
            separator, parent = tree.separator(place), tree.parents[place]
            tables[place], message = _normalized(logs[place], 1 + len(separator))
            if parent is None:
                weights = weights + message
            else:
                spread = align(message, separator, tree.cliques[parent])
                logs[parent] = logs[parent] + spread
        return Network(tree, _normalized(weights[None], 1)[0][0], tuple(tables))

    def given(self, evidence: Mapping[int, Array]) -> Network:
        """The network given likelihoods of some columns, each (classes, bins): Bayes' rule."""
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in self.tables]
            for column, likelihood in evidence.items():
                place = self.tree.home((column,))
                clique = self.tree.cliques[place]
                logs[place] = logs[place] + align(np.log(likelihood), (column,), clique)
            return Network.of(self.tree, logs, np.log(self.weights))

    def marginals(self) -> list[Array]:
        """The joint probabilities of class and clique, for each clique."""
        found: list[Array] = []
        for place, table in enumerate(self.tables):
            above, parent = self.weights, self.tree.parents[place]
            if parent is not None:
                above = onto(found[parent], self.tree.cliques[parent], self.tree.separator(place))
            found.append(above.reshape(above.shape + (1,) * (table.ndim - above.ndim)) * table)
        return found

    def pairs(self) -> dict[tuple[int, int], Array]:
        """The joint probabilities of class and two columns i < j, for all pairs."""
        joint = self.marginals()
        columns = sorted({column for clique in self.tree.cliques for column in clique})
        found = {}
        for i in columns[:-1]:
            for clique, table in self._seen_from(i, joint):
                for j in clique:
                    if j > i and (i, j) not in found:
                        found[i, j] = onto(table, clique, (i, j))
        return found

    def _seen_from(self, column: int, joint: list[Array]) -> Iterator[tuple[Clique, Array]]:
        """Joint probabilities of class, the column and each clique, from the column outwards."""
        cliques = self.tree.cliques
        start = self.tree.home((column,))
        found = {start: (cliques[start], joint[start])}
        for here, there, shared in self.tree.walk(start):
            clique = cliques[there]
            if column in clique:
                found[there] = (clique, joint[there])
                continue
            known = onto(found[here][1], found[here][0], (column, *shared))
            part = align(onto(joint[there], clique, shared), shared, clique)
            chance = np.divide(joint[there], part, out=np.zeros_like(joint[there]), where=part > 0)
            both = (column, *clique)
            found[there] = (both, align(known, (column, *shared), both) * chance[:, None])
        yield from found.values()


def onto(table: Array, clique: Clique, wanted: Clique) -> Array:
    """A table over class and clique summed onto the wanted columns, in their order."""
    gone = tuple(1 + axis for axis, column in enumerate(clique) if column not in wanted)
    left = [column for column in clique if column in wanted]
    order = [0, *(1 + left.index(column) for column in wanted)]
    return np.asarray(table.sum(axis=gone)).transpose(order)


def align(table: Array, columns: Clique, clique: Clique) -> Array:
    """A table over class and some columns of a clique, ready to be multiplied with the clique's."""
    order = sorted(range(len(columns)), key=lambda axis: clique.index(columns[axis]))
    turned = table.transpose([0, *(1 + axis for axis in order)])
    sizes = dict(zip(columns, table.shape[1:], strict=True))
    return turned.reshape([len(table), *(sizes.get(column, 1) for column in clique)])


def _normalized(logs: Array, kept: int) -> tuple[Array, Array]:
    """Probabilities over the axes from `kept` on, and the logs of what they added up to."""
    axes = tuple(range(kept, logs.ndim))
    top = logs.max(axis=axes, keepdims=True, initial=-np.inf)
    raised = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    total = raised.sum(axis=axes, keepdims=True)
    with np.errstate(divide="ignore"):
        message = np.squeeze(top + np.log(total), axis=axes)
    return raised / np.where(total > 0, total, 1.0), message
