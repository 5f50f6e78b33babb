"""A step-wise method in one file: histograms by class, learned by noisy steps.

Nothing to recommend; it shows that a method is its settings, its questions and `learn`.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self, final

import numpy as np

from nacre.embed.marginals import cell_places
from nacre.errors import NacreError
from nacre.histograms.cells import CodeColumn, table_columns
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.nets.generator import AbstractGenerator
from nacre.vault import Program, Stage, Steps, count_question

CELLS = 16


def table_cells(encoder):
    """The columns of a table as cells, its label left out, and how many classes that has."""
    columns = table_columns(encoder.layout, encoder.place(encoder.label), CELLS)
    return columns, 1 if encoder.label is None else encoder.label.classes


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class ToySteps(AbstractMethod):
    """Settings; all of them public constants."""

    title: ClassVar[str] = "Toy steps"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "histograms by class, by noisy steps"

    steps: int = setting(20, "how many noisy steps", low=1, high=10_000)
    batch: int = setting(100, "rows of a batch, about", low=1, high=10**6)

    def __post_init__(self) -> None:
        settle(self)

    def questions(self, encoder, adjacency, rows):
        """The steps; before them the number of rows, if that is private."""
        columns, classes = table_cells(encoder)
        first = () if rows else (count_question(0.1),)
        training = Steps(
            name="training",
            meaning="which cell of each column rows lie in, for each class",
            share=1.0 - sum(question.share for question in first),
            steps=self.steps,
            batch=self.batch,
            size=classes * sum(column.size for column in columns),
            stages=(Stage(clip=math.sqrt(max(len(columns), 1))),),
            rows=rows,
        )
        return (*first, training)

    def learn(self, vault, plan, *, key):
        """Count rows if need be, train, and make histograms of the weights."""
        import jax.numpy as jnp

        encoder = vault.encoder
        columns, classes = table_cells(encoder)
        width = sum(column.size for column in columns)
        places, label = cell_places(encoder.layout, columns), encoder.place(encoder.label)

        def hot(shared, earlier, row, key):
            start = 0 if label is None else row.codes[label] * width
            cells = (start + places(row))[:, None] == jnp.arange(classes * width)
            return cells.sum(0).astype(jnp.float32)

        *first, training = (planned.question for planned in plan.asked)
        program = Program(
            state=jnp.zeros(classes * width),
            prepare=lambda state, key: None,
            per_row=(hot,),
            update=lambda state, sums, key: state + sums[0] / self.batch,
        )
        rows = vault.count(first[0]) if first else None
        found = vault.train(training, program, rows=rows, key=key)
        weights = np.maximum(np.asarray(found, np.float64), 1e-6).reshape(classes, width)
        return ToyHistograms(weights, encoder)

    def small(self) -> Self:
        """A few steps."""
        return dataclasses.replace(self, steps=3, batch=50)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class ToyHistograms(AbstractGenerator):
    """Columns that are independent given the class; conditions are left to rejection."""

    weights: Any  # (classes, cells of all columns)
    encoder: Any

    def sample(self, n, rng):
        """Draw n rows."""
        (columns, classes), layout = table_cells(self.encoder), self.encoder.layout
        if self.weights.shape != (classes, sum(column.size for column in columns)):
            raise NacreError("The histograms were made for another layout.")
        first = columns[0].size if columns else 0
        sizes = self.weights[:, :first].sum(1)
        label = rng.choice(classes, n, p=sizes / sizes.sum())
        ticks = np.zeros((n, len(layout.numbers)), np.int64)
        codes = np.zeros((n, len(layout.codes)), np.int32)
        if self.encoder.label is not None:
            codes[:, self.encoder.place(self.encoder.label)] = label
        start = 0
        for column in columns:
            table = np.cumsum(self.weights[:, start : start + column.size], axis=1)
            at = rng.random(n) * table[label, -1]
            cell = np.minimum((at[:, None] >= table[label]).sum(1), column.size - 1)
            if isinstance(column, CodeColumn):
                codes[:, column.code] = cell
            else:
                gone = cell == column.cells.size
                drawn = column.cells.draw(np.where(gone, 0, cell), rng)
                ticks[:, column.number] = np.where(gone, 0, drawn)
                if column.nullable:
                    codes[:, column.missing] = gone
            start += column.size
        return layout.encoded(ticks, codes)

    def state(self):
        """One array."""
        return {}, {"weights": self.weights}

    @classmethod
    def restore(cls, config: Mapping[str, Any], arrays: Mapping[str, Any], encoder: Any) -> Self:
        """The inverse of `state`."""
        weights = np.asarray(arrays["weights"], np.float64)
        if weights.ndim != 2 or not (np.isfinite(weights).all() and (weights > 0).all()):
            raise NacreError("The histograms hold something else than weights.")
        return cls(weights, encoder)
