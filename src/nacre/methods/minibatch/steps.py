"""What the step-wise forms share: class counts first, then noisy sums over Poisson batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.methods.matching import AbstractMatching
from nacre.methods.nearest import image_layers_of
from nacre.nets.vector import RowVector
from nacre.rows import Label, TableEncoder
from nacre.vault import Bound, Program, Stage, Steps, Sum

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import Plan, Vault

ODDS = 2.0**32
POWERS = {"precision": 1, "class": 0, "share": 2}  # of a class's rows: how much it counts


def step_questions(
    encoder: TableEncoder,
    size: int,
    meaning: str,
    *,
    counts: float,
    steps: int,
    batch: int,
    rows: int | None,
) -> tuple[Sum, Steps]:
    """The number of rows of each class, and steps that release `size` numbers of norm one each."""
    label = encoder.label
    training = Steps(
        name="training",
        meaning=meaning + (f", for each value of '{label.name}'" if label else ""),
        share=1.0 - counts,
        steps=steps,
        batch=batch,
        size=size,
        stages=(Stage(clip=1.0),),
        rows=rows,
    )
    return class_counts(label, counts), training


def class_counts(label: Label | None, share: float) -> Sum:
    """The number of rows of each class, or of all rows."""
    return Sum(
        name="counts",
        meaning="the number of rows" + (f" by '{label.name}'" if label else ""),
        bound=Bound(segments=(), by=label, count=1.0),
        share=share,
    )


def ask_counts(vault: Vault, question: Sum) -> NDArray[np.float64]:
    """Its noisy answer, (classes,), none below one row."""
    import jax.numpy as jnp

    sums = vault.sum(question, lambda row: jnp.zeros(0, jnp.int32))
    return np.maximum(np.asarray(sums.counts, np.float64), 1.0)


def learn_by_steps(
    method: AbstractMatching,
    vault: Vault,
    plan: Plan,
    vector: RowVector,
    questions: tuple[Sum, Steps],
    program: Callable[[Any, Any, Any], Program],
    *,
    each: int,
    parallel: bool = False,
    afterwards: Callable[..., Any] | None = None,
    rng: np.random.Generator,
    key: Any,
) -> AbstractGenerator:
    """Count, then train on noisy sums; `program` of (student, rows of a class a batch, key).

    `afterwards`, of (student, last state, on_progress, key), goes on without rows.
    """
    import jax

    from nacre.methods.minibatch.student import make_student
    from nacre.nets.minimize import Schedule

    counting, training = questions
    counts = ask_counts(vault, counting)
    rows = float(counts.sum()) if plan.rows is None else plan.rows
    student = make_student(
        vector,
        image_layers_of(method, vault.encoder, vector),
        parallel=parallel,
        latent=method.latent,
        each=each,
        schedule=Schedule(training.steps, method.rate),
        weights=counts ** POWERS[method.balance],
        rng=rng,
    )
    first, second = jax.random.split(key)
    state = vault.train(
        training,
        program(student, counts * training.threshold(rows) / ODDS, first),
        rows=rows if plan.rows is None else None,
        key=second,
    )
    if afterwards is not None:
        state = afterwards(
            student,
            state,
            lambda done: vault.report("fitting the generator", done),
            key=jax.random.fold_in(second, training.steps),  # the steps have the numbers before it
        )
    return student.finished(state, method.shares(counts / counts.sum()), rng)
