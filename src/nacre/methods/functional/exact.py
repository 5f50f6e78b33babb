"""What `exact` asks of a row: values and slopes of its kernel function at generated rows.

As in `nacre.methods.minibatch.features` a row is a function of norm one that stands in the block of
its own class.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.embed.kernel import GaussianKernels
from nacre.methods.minibatch.features import CHUNK, own_class
from nacre.methods.minibatch.student import State, Student
from nacre.vault import Program


def exact_program(
    student: Student, kernels: GaussianKernels, expected: NDArray[np.float64], *, key: Any
) -> Program:
    """The function f = sum over the batch of k(x, .) itself: values and slopes at points.

    Releases:
        L^(-1) times values and slopes of f at *generated* points, for each class, where L L' is the
        Gram matrix of these functionals: so isotropic noise here is, after `update` has multiplied
        by L, the kernel's own Gaussian process.

    Sensitivity:
        add-remove 1: `GaussianKernels.statistics`.  Reached by a row at a point.

    Public:
        the points, as all that made them is noisy sums of earlier steps; and so L.

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
        own = own_class(vector, row)[:, None] * found
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
