"""A mixture of product distributions as a generator: exact sampling, also given some values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import Cells
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MixtureGenerator(AbstractGenerator):
    """A fitted mixture of R components.

    weights  joint probabilities of label and component, (labels, R)
    numbers  for each number, cell probabilities given the component, (R, cells)
    codes    likewise for each code but the label
    cells    what the cells of each number are
    label    the place of the label among the codes, if there is one
    layout   of the rows
    fixed    codes that every row is to have
    """

    weights: NDArray[np.float64]
    numbers: list[NDArray[np.float64]]
    codes: list[NDArray[np.float64]]
    cells: list[Cells]
    label: int | None
    layout: Layout
    fixed: Mapping[int, int] = dataclasses.field(default_factory=dict)

    def given(self, fixed: Mapping[int, int]) -> Self:
        """Condition on codes (place among the layout's codes -> code), by Bayes' rule."""
        return dataclasses.replace(self, fixed=dict(fixed))

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows.

        Draws are stratified within each component: every row follows the mixture, and a whole
        table's marginals lie closer to it than independent draws would.
        """
        layout, fixed = self.layout, self.fixed
        self._check_layout(layout)
        weights = self._given(fixed)
        label, component = _pick(weights, n, rng)
        ticks = np.zeros((n, len(self.numbers)), np.int64)
        codes = np.zeros((n, len(self.codes) + (self.label is not None)), np.int32)
        for place, (table, cells) in enumerate(zip(self.numbers, self.cells, strict=True)):
            ticks[:, place] = cells.draw(_stratified(table, component, rng), rng)
        others = [place for place in range(codes.shape[1]) if place != self.label]
        for place, table in zip(others, self.codes, strict=True):
            known = fixed.get(place)
            codes[:, place] = _stratified(table, component, rng) if known is None else known
        if self.label is not None:
            codes[:, self.label] = label
        return layout.encoded(ticks, codes)

    def _check_layout(self, layout: Layout) -> None:
        """Raise ValueError unless every cell and code has its place in the layout."""
        highest = [int(cells.high.max()) for cells in self.cells]
        sizes = [table.shape[1] for table in self.codes]
        if self.label is not None:
            sizes.insert(self.label, len(self.weights))
        numbers = [number.ticks for number in layout.numbers]
        if highest != numbers or sizes != [code.size for code in layout.codes]:
            raise NacreError("The generator was made for another layout.")

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
            raise NacreError("The model gives rows with these values no probability at all.")
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
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
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
            label=None if config["label"] is None else int(config["label"]),
            layout=encoder.layout,
        )
        _, components = generator.weights.shape
        if any(len(table) != components for table in [*generator.numbers, *generator.codes]):
            raise NacreError("The columns of the mixture have different numbers of components.")
        for table, cells in zip(generator.numbers, generator.cells, strict=True):
            if not cells.low.shape == cells.high.shape == table.shape[1:]:
                raise NacreError("The cells of a number and their probabilities do not agree.")
            if (cells.low < 0).any() or (cells.low > cells.high).any():
                raise NacreError("A cell of the mixture holds no number.")
        return generator


def _probabilities(table: NDArray[Any]) -> NDArray[np.float64]:
    """Rows that add up to one, from what a file says."""
    wide = np.asarray(table, np.float64)
    if wide.ndim != 2 or not np.isfinite(wide).all() or (wide < 0).any():
        raise NacreError("A table of probabilities holds something else.")
    total = wide.sum(1, keepdims=True)
    if not (total > 0).all():
        raise NacreError("A table of probabilities holds nothing but zeros.")
    return np.asarray(wide / total)


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
