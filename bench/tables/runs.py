"""What there is to run: one method on one cut of one table, with everything that decides it."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.tables.plans import PLANS
from bench.variants import Variant, is_stepwise, variants

REAL = "real"
"""Instead of a method: classifiers learn from the real rows themselves."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """One fit, or the real rows themselves.

    Attributes:
        dataset: which table, by the name of its plan.
        variant: which method, by its name in `bench.variants`, or `REAL`.
        seed: of the cut, of public randomness and of the classifiers.
        epsilon: infinite without privacy; None for the real rows.
        delta: None without privacy.
        adjacency: None for the real rows.
        metrics: of the synthetic rows themselves.
        settings: what the table's plan changes in the variant.
    """

    dataset: str
    variant: str
    seed: int
    epsilon: float | None = None
    delta: float | None = None
    adjacency: str | None = None
    metrics: tuple[str, ...] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its result is called.

        >>> Run(dataset="adult", variant="pearl", seed=3, epsilon=0.8, delta=1e-5).name
        'adult_pearl_eps0.8_seed3'
        """
        parts = [self.dataset, self.variant]
        if self.epsilon is not None:
            parts.append(f"eps{self.epsilon:g}")
        return "_".join([*parts, f"seed{self.seed}"])

    @property
    def guarantee(self) -> dict[str, Any] | None:
        """As JSON has it, which knows no infinity; None for the real rows."""
        if self.epsilon is None:
            return None
        epsilon = None if math.isinf(self.epsilon) else self.epsilon
        return {"epsilon": epsilon, "delta": self.delta, "adjacency": self.adjacency}

    def __str__(self) -> str:
        at = "" if self.epsilon is None else f", ε = {show_epsilon(self.epsilon)}"
        return f"{self.dataset}, {self.variant}{at}, seed {self.seed}"


def show_epsilon(epsilon: float) -> str:
    """ε for people."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:g}"


def make_run(dataset: str, name: str, variant: Variant, epsilon: float, seed: int) -> Run:
    """A fit of one variant, as the table's plan has it."""
    plan = PLANS[dataset]
    settings = plan.settings_of(name, epsilon)
    stepwise = is_stepwise(variant.make(settings))
    return Run(
        dataset=dataset,
        variant=name,
        seed=seed,
        epsilon=epsilon,
        delta=None if math.isinf(epsilon) else plan.delta,
        adjacency=plan.stepwise if stepwise else plan.adjacency,
        metrics=plan.metrics,
        settings=settings,
    )


def make_runs(
    datasets: Iterable[str],
    chosen: Mapping[str, Variant],
    seeds: Iterable[int],
    epsilons: Sequence[float] | None = None,
) -> list[Run]:
    """The real rows and every variant at every epsilon (None: those of the plan).

    Variants that are not private are run where epsilon is infinite only.
    """
    found, seeds = [], list(seeds)
    for dataset in datasets:
        found += [Run(dataset=dataset, variant=REAL, seed=seed) for seed in seeds]
        for epsilon in PLANS[dataset].epsilons if epsilons is None else epsilons:
            for name, variant in chosen.items():
                if not (variant.private or math.isinf(epsilon)):
                    continue
                first = make_run(dataset, name, variant, epsilon, 0)
                found += [dataclasses.replace(first, seed=seed) for seed in seeds]
    return found


def expected_seconds(run: Run, kept: Sequence[Mapping[str, Any]]) -> float:
    """What a run will take, about: what others like it took, or a guess."""
    alike = [
        result["fit_seconds"] + result["score_seconds"]
        for result in kept
        if (result["dataset"], result["variant"]) == (run.dataset, run.variant)
    ]
    if alike:
        return float(np.mean(alike))
    guess = PLANS[run.dataset].seconds
    return guess if run.variant == REAL else guess + variants()[run.variant].seconds


def cheapest_first(runs: Iterable[Run], kept: Sequence[Mapping[str, Any]]) -> list[Run]:
    """In the order in which most of a table is filled soonest."""
    return sorted(runs, key=lambda run: (expected_seconds(run, kept), run.seed))
