"""Weights under which rules do not move the shares of groups.

A rule that a model has not learned well is broken most often by the rows that it speaks of: where
such rows are dropped, their group shrinks.  So the rows that keep all rules are weighed by factors
of their groups (raking, Deming and Stephan 1940) such that every group has the share that it has
among all candidates, as far as it can have.  Of all distributions that keep the rules and have
these shares this is the one nearest to the model (in Kullback-Leibler divergence; Csiszar 1975).
Everything here is post-processing of drawn rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import final

import numpy as np

from nacre.rows.beyond import Beyond, sums_beyond
from nacre.rows.groups import GROUPS, Array, Groups, Index, Mask
from nacre.schema.columns.column import Column
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.constraint import Rule

MARGINS = 64  # at most so many shares of groups, or of pairs of groups, are kept
FEWEST = 25  # candidates of a group whose share is kept, a fifth of them left by the rules
ROUNDS = 30
CLOSE = 2e-4  # of all rows: shares that differ by less are equal
HARDLY = 0.05  # of a share: a group that differs by less is as large as it was
COST = 20.0  # at most so many rows that keep all rules are drawn for one that stays
NEEDED = 0.005  # of the candidates break rules; below that their groups hardly move
ENOUGH = 200  # rows that keep all rules


@final
@dataclasses.dataclass(frozen=True)
class Move:
    """A group's share of the candidates, of those that keep all rules, and of what stays."""

    group: str
    wanted: float
    dropped: float
    kept: float

    @property
    def restored(self) -> bool:
        """Whether its share is what it was, or hardly another one."""
        return abs(self.kept - self.wanted) <= HARDLY * self.wanted


@final
@dataclasses.dataclass(frozen=True)
class Weights:
    """How likely a row that keeps all rules is to stay, by its groups.

    Attributes:
        margins: groups of one column, or of two, and the factor of each.
        most: the weight from which on every row stays.
        moves: what the rules would have done to groups, those first that they move most.
        beyond: what looks like groups at the ends of sums, and is none.
    """

    margins: Sequence[tuple[tuple[Groups, ...], Array]]
    most: float
    moves: Sequence[Move] = ()
    beyond: Sequence[Beyond] = ()

    def chances(self, view: ColumnValues) -> Array:
        """The chance of each row to stay."""
        weights = np.ones(view.rows)
        for groups, factor in self.margins:
            weights *= factor[_cells(groups, view)]
        return np.minimum(weights / self.most, 1.0)


def weigh(
    columns: Mapping[str, Column],
    view: ColumnValues,
    *,
    asked: Mask,
    good: Mask,
    rules: Sequence[Rule],
    label: str | None,
    free: Sequence[str],
    sources: Mapping[str, frozenset[str]],
    lost: Mask,
    sums: Sequence[str],
) -> Weights | None:
    """Weights from a first lot of candidates; None where rules drop next to none, or nearly all.

    Args:
        columns: of the schema.
        view: the candidates.
        asked: which have the values that are asked for, by rules on one column alone: the groups
            are to have the shares that they have among these.
        good: which of them keep all rules.
        rules: all of them.
        label: whose classes are to keep their groups, too, if it is a column of codes.
        free: the columns that follow from no other.
        sources: what the others follow from: a rule on one of them speaks of these.
        lost: of which a sum lies beyond its bounds.
        sums: the columns that are added up.
    """
    broken = 1 - good.sum() / max(int(asked.sum()), 1)
    if broken < NEEDED or good.sum() < ENOUGH:
        return None
    single = {name: Groups.of(name, columns[name], view, rules, asked) for name in free}
    spoken = [_spoken(rule.names, sources) for rule in rules]
    margins: list[tuple[Groups, ...]] = [(groups,) for groups in single.values()]
    margins += [(single[a], single[b]) for a, b in _pairs(columns, spoken, label, free)]
    cells = [_cells(groups, view) for groups in margins[:MARGINS]]
    sizes = [math.prod(each.size for each in groups) for groups in margins[:MARGINS]]
    factors, weights = _rake(cells, sizes, asked, good)
    # The heaviest rows would make all others wait: they are kept as often as can be.
    heavy, mean = float(np.quantile(weights[good], 0.999)), float(weights[good].mean())
    most = max(min(heavy, COST * mean), 1e-12)
    found = Weights(tuple(zip(margins, factors, strict=False)), most)
    beyond = {
        (name, place): each
        for name in sums
        if name in single
        for place, each in sums_beyond(single[name], columns[name], view, asked, lost)
    }
    moves = _moves(
        list(single.values()), columns, view, asked, good, found.chances(view), {*beyond}
    )
    return dataclasses.replace(found, moves=moves, beyond=tuple(beyond.values()))


