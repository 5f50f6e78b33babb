"""A mixture of product distributions as a generator: exact sampling, also given some values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import Cells
from nacre.nets import stored
from nacre.nets.generator import AbstractGenerator
from nacre.schema import Encoded, Layout

# Probabilities of a column's cells given the component.
TABLE = stored.Array("R", None, dtype=np.float64, kept=np.float32, low=0, distribution=1)
TICKS = stored.Array(None, dtype=np.int64, low=0)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MixtureGenerator(AbstractGenerator):
    """A fitted mixture of R components.

    Attributes:
        weights: joint probabilities of label and component, (labels, R).
        numbers: for each number, cell probabilities given the component, (R, cells).
        codes: likewise for each code but the label.
        cells: what the cells of each number are.
        label: the place of the label among the codes, if there is one.
        layout: of the rows.
        fixed: codes that every row is to have.
    """

    weights: NDArray[np.float64] = stored.field(
        stored.Array("labels", "R", dtype=np.float64, kept=np.float32, low=0, distribution=2)
    )
    numbers: list[NDArray[np.float64]] = stored.field(stored.Many(TABLE, list))
    codes: list[NDArray[np.float64]] = stored.field(stored.Many(TABLE, list))
    cells: list[Cells] = stored.field(
        stored.Many(stored.Record(Cells, {"low": TICKS, "high": TICKS}), list)
    )
    label: int | None = stored.field(stored.Whole(low=0, optional=True))
    layout: Layout = stored.from_encoder("layout")
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

    def _check(self) -> None:
        """Raise ValueError unless the cells of each number are those of its probabilities."""
        if len(self.cells) != len(self.numbers):
            raise NacreError("The mixture has other cells than numbers.")
        for table, cells in zip(self.numbers, self.cells, strict=True):
            if not cells.low.shape == cells.high.shape == table.shape[1:]:
                raise NacreError("The cells of a number and their probabilities do not agree.")
            if (cells.low > cells.high).any():
                raise NacreError("A cell of the mixture holds no number.")


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
