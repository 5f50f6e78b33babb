"""The scale of protected numbers where the marginal energies alone get noise (the paper's D.4).

Other answers have no noise then, so that nothing of a protected column may be read off them; by the
schema's bounds alone, which are generous, its numbers would be a hundredth of a range apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nacre.histograms.cells import NumberColumn, table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.standardize import CELLS, histogram_moments
from nacre.vault import Program, Stage, Steps

if TYPE_CHECKING:
    from nacre.methods.ppem.ppem import PPEM
    from nacre.rows import TableEncoder
    from nacre.vault import Plan, Vault

PART = 0.2  # of the marginal energies' epsilon, and half of their delta


def scale_costs(method: PPEM, *, bought: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Epsilon and delta of the histograms, and of the marginal energies: they add up."""
    epsilon, delta = method.marginal_epsilon, method.marginal_delta
    if not bought:
        return (0.0, 0.0), (epsilon, delta)
    return (PART * epsilon, delta / 2), ((1 - PART) * epsilon, delta / 2)


def protected_numbers(method: PPEM, encoder: TableEncoder) -> tuple[NumberColumn, ...]:
    """The numbers of which a histogram is bought; none where they are scaled by the schema."""
    if not method.partly or method.scale == "schema":
        return ()
    hidden = method.parts(encoder).hidden.numbers
    every = table_columns(encoder.layout, None, CELLS)
    return tuple(c for c in every if isinstance(c, NumberColumn) and c.number in hidden)


def protected_histograms(method: PPEM, encoder: TableEncoder, share: float, rows: int) -> Steps:
    """One step on all rows: a histogram of each protected number, with noise of its own.

    Releases:
        how many rows lie in each cell of each protected number.
    Adjacency:
        add-remove; replace-one by the generic conversion, as for all steps.
    Sensitivity:
        a row is in one cell of each number: add-remove sqrt(numbers), to which the vault clips.
    Guarantee:
        a Gaussian at `PART` of the marginal model's epsilon and half of its delta.  As other
        releases of such a plan have no noise, no whole row is protected.
    Public:
        cells, by the schema; the number of rows, which such a plan has to be given.
    """
    columns = protected_numbers(method, encoder)
    return Steps(
        name="protected histograms",
        meaning="how many rows lie in each cell of each protected number",
        share=share,
        steps=1,
        size=sum(column.size for column in columns),
        batch=rows,
        stages=(Stage(clip=math.sqrt(len(columns))),),
        rows=rows,
        alone=scale_costs(method, bought=True)[0],
    )


def ask_protected(
    method: PPEM, vault: Vault, plan: Plan, question: Steps, *, key: Any
) -> dict[int, tuple[float, float]]:
    """Mean and standard deviation of each protected number, in units of its range."""
    import jax.numpy as jnp

    from nacre.embed.marginals import cell_places

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    columns = protected_numbers(method, encoder)
    places = cell_places(encoder.layout, columns)

    def cells(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        return jnp.zeros(question.size).at[places(row)].set(1.0)

    program = Program(
        state=jnp.zeros(question.size),
        prepare=lambda state, key: jnp.zeros(()),
        per_row=(cells,),
        update=lambda state, sums, key: sums[0],
        chunk=1024,
    )
    sums = np.asarray(vault.train(question, program, key=key), np.float64)
    noise = question.stages[0].clip * plan.find(question).release.noise
    found = histogram_moments(Histograms.of(columns, sums[None], noise), encoder.layout)
    return dict(zip((column.number for column in columns), found, strict=True))
