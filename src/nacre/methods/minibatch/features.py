"""Features of norm one as what a step asks of a row: the program, and two kinds of features.

A row is a function of norm one in the space of the product kernel k(x, x') y.y' (y the one-hot
label): it stands in the block of its own class, and is clipped to one there.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.embed.spectrum import PairSpectrum, RowSpectrum, waves
from nacre.methods.minibatch.memory import Memory
from nacre.methods.minibatch.student import State, Student
from nacre.nets.match import square_apart
from nacre.nets.vector import RowVector
from nacre.vault import Program

CHUNK = 256  # rows that are computed side by side


class Features(Protocol):
    """What a step reads of a row's vector, or of many: of norm at most one, whatever the row."""

    fresh: ClassVar[bool]  # whether each step reads others

    def draw(self, key: Any) -> Any:
        """What the coming step reads through, from a public key."""

    def __call__(self, drawn: Any, x: Any) -> Any:
        """Features of a row (d,)."""

    def expected(self, vector: RowVector, drawn: Any, chances: Any) -> Any:
        """What they are on average for generated rows with these chances, (..., d)."""


@dataclasses.dataclass(frozen=True, eq=False)
class FreshWaves:
    """Cosines and sines at `count` frequencies that are drawn afresh at each step."""

    fresh: ClassVar[bool] = True
    spectrum: RowSpectrum | PairSpectrum
    count: int

    def draw(self, key: Any) -> Any:
        """Frequencies (count, d)."""
        return self.spectrum.draw(self.count, key)

    def __call__(self, drawn: Any, x: Any) -> Any:
        """Of norm one."""
        return waves(drawn, x)

    def expected(self, vector: RowVector, drawn: Any, chances: Any) -> Any:
        """By `RowVector.waves`."""
        return jnp.concatenate(vector.waves(drawn, chances), -1) / math.sqrt(self.count)


@dataclasses.dataclass(frozen=True, eq=False)
class FixedEmbedding:
    """DP-MERF's features at fixed frequencies: waves of the numbers, and one-hot codes.

    Sensitivity:
        the waves have norm one and K one-hot codes over sqrt(K) have norm one; both times
        sqrt(1/2), or the one that there is.

    Attributes:
        frequencies: (count, numbers); None without numbers.
        codes: how many codes there are; their places follow the numbers.
        numbers: how many numbers there are.
    """

    fresh: ClassVar[bool] = False
    frequencies: NDArray[np.float32] | None
    numbers: int
    codes: int

    def draw(self, key: Any) -> Any:
        """Nothing: the frequencies are what they were."""
        return jnp.zeros(0)

    def __call__(self, drawn: Any, x: Any) -> Any:
        """Of norm one."""
        parts = []
        if self.frequencies is not None:
            parts.append(waves(jnp.asarray(self.frequencies), x[..., : self.numbers]))
        if self.codes:
            parts.append(x[..., self.numbers :] / math.sqrt(self.codes))
        return jnp.concatenate(parts, -1) / math.sqrt(len(parts))

    def expected(self, vector: RowVector, drawn: Any, chances: Any) -> Any:
        """The same: the one-hot codes' own average are their chances."""
        return self(drawn, chances)


def features_program(
    student: Student,
    features: Features,
    expected: NDArray[np.float64],
    *,
    slots: int = 0,
    key: Any,
) -> Program:
    """Features of norm at most one, at frequencies that are drawn from a public key, or fixed.

    The loss is the squared distance of mean features, up to a constant.  It is linear in the noisy
    sums, so that its gradient is right on average, over noise, batches, frequencies and rows.

    Releases:
        sum over the batch of features(x) in the block of the row's class.

    Sensitivity:
        add-remove 1, the largest norm of the features.

    Public:
        the keys that frequencies are drawn from, and so they; `expected`, how many rows of each
        class a batch has, about, from noisy counts; and the memory of `slots` earlier noisy sums.
    """
    vector = student.vector
    size = jnp.asarray(expected[:, None], jnp.float32)

    def ask(arrays: Any, key: Any) -> Any:
        return key

    def prepare(state: State, key: Any) -> Any:
        return features.draw(state.asked)

    def per_row(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        return own_class(vector, row)[:, None] * features(shared, vector.of(row))

    def update(state: State, sums: tuple[Any, ...], key: Any) -> State:
        first, second = jax.random.split(key)
        means = sums[0] / size

        def loss(arrays: Any) -> Any:
            chances = student.chances(arrays, first)
            return distances(vector, features, chances, state.asked, means)

        after = student.descend(state, loss, ask, second)
        if not slots:
            return after
        # Of the same features all releases are averaged, of fresh ones the last are kept.
        weight = 1.0 if features.fresh else 1 / (state.step // slots + 1)
        kept = state.memory.add(state.step % slots, state.asked, means, weight)
        return after._replace(memory=kept)

    state = student.start(ask, key)
    if slots:
        drawn = jax.eval_shape(features.draw, key)
        places = jax.eval_shape(features, drawn, jnp.zeros(vector.width)).size
        state = state._replace(memory=Memory.empty(slots, (vector.classes, places), key))
    return Program(
        state=state,
        prepare=prepare,
        per_row=(per_row,),
        update=update,
        chunk=CHUNK,
    )


def distances(vector: RowVector, features: Features, chances: Any, asked: Any, means: Any) -> Any:
    """Of generated rows (classes, each, d) to noisy means (classes, places), squared, by class.

    Up to a constant; `asked` is the key that the means' features were drawn from.
    """
    found = features.expected(vector, features.draw(asked), chances)
    return square_apart(found) - 2 * jnp.sum(found.mean(1) * means, axis=1)


def own_class(vector: Any, row: Any) -> Any:
    """The one-hot class of a row, (classes,)."""
    if vector.label is None:
        return jnp.ones(1)
    return (row.codes[vector.label] == jnp.arange(vector.classes)).astype(jnp.float32)
