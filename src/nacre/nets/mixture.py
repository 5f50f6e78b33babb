"""A mixture of product distributions: exact expectations while fitting, exact sampling after.

Each of R components has for each column a distribution over that column's cells, all independent
given the component; labels and components have joint weights.  The expectation of a product of
functions of single columns is a sum over components of products, so fitting needs no sampling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.cells import Cells
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout


class MixtureLogits(eqx.Module):
    """The parameters while they are fitted.

    p(label, x) = sum_r w[label, r] prod_c p_c[r, x_c] over the component columns, times
    prod_c q_c[label, x_c] over the columns `by_label`: for a column of which only its marginals
    given the label are known, that is the solution of largest entropy.
    """

    joint: jax.Array
    base: list[jax.Array]
    tilt: list[jax.Array]
    given_label: list[jax.Array]

    def __init__(
        self,
        sizes: Sequence[int],
        by_label: Sequence[int],
        *,
        labels: int,
        components: int,
        spread: float = 0.5,
        key: Any,
    ):
        keys = jax.random.split(key, len(sizes) + 1)
        self.joint = 0.1 * jax.random.normal(keys[-1], (labels, components))
        self.base = [jnp.zeros(size) for size in sizes]
        self.tilt = [
            spread * jax.random.normal(k, (components, size))
            for k, size in zip(keys[:-1], sizes, strict=True)
        ]
        self.given_label = [jnp.zeros((labels, size)) for size in by_label]

    def weights(self) -> jax.Array:
        """Joint probabilities of label and component, (labels, R)."""
        return jax.nn.softmax(self.joint.reshape(-1)).reshape(self.joint.shape)

    def columns(self) -> list[jax.Array]:
        """Cell probabilities of each component column, (R, cells)."""
        return [
            jax.nn.softmax(base + tilt, axis=-1)
            for base, tilt in zip(self.base, self.tilt, strict=True)
        ]

    def label_columns(self) -> list[jax.Array]:
        """Cell probabilities of each column given the label, (labels, cells)."""
        return [jax.nn.softmax(logits, axis=-1) for logits in self.given_label]

    def complexity(self) -> jax.Array:
        """How far the components are from what they share, squared."""
        return sum((jnp.sum(tilt**2) for tilt in self.tilt), start=jnp.zeros(()))


class MixtureGenerator(AbstractGenerator):
    """A fitted mixture.  `label` is the place of the label among the codes, or -1 for none."""

    weights: NDArray[np.float64]
    numbers: list[NDArray[np.float64]]
    codes: list[NDArray[np.float64]]
    cells: list[Cells]
    label: int = eqx.field(static=True)

    def sample(
        self, n: int, layout: Layout, rng: np.random.Generator, fixed: Mapping[int, int]
    ) -> Encoded:
        """Draw rows.

        Draws are stratified within each component: every row follows the mixture, and a whole
        table's marginals lie closer to it than independent draws would.
        """
        weights = self._given(fixed)
        label, component = _pick(weights, n, rng)
        ticks = np.zeros((n, len(self.numbers)), np.int64)
        codes = np.zeros((n, len(self.codes) + (self.label >= 0)), np.int32)
        for place, (table, cells) in enumerate(zip(self.numbers, self.cells, strict=True)):
            ticks[:, place] = cells.draw(_stratified(table, component, rng), rng)
        others = [place for place in range(codes.shape[1]) if place != self.label]
        for place, table in zip(others, self.codes, strict=True):
            known = fixed.get(place)
            codes[:, place] = _stratified(table, component, rng) if known is None else known
        if self.label >= 0:
            codes[:, self.label] = label
        return layout.encoded(ticks, codes)

    def _given(self, fixed: Mapping[int, int]) -> NDArray[np.float64]:
        """Joint weights given the fixed codes (Bayes' rule)."""
        weights = np.array(self.weights, np.float64)
        others = [place for place in range(len(self.codes) + 1) if place != self.label]
        for place, code in fixed.items():
            if place == self.label:
                mask = np.zeros(len(weights))
                mask[code] = 1.0
                weights = weights * mask[:, None]
            else:
                weights = weights * self.codes[others.index(place)][:, code]
        if not weights.sum() > 0:
            raise ValueError("The model gives rows with these values no probability at all.")
        return np.asarray(weights / weights.sum())

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Sizes as JSON, probabilities as float32 arrays."""
        arrays: dict[str, NDArray[Any]] = {"weights": self.weights.astype(np.float32)}
        for place, (table, cells) in enumerate(zip(self.numbers, self.cells, strict=True)):
            arrays[f"number{place}"] = table.astype(np.float32)
            arrays[f"low{place}"], arrays[f"high{place}"] = cells.low, cells.high
        for place, table in enumerate(self.codes):
            arrays[f"code{place}"] = table.astype(np.float32)
        config = {"numbers": len(self.numbers), "codes": len(self.codes), "label": self.label}
        return config, arrays

    @classmethod
    def restore(cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The inverse of `state`."""
        numbers, codes = range(int(config["numbers"])), range(int(config["codes"]))
        generator = cls(
            weights=_probabilities(arrays["weights"].reshape(1, -1)).reshape(
                arrays["weights"].shape
            ),
            numbers=[_probabilities(arrays[f"number{place}"]) for place in numbers],
            codes=[_probabilities(arrays[f"code{place}"]) for place in codes],
            cells=[
                Cells(arrays[f"low{p}"].astype(np.int64), arrays[f"high{p}"].astype(np.int64))
                for p in numbers
            ],
            label=int(config["label"]),
        )
        components = generator.weights.shape[1]
        if any(len(table) != components for table in [*generator.numbers, *generator.codes]):
            raise ValueError("The columns of the mixture have different numbers of components.")
        return generator


def _probabilities(table: NDArray[Any]) -> NDArray[np.float64]:
    """Rows that add up to one, from what a file says."""
    wide = np.asarray(table, np.float64)
    if wide.ndim != 2 or not np.isfinite(wide).all() or (wide < 0).any():
        raise ValueError("A table of probabilities holds something else.")
    return np.asarray(wide / np.maximum(wide.sum(1, keepdims=True), 1e-300))


def _pick(
    weights: NDArray[np.float64], n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Label and component of each of n rows, systematically sampled and then shuffled."""
    cumulative = weights.reshape(-1).cumsum()
    positions = (np.arange(n) + rng.random()) / max(n, 1) * cumulative[-1]
    flat = np.minimum(np.searchsorted(cumulative, positions, side="right"), len(cumulative) - 1)
    rng.shuffle(flat)
    return flat // weights.shape[1], flat % weights.shape[1]


def _stratified(
    table: NDArray[np.float64], component: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """A cell for each row from its component's distribution, stratified within components."""
    n, size = len(component), table.shape[1]
    order = np.lexsort((rng.random(n), component))
    counts = np.bincount(component, minlength=len(table))
    start = np.repeat(np.cumsum(counts) - counts, counts)
    uniform = np.empty(n)
    uniform[order] = (np.arange(n) - start + rng.random(n)) / np.repeat(counts, counts)
    cumulative = table.cumsum(1)
    cumulative = cumulative / cumulative[:, -1:] + np.arange(len(table))[:, None]
    cell = np.searchsorted(cumulative.reshape(-1), component + uniform, side="right")
    return np.clip(cell - component * size, 0, size - 1)
