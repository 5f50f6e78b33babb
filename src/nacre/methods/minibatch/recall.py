"""Going on with what noisy steps have released: post-processing, which costs nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from nacre.methods.matching import AbstractMatching
from nacre.methods.minibatch.features import Features, distances, features_program
from nacre.methods.minibatch.memory import Memory, slots
from nacre.methods.minibatch.steps import learn_by_steps
from nacre.methods.minibatch.student import State, Student
from nacre.nets.generator import AbstractGenerator
from nacre.nets.minimize import minimize
from nacre.nets.vector import RowVector
from nacre.vault import Program, Steps, Sum

if TYPE_CHECKING:
    from nacre.vault import Plan, Vault

RATE = 0.01  # of Adam: that of a network which is fitted to one release


def learn_features(
    method: AbstractMatching,
    vault: Vault,
    plan: Plan,
    vector: RowVector,
    questions: tuple[Sum, Steps],
    features: Features,
    *,
    recall: int,
    each: int,
    parallel: bool = False,
    rng: np.random.Generator,
    key: Any,
) -> AbstractGenerator:
    """`learn_by_steps` on noisy sums of features; then `recall` steps on those remembered."""
    training = questions[1]
    kept = slots(training.steps, training.size, features.fresh) if recall else 0

    def program(student: Student, expected: Any, key: Any) -> Program:
        return features_program(student, features, expected, slots=kept, key=key)

    return learn_by_steps(
        method,
        vault,
        plan,
        vector,
        questions,
        program,
        each=each,
        parallel=parallel,
        afterwards=Recall(features, recall) if recall else None,
        rng=rng,
        key=key,
    )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Recall:
    """Steps of Adam on the distance to remembered releases, one a step, in turn.

    Attributes:
        features: that were released.
        steps: how many.
    """

    features: Features
    steps: int

    def __call__(
        self, student: Student, state: State, on_progress: Callable[[float], None], *, key: Any
    ) -> State:
        """The state after these steps."""

        def distance(arrays: Any, asked: Any, means: Any, key: Any) -> Any:
            chances = student.chances(arrays, key)
            apart = distances(student.vector, self.features, chances, asked, means)
            return jnp.sum(student.weights * apart)

        arrays = minimize(
            state.arrays,
            Recalled(state.memory, distance),
            steps=self.steps,
            rate=RATE,
            key=key,
            on_progress=on_progress,
        )
        return state._replace(arrays=arrays)


class Recalled(eqx.Module):
    """The loss of a step.  Releases are arguments of its program, not constants in it.

    Attributes:
        memory: of what was released.
        distance: of (arrays, the release's key, its means, key).
    """

    memory: Memory
    distance: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, arrays: Any, critic: Any, step: Any, key: Any) -> Any:
        """On the release whose turn it is."""
        turn = step % len(self.memory.means)
        return self.distance(arrays, self.memory.keys[turn], self.memory.means[turn], key)
