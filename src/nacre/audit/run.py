"""One run of a method in one world, and what its attacker saw."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from typing import Any

import numpy as np

from nacre.audit.pair import ROWS, Pair
from nacre.audit.witness import Heard, Witness
from nacre.errors import NacreError
from nacre.methods import AbstractMethod
from nacre.plan import make_plan
from nacre.vault import Plan, Vault

SAMPLES = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Seen:
    """The attacker's scores of one run; higher means "the canary was there".

    Attributes:
        answers: the log-likelihood ratio of the answers that left the vault.
        votes: of teachers, where a method asks for votes.
        noise: by answer, the squares of noise over what is stated, summed, and how many (`Noise`).
        samples: how alike synthetic rows are to the canary, on average; None if none were drawn.
    """

    answers: float
    votes: float
    noise: dict[str, tuple[float, int]] = dataclasses.field(default_factory=dict)
    samples: float | None = None


def plan_of(method: AbstractMethod, pair: Pair, *, epsilon: float, delta: float) -> Plan:
    """The plan of all runs, made once: no row is read for it."""
    if not method.private:
        raise NacreError(f"{method.title} adds no noise and promises nothing, so audit another.")
    rows = ROWS + (pair.other is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows: they are simulated
        return make_plan(
            method,
            "audit",
            pair.encoder,
            epsilon=epsilon,
            delta=delta,
            adjacency=pair.adjacency,
            rows=rows,
        )


def run(
    method: AbstractMethod, plan: Plan, pair: Pair, *, present: bool, samples: bool = False
) -> tuple[Seen, Witness]:
    """Fit a method to one of two tables with the real vault, its noise and its accountant.

    Unless `samples` are asked for, a run ends with the last answer that left the vault.
    """
    import jax

    witness = Witness(
        Vault(pair.stream(present=present), plan), pair, present=present, to_the_end=samples
    )
    alike = None
    with warnings.catch_warnings(), contextlib.suppress(Heard):
        warnings.simplefilter("ignore")
        generator = method.learn(witness, plan, key=jax.random.key(0))  # type: ignore[arg-type]
        alike = _likeness(generator, pair) if samples else None
    seen = Seen(
        answers=witness.evidence,
        votes=witness.votes,
        noise={name: (own.squares, own.numbers) for name, own in witness.drawn.items()},
        samples=alike,
    )
    return seen, witness


def _likeness(generator: Any, pair: Pair) -> float:
    """The mean share of a row's numbers (by distance) and codes that are the canary's."""
    encoder, rng = pair.encoder, np.random.default_rng()
    drawn = encoder.settle(generator.sample(SAMPLES, rng), rng)
    table = encoder.decode(drawn[np.asarray(drawn.valid)])
    rows = [np.asarray(leaf, np.float64) for leaf in pair.encoder_rows(table)]
    canary = [
        np.asarray(leaf[0], np.float64) for leaf in pair.stream_of((pair.canary,)).whole().rows
    ]
    if not len(rows[0]):
        return 0.0
    numbers = 1 - np.abs(rows[0] - canary[0]) / max(1.0, float(np.abs(canary[0]).max()))
    return float(np.concatenate([numbers, rows[1] == canary[1]], axis=1).mean())
