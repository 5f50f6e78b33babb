"""The audit of a method: many cheap runs in two worlds, and what they show together."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from nacre.audit.bounds import CONFIDENCE, LowerBound, counted, most_shown, tradeoff
from nacre.audit.canary import worst_canary
from nacre.audit.kept import Kept
from nacre.audit.noise import Noise
from nacre.audit.pair import Pair, simulated
from nacre.audit.run import Seen, plan_of, run
from nacre.errors import NacreError
from nacre.methods import AbstractMethod, choose
from nacre.methods.settings import as_data
from nacre.programs import shared_programs, use
from nacre.vault import Adjacency, Plan

RUNS = 100
FEWEST = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class MethodAudit:
    """What attacks on a method have shown.

    Attributes:
        method: its title.
        data: 'table' or 'image'.
        adjacency: of the two worlds.
        epsilon: that is claimed.
        delta: likewise.
        bounds: by what was looked at; together they hold with their confidence.
        claimed_mu: the Gaussian-DP parameter of the plan, where all releases have one.
        reached_mu: that of its sums for this very pair of tables, without sampling.
        noises: of all runs, over what is stated, by answer.
        most: epsilon that counting could have shown with so many runs.
        canary: the row that was, or was not, in the table.
        unweighed: answers of which the attacker did not know the odds.
        runs: of both worlds together.
        seconds: of this sitting.
    """

    method: str
    data: str
    adjacency: Adjacency
    epsilon: float
    delta: float
    bounds: dict[str, LowerBound]
    claimed_mu: float | None
    reached_mu: float
    noises: dict[str, Noise]
    most: float
    canary: dict[str, Any]
    unweighed: tuple[str, ...]
    runs: int
    seconds: float

    @property
    def shown(self) -> LowerBound:
        """The largest of the bounds."""
        return max(self.bounds.values(), key=lambda bound: bound.epsilon)

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot stand."""
        too_far = self.claimed_mu is not None and self.reached_mu > self.claimed_mu * (1 + 1e-6)
        return too_far or bool(self.noiseless) or self.shown.refutes(self.epsilon)

    @property
    def noise(self) -> Noise:
        """Of all answers together."""
        return sum(self.noises.values(), Noise())

    @property
    def noiseless(self) -> tuple[str, ...]:
        """The answers whose noise is surely smaller than stated."""
        among = len(self.noises)
        return tuple(name for name, noise in self.noises.items() if noise.too_small(among))


def audit_method(
    method: str | AbstractMethod,
    *,
    epsilon: float,
    delta: float = 1e-5,
    data: str = "table",
    adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
    runs: int = RUNS,
    jobs: int = 1,
    samples: bool = False,
    resume: str | Path | None = None,
    confidence: float = CONFIDENCE,
    on_progress: Callable[[str, float | None], None] = lambda stage, done: None,
) -> MethodAudit:
    """Try to refute a method's guarantee on a pair of small simulated tables.

    Every run opens the real vault on one of the tables, with the method's quick settings, and is
    scored by all answers that leave it.  No private row is needed, and none is read.

    Args:
        method: a name, or a method with settings.
        epsilon: of the fits that are attacked.
        delta: likewise.
        data: 'table' or 'image', what the method is to learn from.
        adjacency: of the two worlds.
        runs: in each world.
        jobs: processes.
        samples: whether to look at synthetic rows, too: slower, and never stronger in theory.
        resume: a file that keeps the runs, so that an audit can go on later.
        confidence: of all bounds together.
        on_progress: called with a stage's name and the part done.
    """
    if runs < FEWEST or jobs < 1:
        raise NacreError(f"An audit needs {FEWEST} runs of each world and a process at least.")
    if not (0 < epsilon < math.inf and 0 < delta < 1):
        raise NacreError("An audit needs a finite ε above 0 and a δ between 0 and 1.")
    started = time.perf_counter()
    chosen = choose(method, data)[0].small()
    pair = simulated(data, Adjacency(adjacency))
    plan = plan_of(chosen, pair, epsilon=epsilon, delta=delta)
    settings = {"method": chosen.title, **as_data(chosen), "samples": samples}
    kept = Kept.open(resume, settings, plan, data)
    with shared_programs() as programs:
        on_progress("looking for the worst canary", None)
        if kept.canary is None:
            _, witness = run(chosen, plan, pair, present=False)
            pair = worst_canary(pair, witness.strengths)
            kept.set_canary(pair.canary)
        else:
            pair = dataclasses.replace(pair, canary=kept.canary)
        _, witness = run(chosen, plan, pair, present=True)
        worlds = kept.missing(runs)
        for present, seen in _runs(chosen, plan, pair, worlds, jobs, samples, programs):
            kept.add(present, seen)
            on_progress("running both worlds", kept.count / (2 * runs))
    scores = kept.scores(runs)
    return MethodAudit(
        method=chosen.title,
        data=data,
        adjacency=pair.adjacency,
        epsilon=epsilon,
        delta=delta,
        bounds=_bounds(scores, plan, witness.unweighed, delta, confidence),
        claimed_mu=plan.mu,
        reached_mu=math.sqrt(witness.squared_mu),
        noises=_noises(scores),
        most=most_shown(runs, delta=delta, confidence=confidence),
        canary={name: np.asarray(value).tolist() for name, value in pair.canary.items()},
        unweighed=tuple(sorted(witness.unweighed)),
        runs=2 * runs,
        seconds=time.perf_counter() - started,
    )


def _noises(scores: Sequence[Sequence[Seen]]) -> dict[str, Noise]:
    """The noise of all runs of both worlds, by answer."""
    found: dict[str, Noise] = {}
    for seen in (seen for world in scores for seen in world):
        for name, own in seen.noise.items():
            found[name] = found.get(name, Noise()) + Noise(*own)
    return found


def _bounds(
    scores: Sequence[Sequence[Seen]],
    plan: Plan,
    unweighed: set[str],
    delta: float,
    confidence: float,
) -> dict[str, LowerBound]:
    """A bound for each thing that was looked at, all of them together at `confidence`."""
    looked = ["answers"]
    looked += ["votes"] if "votes" in unweighed else []
    looked += ["samples"] if scores[0][0].samples is not None else []
    # Where everything is Gaussian DP, that is what is claimed, and its curve tells more.
    bound = counted if plan.mu is None else tradeoff
    each = 1 - (1 - confidence) / len(looked)
    return {
        name: bound(
            *([getattr(seen, name) for seen in world] for world in scores),
            delta=delta,
            confidence=each,
        )
        for name in looked
    }


def _runs(
    method: AbstractMethod,
    plan: Plan,
    pair: Pair,
    worlds: Sequence[bool],
    jobs: int,
    samples: bool,
    programs: str,
) -> Iterator[tuple[bool, Seen]]:
    """The scores of the runs that are missing, as they come."""
    if jobs == 1:
        for present in worlds:
            yield present, _run(method, plan, pair, present, samples)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=use, initargs=(programs,)
    ) as pool:
        waiting: dict[Any, bool] = {}
        left = list(worlds)
        try:
            while left or waiting:
                while left and len(waiting) < 2 * jobs:
                    present = left.pop(0)
                    waiting[pool.submit(_run, method, plan, pair, present, samples)] = present
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for each in done:
                    yield waiting.pop(each), each.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _run(method: AbstractMethod, plan: Plan, pair: Pair, present: bool, samples: bool) -> Seen:
    return run(method, plan, pair, present=present, samples=samples)[0]