def _spoken(names: Iterable[str], sources: Mapping[str, frozenset[str]]) -> set[str]:
    """The columns that a rule speaks of, with those that they follow from."""
    found, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += sources.get(name, ())
    return found


def _pairs(
    columns: Mapping[str, Column],
    spoken: Sequence[set[str]],
    label: str | None,
    free: Sequence[str],
) -> list[tuple[str, str]]:
    """The label with every column, then columns of rules with short lists of values.

    A pair that one rule speaks of is left out: some of its cells are to be empty.
    """
    bound = {frozenset((a, b)) for names in spoken for a in names for b in names}
    ruled = [name for name in free if any(name in names for names in spoken)]
    short = [name for name in free if (columns[name].size or GROUPS + 1) <= GROUPS]
    coded = label is not None and label in free and columns[label].size is not None
    found = [(str(label), name) for name in free if coded and name != label]
    found += [(name, other) for name in ruled for other in short if name != other]
    once = {frozenset(pair): pair for pair in reversed(found)}
    return [pair for key, pair in reversed(once.items()) if key not in bound]


def _cells(groups: Sequence[Groups], view: ColumnValues) -> Index:
    found = np.zeros(view.rows, np.int64)
    for each in groups:
        found = found * each.size + each.places(view)
    return found


def _rake(
    cells: Sequence[Index], sizes: Sequence[int], asked: Mask, good: Mask
) -> tuple[list[Array], Array]:
    """Factors for each margin such that the good rows have the shares of those asked for.

    A cell that none of these rows is in has a factor of one: later rows may be in it.
    """
    factors = [np.ones(size) for size in sizes]
    weights = good.astype(np.float64)
    targets = []
    for cell, size in zip(cells, sizes, strict=True):
        wanted = np.bincount(cell[asked], minlength=size)
        left = np.bincount(cell[good], minlength=size)
        targets.append(np.where((wanted >= FEWEST) & (left >= FEWEST / 5), wanted, 0.0))
    for _ in range(ROUNDS):
        worst = 0.0
        for factor, cell, size, wanted in zip(factors, cells, sizes, targets, strict=True):
            now, known = np.bincount(cell, weights, size), wanted > 0
            # What is not known keeps what it has; the others share the rest as they should.
            scale = now[known].sum() / max(wanted[known].sum(), 1e-12)
            step = np.where(known, wanted * scale / np.maximum(now, 1e-12), 1.0)
            worst = max(worst, float(np.abs(now * (step - 1)).max() / weights.sum()))
            step = np.clip(step, 0.1, 10.0)
            factor *= step
            weights *= step[cell]
        if worst < CLOSE:
            break
    return factors, weights


def _moves(
    groups: Sequence[Groups],
    columns: Mapping[str, Column],
    view: ColumnValues,
    asked: Mask,
    good: Mask,
    chances: Array,
    beyond: Collection[tuple[str, int]],
) -> tuple[Move, ...]:
    """The groups that rules would have moved by more than chance does, the farthest first.

    Not those that are sums `beyond` a bound.
    """
    found: list[tuple[float, Move]] = []
    rows, kept = int(asked.sum()), np.where(good, chances, 0.0)
    for each in groups:
        cell = each.places(view)
        wanted, dropped, now = (
            np.bincount(cell, weights, each.size) / weights.sum()
            for weights in (asked.astype(np.float64), good.astype(np.float64), kept)
        )
        gap = np.abs(dropped - wanted) / np.sqrt(np.maximum(wanted * (1 - wanted), 1 / rows) / rows)
        for place in np.flatnonzero(gap > 4):
            if (each.name, int(place)) in beyond:
                continue
            shares = (float(wanted[place]), float(dropped[place]), float(now[place]))
            found.append(
                (float(gap[place]), Move(each.title(int(place), columns[each.name]), *shares))
            )
    return tuple(move for _, move in sorted(found, key=lambda pair: -pair[0]))
