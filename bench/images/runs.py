"""What there is to run on images: the methods, and one fit of one of them."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.tables.runs import REAL, Run
from bench.variants import Variant

DATASETS = ("mnist", "fashion_mnist")
EPSILONS = (10.0, 1.0, 0.2)
DELTA = 1e-5
ADJACENCY = "add-remove"
METRICS = ("cnn-accuracy",)
SECONDS = 300.0  # of learning from 60,000 images, about: only to put runs in order

VARIANTS = {
    "moments": Variant(title="Moments", method="moments", seconds=200),
    "merf": Variant(title="DP-MERF", method="merf", seconds=400),
    "merf-dense": Variant(
        title="DP-MERF, dense layers", method="merf", settings={"layers": "dense"}, seconds=300
    ),
    "merf-minibatch": Variant(
        title="DP-MERF, by batches", method="merf", settings={"release": "minibatch"}, seconds=900
    ),
    "merf-encoder": Variant(
        title="DP-MERF with an autoencoder",
        method="merf",
        settings={
            "generator": "network",
            "frequencies_on": "row",
            "projection": "autoencoder",
            "dimensions": 10,
        },
        seconds=300,
    ),
    "pearl": Variant(title="PEARL", method="pearl", seconds=600),
    "pearl-published": Variant(
        title="PEARL, as published", method="pearl", preset="as_published", seconds=600
    ),
    "pearl-plain": Variant(
        title="PEARL without critic", method="pearl", settings={"critic": "off"}, seconds=600
    ),
    "functional": Variant(title="Functional", method="functional", seconds=600),
    "functional-features": Variant(
        title="Functional, by steps",
        method="functional",
        settings={"release": "features"},
        seconds=1200,
    ),
    "dpgan": Variant(title="DPGAN", method="dpgan", seconds=600),
    "dpcgan": Variant(title="DP-CGAN", method="dpcgan", seconds=600),
}
USUAL = ("moments", "merf", "pearl", "functional")


def make_runs(
    datasets: Iterable[str],
    names: Iterable[str],
    epsilons: Sequence[float],
    seeds: Iterable[int],
    metrics: Sequence[str] = METRICS,
) -> list[Run]:
    """The real images and every method at every epsilon, a seed of all at a time."""
    found = []
    for seed in seeds:
        for dataset in datasets:
            first = Run(dataset=dataset, variant=REAL, seed=seed, metrics=tuple(metrics))
            found.append(first)
            found += [
                dataclasses.replace(
                    first,
                    variant=name,
                    epsilon=epsilon,
                    delta=None if math.isinf(epsilon) else DELTA,
                    adjacency=ADJACENCY,
                )
                for epsilon in epsilons
                for name in names
            ]
    return found


def cheapest_first(runs: Iterable[Run], kept: Sequence[Mapping[str, Any]]) -> list[Run]:
    """By seed, then by what others like it took, or by a guess."""

    def seconds(run: Run) -> float:
        alike = [
            result["fit_seconds"] + result["sample_seconds"] + result["score_seconds"]
            for result in kept
            if (result["dataset"], result["variant"]) == (run.dataset, run.variant)
        ]
        if alike:
            return float(np.mean(alike))
        return SECONDS + (0 if run.variant == REAL else VARIANTS[run.variant].seconds)

    return sorted(runs, key=lambda run: (run.seed, seconds(run)))
