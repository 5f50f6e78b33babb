"""What a public report may buy: one sum over the private rows, through the vault."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.embed.marginals import cell_places
from nacre.histograms.cells import Column, table_columns
from nacre.histograms.measured import measured
from nacre.histograms.measurement import Measurement
from nacre.ledger import Ledger, charged, reserve_in
from nacre.model import Model
from nacre.plan import warn_about_rows
from nacre.publish.predictor import CELLS, Predictor
from nacre.rows import Stream, TableEncoder
from nacre.vault import Bound, Guarantee, Plan, Segment, Sum, Sums, Vault

NAME = "public report"
PREDICTION = 1 / 3  # of the squared sensitivity, where columns are measured too


@dataclasses.dataclass(frozen=True, eq=False)
class Bought:
    """What came out of the vault: noisy counts and what they cost, and nothing else."""

    guarantee: Guarantee
    histograms: tuple[Measurement, ...]
    outcomes: NDArray[np.float64] | None
    outcome_noise: float


@dataclasses.dataclass(frozen=True, eq=False)
class Order:
    """What is to be counted; follows from the model and the synthetic rows, so it is public.

    Attributes:
        columns: whose histograms are asked for, on coarse cells of the schema; none if empty.
        predictor: whose outcomes are counted by class, if there is one.

    Releases:
        for each column how many rows lie in each cell, and how many rows of each class fall in each
        step of the classifier's score.

    Sensitivity:
        a row is a one in one cell of each of the K columns, weighted 1, and a one in one outcome,
        weighted w: add-remove sqrt(K + w^2), replace-one sqrt(2) times that, as no entry is
        negative.  With w^2 = K / 2 outcomes get a third of the budget.  Where a person may have
        several rows, these are counted in parts of one, and the bound is that of a person.
    """

    columns: tuple[Column, ...]
    predictor: Predictor | None

    @property
    def cells(self) -> int:
        """Of all columns together."""
        return sum(column.size for column in self.columns)

    def bound(self) -> Bound:
        """What one row contributes."""
        count, segments = len(self.columns), []
        if count:
            segments.append(Segment(size=self.cells, norm=math.sqrt(count), signed=False))
        if self.predictor is not None:
            weight = math.sqrt(count * PREDICTION / (1 - PREDICTION)) if count else 1.0
            size = self.predictor.classes * self.predictor.steps
            segments.append(Segment(size=size, norm=1.0, signed=False, weight=weight))
        return Bound(segments=tuple(segments))

    def features(self, layout: Any) -> Callable[[Any], Any]:
        """The row's ones, as (indices, values) in integers."""
        import jax.numpy as jnp

        places = cell_places(layout, self.columns) if self.columns else None
        outcome = None if self.predictor is None else self.predictor.outcome(layout)

        def one_row(row: Any) -> Any:
            parts = [] if places is None else [places(row)]
            if outcome is not None:
                parts.append((self.cells + outcome(row))[None])
            found = jnp.concatenate(parts)
            return found, jnp.ones(found.shape, jnp.int32)

        return one_row


def order(model: Model, predictor: Predictor | None, columns: bool) -> Order:
    """What to ask for: histograms of every column if wanted, and the predictor's outcomes."""
    every = table_columns(model.schema.counted.layout, None, CELLS) if columns else ()
    return Order(every, predictor)


def buy(
    model: Model,
    wanted: Order,
    data: Any,
    *,
    epsilon: float,
    delta: float,
    ledger: Ledger | str | Path | None,
    dataset: str | None,
    bad_rows: str,
    on_progress: Callable[[str, float | None], None] | None,
) -> Bought:
    """Open a vault on the private rows, charge the ledger, and take one noisy sum out of it."""
    # What the schema itself was bought with is in the model's guarantee, and not paid twice.  What
    # follows from other columns is counted like every column: rows are compared, not the model.
    schema = dataclasses.replace(model.schema, releases=(), provenance="declared", facts=())
    encoder = TableEncoder(schema)
    question = Sum(name=NAME, meaning="counts for a public report", bound=wanted.bound(), share=1.0)
    adjacency = model.guarantee.adjacency
    plan = Plan.of(
        [question],
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        unit=schema.unit,
        method=NAME,
    )
    stream = Stream(encoder, data)
    if bad_rows == "check":
        held = stream.check()
        if delta >= 1 / held:
            warn_about_rows(plan, held, "counted for your eyes only", stacklevel=4)
    reservation = reserve_in(ledger, dataset, plan)
    with charged(reservation):
        vault = Vault(stream, plan, charge=reservation, on_progress=on_progress)
        sums = vault.sum(question, wanted.features(encoder.layout))
    guarantee = vault.guarantee(checked=bad_rows == "check")
    return _opened(wanted, sums, guarantee, encoder.layout)


def _opened(wanted: Order, sums: Sums, guarantee: Guarantee, layout: Any) -> Bought:
    """The parts of the sum."""
    noise = list(sums.noise)
    histograms: tuple[Measurement, ...] = ()
    if wanted.columns:
        counts = sums.values[:, : wanted.cells].astype(np.float32)
        spread = np.full(len(wanted.columns), noise.pop(0))
        histograms = measured(counts, spread, wanted.columns, layout, None)
    if wanted.predictor is None:
        return Bought(guarantee, histograms, None, 0.0)
    outcomes = sums.values[0, wanted.cells :].reshape(wanted.predictor.classes, -1)
    return Bought(guarantee, histograms, outcomes, noise[0])


def together(first: Guarantee, others: Sequence[Guarantee]) -> Guarantee:
    """The guarantee of several releases of the same rows: epsilon and delta add up."""
    every = (first, *others)
    return Guarantee(
        epsilon=math.fsum(g.epsilon for g in every),
        delta=math.fsum(g.delta for g in every),
        adjacency=first.adjacency,
        releases=tuple(release for g in every for release in g.releases),
        unit=first.unit,
        most_rows=first.most_rows,
        checked=any(g.checked for g in every),
    )
