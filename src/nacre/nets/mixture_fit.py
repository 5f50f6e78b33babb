"""Fit a mixture of products to noisy expectations, and wrap the result as a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from nacre.histograms.cells import Cells
from nacre.nets.logits import MixtureLogits, parted
from nacre.nets.minimize import Adversary, Loss, minimize
from nacre.nets.mixture import MixtureGenerator
from nacre.schema import Layout


def free_columns(layout: Layout, label: int | None) -> list[int]:
    """The columns other than the label, numbers first and then codes, by place in the layout."""
    numbers = len(layout.numbers)
    places = range(numbers + len(layout.codes))
    return [place for place in places if label is None or place != numbers + label]


def fit_mixture(
    layout: Layout,
    label: int | None,
    cells: Sequence[Cells],
    loss: Loss,
    *,
    codes_by_label: bool = False,
    components: int,
    steps: int,
    rate: float,
    adversary: Adversary | None = None,
    share: Callable[[Any], Any],
    rng: np.random.Generator,
    on_progress: Callable[[float], None],
) -> MixtureGenerator:
    """Minimize the loss and make a generator of the result.

    With `codes_by_label` the codes depend on the label only, not on the component.  `share` gives
    the classes' shares among rows that are drawn, from those that were found.
    """
    numbers = len(layout.numbers)
    free = [place for place in free_columns(layout, label) if place >= numbers]
    code_sizes = [layout.codes[place - numbers].size for place in free]
    number_sizes = [c.size for c in cells]
    logits = MixtureLogits(
        number_sizes if codes_by_label else number_sizes + code_sizes,
        code_sizes if codes_by_label else [],
        labels=1 if label is None else layout.codes[label].size,
        components=components,
        rng=rng,
    )
    fitted = minimize(
        logits, loss, steps=steps, rate=rate, adversary=adversary, on_progress=on_progress
    )
    weights, stacked, given = jax.tree.map(
        lambda table: np.asarray(table, np.float64), _probabilities(fitted)
    )
    tables = parted(stacked, fitted.groups)
    found = weights.sum(1)
    weights = weights * (share(found) / found)[:, None]
    if given:
        weights, tables = _spread_over_labels(weights, tables, given)
    return MixtureGenerator(
        weights=weights,
        numbers=tables[:numbers],
        codes=tables[numbers:],
        cells=list(cells),
        label=label,
        layout=layout,
    )


@jax.jit
def _probabilities(logits: MixtureLogits) -> tuple[Any, list[Any], list[Any]]:
    return logits.weights(), logits.stacked(), logits.label_columns()


def _spread_over_labels(weights: Any, tables: list[Any], given: list[Any]) -> tuple[Any, list[Any]]:
    """The same distribution as a plain mixture: a component for each (label, component)."""
    labels, components = weights.shape
    wide = np.zeros((labels, labels * components))
    for place in range(labels):
        wide[place, place * components : (place + 1) * components] = weights[place]
    numbers = [np.tile(table, (labels, 1)) for table in tables]
    return wide, numbers + [np.repeat(table, components, axis=0) for table in given]
