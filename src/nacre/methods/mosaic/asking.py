"""The releases of Mosaic in their order, and what earlier answers decide about later ones."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.embed.marginals import (
    Places,
    cell_places,
    doubled,
    single_features,
    table_features,
)
from nacre.embed.ticks import tick_features
from nacre.histograms.atoms import Atoms, Looked, find_atoms
from nacre.histograms.cells import NumberColumn
from nacre.histograms.histograms import Histograms, deviation
from nacre.histograms.look import Look, looked_at
from nacre.histograms.weights import NORM, column_weights
from nacre.methods.heaps import HEAPS, Rounds, ask_heaps
from nacre.methods.mosaic.again import worthwhile
from nacre.methods.mosaic.counting import Answer, Counting, plan_counting
from nacre.methods.mosaic.design import Design
from nacre.methods.mosaic.learn import Loose, Pairs
from nacre.methods.mosaic.mosaic import LOOK
from nacre.methods.mosaic.shifts import numbers_of
from nacre.methods.mosaic.tables import WHOLE
from nacre.methods.mosaic.target import Target
from nacre.rows import TableEncoder
from nacre.vault import Sum

if TYPE_CHECKING:
    from nacre.vault import Vault


def no_features(row: Any) -> Any:
    """Nothing of a row: the vault counts it."""
    return jnp.zeros(0, jnp.int32)


@final
@dataclasses.dataclass(frozen=True)
class Seen:
    """What the first answers tell.

    Attributes:
        design: what is counted, as finely as the number of rows allows.
        places: of a row's cells.
        histograms: of all columns by class.
        target: a numeric label that was cut into classes, if there is one.
        atoms: single values inside cells.
        rounds: round steps that numbers inside cells are multiples of, and days of dates.
    """

    design: Design
    places: Places
    histograms: Histograms
    target: Target | None
    atoms: Atoms
    rounds: Rounds


def ask_histograms(
    vault: Vault, design: Design, questions: Sequence[Any]
) -> tuple[Seen, list[Any]]:
    """The first answers, and the questions that are left."""
    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    rest, counted = list(questions), None
    if design.adapts:
        sizes = vault.sum(rest.pop(0), no_features)
        weights = column_weights(design.columns)
        # Of numbers, which it is about, all that have many cells have one weight.
        kinds = zip(weights.tolist(), design.columns, strict=True)
        one = max(weight for weight, kind in kinds if isinstance(kind, NumberColumn))
        # By the noise of counts by class alone, as if all rows were not counted, too: finer cells
        # have cost pairs and labels more than they gave (Covertype, 10,000 rows, three fits).
        design = design.resolved(encoder, sizes.total, vault.noise(rest[0]) / one)
        counted = None if sizes.counts is None else (sizes.counts, sizes.count_noise)
    columns, places = design.columns, cell_places(encoder.layout, design.columns)
    weights = column_weights(columns)
    features, size = single_features(places, weights), sum(column.size for column in columns)
    single = features
    target: Target | None = None
    if design.target is not None:
        target = Target.ask(vault, rest.pop(0), places, columns, design.target)
        features = target.split(features, places, columns, size)
    sums, whole = vault.sum(rest.pop(0), features), None
    noise = sums.noise[0]
    if rest and rest[0].name == WHOLE:
        every = vault.sum(rest.pop(0), single)
        whole = every.values[0, :size], every.noise[0]
    if target is None:
        histograms = Histograms.of(columns, sums.values[:, :size], noise, weights, counted, whole)
    else:
        histograms = target.histograms(columns, sums.values, noise, weights, whole)
    atoms, looked = Atoms.none(), None
    if rest and rest[0].name == LOOK:
        atoms, looked = _ask_atoms(vault, design, histograms, places, rest.pop(0))
    rounds = Rounds.none()
    if rest and rest[0].name == HEAPS:
        rounds = ask_heaps(vault, rest.pop(0), encoder.layout, histograms, places, atoms)
    fixed = None if target is None else target.column
    histograms, atoms, rounds = rounds.settled(histograms, encoder.layout, atoms, looked, fixed)
    return Seen(design, places, histograms, target, atoms, rounds), rest


def _ask_atoms(
    vault: Vault, design: Design, histograms: Histograms, places: Places, question: Sum
) -> tuple[Atoms, Looked]:
    """Single values that many rows of a heavy cell have, and what was counted of them."""
    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    room, noise = question.bound.segments[0].size, vault.noise(question)
    columns = looked_at(design.columns, encoder.layout, room)
    weight = math.floor(NORM / math.sqrt(len(columns)))
    look = Look.of(histograms, columns, room=room, noise=noise / weight)
    # Fewer columns than might have been: each is seen more clearly.
    weights = look.weights(NORM)
    features = tick_features(places, design.columns, look.starts, weights)
    sums = vault.sum(question, features, used=look.size)
    counts = np.array(sums.values[0][: look.size], np.float64)
    for span, each in zip(look.spans(), weights.tolist(), strict=True):
        counts[span] /= each
    each = sums.noise[0] / weights
    return find_atoms(histograms, look, counts, each), Looked(look, counts, each)


def ask_pairs(
    vault: Vault,
    seen: Seen,
    order: list[int],
    questions: Sequence[Sum],
    bins: int,
    *,
    shifted: bool = False,
) -> tuple[Loose, Pairs]:
    """Bins from the histograms, then counts of their pairs; those that are worth it once more.

    Numbers that are not joined are counted no more if their shifts are known.
    """
    design, histograms = seen.design, seen.histograms
    target = None if seen.target is None else (seen.target.column, seen.target.group)
    noise = [vault.noise(question) for question in questions]
    counting = plan_counting(
        histograms,
        order=order,
        most=design.joined,
        bins=bins,
        size=design.size,
        norm=NORM,
        noise=sum(deviation(each) ** -2 for each in noise) ** -0.5,
        by_class=design.by_class,
        target=target,
        apart=numbers_of(seen.design.columns, None) if shifted else (),
    )
    answers = [_ask_tables(vault, questions[0], seen, counting, counting.weights)]
    for question, each in zip(questions[1:], noise[1:], strict=True):
        _, pairs = counting.split(answers)
        if question.bound.by is None:
            pairs = pairs.over_classes()
        weights = _weights_again(counting, histograms, pairs, deviation(each))
        answers.append(_ask_tables(vault, question, seen, counting, weights))
    return counting.split(answers)


def _weights_again(
    counting: Counting, histograms: Histograms, pairs: Pairs, noise: float
) -> NDArray[np.int64]:
    """The weights of a second counting, whose noise is known: as before, but for the pairs."""
    weights, first = counting.weights.astype(np.float64), len(counting.loose)
    own = slice(first, first + len(counting.pairs))
    room = float((weights[own] ** 2).sum())
    weights[own] = noise * np.sqrt(worthwhile(histograms, pairs, room / noise**2))
    return np.floor(weights).astype(np.int64)


def _ask_tables(
    vault: Vault, question: Sum, seen: Seen, counting: Counting, weights: NDArray[np.int64]
) -> Answer:
    """The counts of the tables that have a weight; zeros in the places of the others."""
    places, columns = seen.places, seen.design.columns
    groups = [
        counting.groups.get(place, np.zeros(column.size, np.int64))
        for place, column in enumerate(columns)
    ]
    tables: list[tuple[int, ...]] = [*((c,) for c in counting.loose), *counting.pairs]
    if counting.target is not None:
        # Every column once more, in the bins in which it is counted with a numeric label.
        twice = [counting.labeled.get(place, group) for place, group in enumerate(groups)]
        tables += [(counting.target, len(groups) + column) for column in counting.joined]
        groups, places = groups + twice, doubled(places, sum(map(len, groups)))
    counted = np.flatnonzero(weights)
    features = table_features(
        places,
        np.concatenate(groups),
        [int(group.max()) + 1 for group in groups],
        [tables[place] for place in counted],
        weights[counted],
        list(counting.commonest.values()),
    )
    there = np.repeat(weights > 0, counting.sizes)
    sums = vault.sum(question, features, used=int(there.sum()))
    values = np.zeros((len(sums.values), len(there)))
    values[:, there] = sums.values[:, : there.sum()]
    return Answer(weights, values, sums.noise[0])
