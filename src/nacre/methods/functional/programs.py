"""What a step asks of a row, and what is learned from the noisy sums: two forms.

In both a row is a function of norm one in the space of the product kernel k(x, x') y.y' (y the
one-hot label): it stands in the block of its own class, and is clipped to one there.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.embed.kernel import GaussianKernels
from nacre.embed.spectrum import PairSpectrum, RowSpectrum, soft_waves, waves
from nacre.methods.functional.student import State, Student
from nacre.vault import Program

CHUNK = 256  # rows that are computed side by side


def features_program(
    student: Student,
    spectrum: RowSpectrum | PairSpectrum,
    count: int,
    expected: NDArray[np.float64],
    *,
    key: Any,
) -> Program:
    """Cosines and sines at frequencies that are drawn afresh, from the public key, at each step.

    Releases:     sum over the batch of waves(x) in the block of the row's class.
    Sensitivity:  add-remove 1, the norm of `waves`, for every row.  Reached by every row.
    Public:       the frequencies; and `expected`, how many rows of each class a batch has, about,
                  from noisy counts.

    The loss is the squared distance of mean features, up to a constant.  It is linear in the noisy
    sums, so that its gradient is right on average, over noise, batches, frequencies and rows.
    """
    vector = student.vector
    size, apart = jnp.asarray(expected[:, None], jnp.float32), _apart(student.each)

    starts = (*(start for _, start, _ in vector.blocks), vector.width)

    def ask(arrays: Any, key: Any) -> Any:
        return spectrum.draw(count, key)

    def per_row(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        return _own_class(vector, row)[:, None] * waves(shared, vector.of(row))

    def update(state: State, sums: tuple[Any, ...], key: Any) -> State:
        first, second = jax.random.split(key)
        targets = sums[0] / size

        def loss(arrays: Any) -> Any:
            mean = soft_waves(state.asked, student.rows(arrays, first), starts).mean(1)
            return apart * jnp.sum(mean**2, axis=1) - 2 * jnp.sum(mean * targets, axis=1)

        return student.descend(state, loss, ask, second)

    return Program(
        state=student.start(ask, key),
        prepare=lambda state, key: state.asked,
        per_row=(per_row,),
        update=update,
        chunk=CHUNK,
    )


def exact_program(
    student: Student, kernels: GaussianKernels, expected: NDArray[np.float64], *, key: Any
) -> Program:
    """The function f = sum over the batch of k(x, .) itself: values and slopes at points.

    Releases:     L^(-1) times values and slopes of f at *generated* points, for each class, where
                  L L' is the Gram matrix of these functionals: so isotropic noise here is, after
                  `update` has multiplied by L, the kernel's own Gaussian process.
    Sensitivity:  add-remove 1: `GaussianKernels.statistics`.  Reached by a row at a point.
    Public:       the points, as all that made them is noisy sums of earlier steps; and so L.

    No private row is ever a point: there f would show how rows lie to each other.
    """
    vector = student.vector
    size, apart = jnp.asarray(expected[:, None], jnp.float32), _apart(student.each)

    def ask(arrays: Any, key: Any) -> Any:
        points = student.rows(arrays, key)
        return key, points, *jax.vmap(kernels.roots)(points)

    def prepare(state: State, key: Any) -> Any:
        _, points, _, inverse = state.asked
        return points, inverse

    def per_row(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        points, inverse = shared
        x = vector.of(row)
        found = jnp.stack([kernels.statistics(own, x) for own in points])
        own = _own_class(vector, row)[:, None] * found
        return jnp.einsum("cij,cj->ci", inverse, own)

    def update(state: State, sums: tuple[Any, ...], key: Any) -> State:
        same, points, lower, _ = state.asked
        functionals = jnp.einsum("cij,cj->ci", lower, sums[0] / size)
        value, slope = functionals[:, : student.each], functionals[:, student.each :]
        slope = slope.reshape(points.shape) / kernels.unit

        def loss(arrays: Any) -> Any:
            # f around the points where it was read: at them, value and gradient are as released.
            rows = student.rows(arrays, same)
            found = value + jnp.sum(slope * (rows - points), axis=2)
            return apart * _energy(kernels, rows) - 2 * found.mean(1)

        return student.descend(state, loss, ask, key)

    return Program(
        state=student.start(ask, key),
        prepare=prepare,
        per_row=(per_row,),
        update=update,
        chunk=CHUNK,
    )


def _own_class(vector: Any, row: Any) -> Any:
    """The one-hot class of a row, (classes,)."""
    if vector.label is None:
        return jnp.ones(1)
    return (row.codes[vector.label] == jnp.arange(vector.classes)).astype(jnp.float32)


def _apart(each: int) -> float:
    """What turns the gradient of a mean over all pairs of rows into that over different rows.

    A row's distance to itself is a constant, and would only make the others count for less.
    """
    return each / (each - 1)


def _energy(kernels: GaussianKernels, rows: Any) -> Any:
    """The mean of k over all pairs of generated rows, for each class."""

    def one(own: Any) -> Any:
        return jax.vmap(lambda x: jax.vmap(lambda w: kernels(x, w))(own))(own).mean()

    return jax.vmap(one)(rows)
