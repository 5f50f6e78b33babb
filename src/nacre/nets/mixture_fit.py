"""Fit a mixture of products to noisy expectations, and wrap the result as a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from nacre.nets.cells import Cells
from nacre.nets.minimize import minimize
from nacre.nets.mixture import MixtureGenerator, MixtureLogits
from nacre.schema import Layout

Loss = Callable[[Sequence[jax.Array], jax.Array], jax.Array]


def free_columns(layout: Layout, label: int) -> list[int]:
    """The columns other than the label, numbers first and then codes, by place in the layout."""
    numbers = len(layout.numbers)
    places = range(numbers + len(layout.codes))
    return [place for place in places if label < 0 or place != numbers + label]


def fit_mixture(
    layout: Layout,
    label: int,
    cells: Sequence[Cells],
    loss: Loss,
    *,
    components: int,
    spread: float,
    steps: int,
    rate: float,
    key: Any,
    on_progress: Callable[[float], None],
) -> MixtureGenerator:
    """Minimize `loss(columns, weights)`: cell probabilities of the free columns given the
    component, and joint weights of label and component."""
    numbers = len(layout.numbers)
    sizes = [c.size for c in cells] + [
        layout.codes[place - numbers].size
        for place in free_columns(layout, label)
        if place >= numbers
    ]
    labels = layout.codes[label].size if label >= 0 else 1
    logits = MixtureLogits(sizes, labels, components, spread=spread, key=key)
    fitted = minimize(
        logits,
        lambda model: loss(model.columns(), model.weights()),
        steps=steps,
        rate=rate,
        on_progress=on_progress,
    )
    tables = [np.asarray(table, np.float64) for table in fitted.columns()]
    return MixtureGenerator(
        weights=np.asarray(fitted.weights(), np.float64),
        numbers=tables[:numbers],
        codes=tables[numbers:],
        cells=list(cells),
        label=label,
    )
