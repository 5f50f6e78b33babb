"""What a fit of PPEM asks: histograms and class means for standardizing, then noisy steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, NumberColumn, table_columns
from nacre.methods.ppem.hideable import require_columns
from nacre.methods.ppem.networks import conditional_energy, ensemble
from nacre.methods.ppem.protected_scale import (
    protected_histograms,
    protected_numbers,
    scale_costs,
)
from nacre.nets.layers import size
from nacre.vault import Bound, Segment, Stage, Steps, Sum, count_question

if TYPE_CHECKING:
    from nacre.methods.ppem.parts import Parts
    from nacre.methods.ppem.ppem import PPEM
    from nacre.rows import TableEncoder
    from nacre.vault import AbstractQuestion

CELLS = 256  # of a number's histogram, at most
COUNT = 0.02  # share of the budget that buys the number of rows, where nothing else tells it


def questions_of(
    method: PPEM, encoder: TableEncoder, rows: int | None
) -> tuple[AbstractQuestion, ...]:
    """Histograms for standardizing, or the number of rows; then the energies' steps."""
    require_columns(method.sets, encoder)
    parts = method.parts(encoder)
    if method.partly and not (parts.hidden.width and parts.rest.width):
        raise NacreError(
            "noised='marginal' is for tables of which some columns are protected and some are "
            "not. Protect fewer columns, or some, or use noised='both'."
        )
    first: list[AbstractQuestion] = []
    if method.scale != "schema" and histogram_columns(method, encoder):
        first.append(_histograms(method, encoder))
        if label_place(method, encoder) is not None and parts.rest.numbers:
            first.append(_means(method, encoder))
    elif rows is None:
        first.append(count_question(COUNT))
    left = 1.0 - math.fsum(question.share for question in first)
    found = {"marginal": bool(parts.hidden.width), "conditional": bool(parts.rest.width)}
    marginal = method.marginal_share if all(found.values()) else 1.0
    if found["marginal"]:
        share = left * marginal
        if bought := bool(protected_numbers(method, encoder)) and rows is not None:
            share /= 2
            first.append(protected_histograms(method, encoder, share, rows))
        _, alone = scale_costs(method, bought=bought)
        first.append(_marginal(method, parts, share, rows, alone if method.partly else None))
    if found["conditional"]:
        share = left * (1.0 - marginal) if found["marginal"] else left
        first.append(_conditional(method, parts, share, rows))
    return tuple(first)


def label_place(method: PPEM, encoder: TableEncoder) -> int | None:
    """The label's place among the codes, if numbers are standardized by its classes.

    Not by a label whose distribution is to be hidden.
    """
    label = encoder.label
    if not method.by_class or label is None:
        return None
    return encoder.place(label) if label.name in method.parts(encoder).rest.columns else None


def histogram_columns(method: PPEM, encoder: TableEncoder) -> tuple[NumberColumn | CodeColumn, ...]:
    """Of which there are histograms: numbers, and codes that are not protected."""
    hidden = set(method.parts(encoder).hidden.codes)
    every = table_columns(encoder.layout, None, CELLS)
    return tuple(c for c in every if isinstance(c, NumberColumn) or c.code not in hidden)


def _histograms(method: PPEM, encoder: TableEncoder) -> Sum:
    columns = histogram_columns(method, encoder)
    cells = sum(column.size for column in columns)
    bound = Bound(segments=(Segment(size=cells, norm=math.sqrt(len(columns)), signed=False),))
    return Sum(
        name="histograms",
        meaning="how many rows lie in each cell of each column",
        bound=bound,
        share=method.scale_share,
    )


def _means(method: PPEM, encoder: TableEncoder) -> Sum:
    """Sums of standardized numbers by class: each within one, so sqrt(count) in all."""
    count = len(method.parts(encoder).rest.numbers)
    return Sum(
        name="class means",
        meaning=f"the mean of each number for each value of '{encoder.schema.label}'",
        bound=Bound(
            segments=(Segment(size=count, norm=math.sqrt(count)),), by=encoder.label, count=1.0
        ),
        share=method.means_share,
    )


def _marginal(
    method: PPEM,
    parts: Parts,
    share: float,
    rows: int | None,
    alone: tuple[float, float] | None,
) -> Steps:
    energies = ensemble(method, parts).energies
    weights = sum(size(energy.layers) for energy in energies)
    stages: tuple[Stage, ...] = (Stage(clip=method.marginal_clip),)
    if method.penalty:
        stages = (
            Stage(clip=math.sqrt(2 * len(energies)), share=method.statistic_share),
            Stage(clip=method.marginal_clip, share=1.0 - method.statistic_share),
        )
    return Steps(
        name="marginal",
        meaning="noisy gradients of the energies of protected columns, and their Stein sums",
        share=share,
        steps=method.marginal_steps,
        size=weights + (2 * len(energies) if method.penalty else 0),
        batch=method.marginal_batch,
        stages=stages,
        rows=rows,
        alone=alone,
    )


def _conditional(method: PPEM, parts: Parts, share: float, rows: int | None) -> Steps:
    return Steps(
        name="conditional",
        meaning="noisy gradients of the energy of the other columns given the protected ones",
        share=share,
        steps=method.conditional_steps,
        size=size(conditional_energy(method, parts).layers),
        batch=method.conditional_batch,
        stages=(Stage(clip=method.conditional_clip),),
        rows=rows,
    )
