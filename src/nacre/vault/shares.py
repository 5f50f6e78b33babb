"""Noise in shares: each of several sites adds its own, and only their total is ever seen."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.vault.doors.grid import Grid
from nacre.vault.doors.sum import Sum, Sums, released
from nacre.vault.noise import LARGEST, add_discrete_gaussian
from nacre.vault.parties import Parties
from nacre.vault.plan import Plan, Planned
from nacre.vault.release import SHARED

if TYPE_CHECKING:
    from nacre.vault.rounds import Asked, Exact

THEOREM = "Gaussian DP of a sum with noise in shares (Kairouz et al. 2021; docs, section 4)"
LEAST_SCALE = 2.0**14  # of a share, in steps of the grid; what is left then is exp(-10^9)
Words = NDArray[np.uint64]


def shared(plan: Plan, parties: Parties) -> Plan:
    """The same plan with its noise in shares; refuses what is no sum.

    What is expected is the error if nobody drops out: then there is more noise than is needed.
    """
    if not plan.private:
        raise NacreError("Noise in shares needs an epsilon: without noise masks hide nothing.")
    return dataclasses.replace(
        plan, asked=tuple(_shared(planned, parties, plan.rows) for planned in plan.asked)
    )


def _shared(planned: Planned, parties: Parties, rows: int | None) -> Planned:
    question = planned.question
    if not isinstance(question, Sum):
        raise NacreError(
            f"'{question.name}' cannot be answered by sites that hide their sums: a choice needs "
            "exact ones. Use a method that asks for sums only: mosaic with several=0 (--set "
            "several=0), pearl, merf or functional."
        )
    release = dataclasses.replace(
        planned.release, mechanism=SHARED, theorem=THEOREM, **parties.to_dict()
    )
    louder = dataclasses.replace(
        release, noise=release.noise * math.sqrt(parties.sites / parties.shares)
    )
    return Planned(question=question, release=release, expected=question.expected(louder, rows))


def share_scale(grid: Grid, parties: Parties) -> float:
    """The scale of one site's noise, in steps: `Parties.shares` of them make up the plan's.

    Refuses, by public numbers, noise of all sites that 64 bits would not hold.
    """
    scale = grid.scale / math.sqrt(parties.shares) * (1 + 1e-12)
    if scale < LEAST_SCALE or scale * math.sqrt(parties.sites) * 2**5 >= LARGEST:
        raise NacreError(
            "The noise of so many sites does not fit on one grid of 64-bit integers. Ask with "
            "fewer sites, or bring the segments' norms closer together."
        )
    return scale


def grid_of(plan: Plan, asked: Asked) -> Grid:
    """The grid of a question whose noise is in shares."""
    release = plan.find(asked.question).release
    if release.mechanism != SHARED or not isinstance(asked.question, Sum):
        raise NacreError(f"The plan has no noise in shares for '{asked.question.name}'.")
    return Grid.of(asked.question, release, asked.exact)


def fingerprint(plan: Plan, asked: Asked) -> str:
    """Of the question, its noise and its grid: sites that differ in one could not be added up."""
    grid = grid_of(plan, asked)
    numbers = (grid.units, grid.count_step, grid.whole, grid.factors.tolist(), grid.scale)
    said = f"{asked.program}\n{plan.find(asked.question).release!r}\n{numbers!r}"
    return hashlib.sha256(said.encode()).hexdigest()


def noisy_share(plan: Plan, asked: Asked, exact: Exact, charge: Callable[[], None]) -> Words:
    """One site's sums with its share of the noise, modulo 2^64.  To be masked before it leaves.

    Releases:
        nothing by itself: one share is less noise than was promised.  The total over sites, of
        which `Parties.shares` at least are honest and keep their noise to themselves.

    Adjacency:
        the plan's, of the rows of all sites together.

    Sensitivity:
        that of the question, enforced by `ExactSum` on this site's rows; a row is at one site.  A
        site's integers are clamped to 2^62 / sites, which moves no two tables further apart.

    Guarantee:
        mu-Gaussian DP with the slack that the accountant charges (docs/privacy.md, section 4): the
        total is a function of the integer sum, so that it does not matter where 64 bits end.
        `charge` runs before noise is drawn; noise comes from the system, never from a seed.

    Public:
        plan, question, and so the scale.
    """
    grid = grid_of(plan, asked)
    parties = plan.find(asked.question).release.parties
    scale = share_scale(grid, parties)
    integers = grid.integers(exact.sums, exact.counts, parts=parties.sites)
    charge()
    noise = add_discrete_gaussian(np.zeros_like(integers), scale)
    return integers.astype(np.uint64) + noise.astype(np.uint64)


def total(plan: Plan, asked: Asked, integers: NDArray[np.int64], sites: int) -> Sums:
    """The answer from a total of so many sites, which has its noise already.

    It was charged where that noise was drawn.
    """
    grid, parties = grid_of(plan, asked), plan.find(asked.question).release.parties
    if integers.shape != grid.shape or not parties.threshold <= sites <= parties.sites:
        raise NacreError("The total has another shape, or is of fewer sites than are needed.")
    return released(grid, integers, share_scale(grid, parties) * math.sqrt(sites))
