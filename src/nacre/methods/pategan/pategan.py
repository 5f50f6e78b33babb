"""PATE-GAN (Yoon, Jordon and van der Schaar, 2019): teachers vote, a student learns from the votes.

Each teacher tells the rows of its own part from generated ones, and votes on other generated
rows: real, or made.  Only noisy counts of votes leave the vault.  A student learns them, and the
generator learns from the student.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np

from nacre.methods.gan import COUNTS, finished
from nacre.methods.method import AbstractMethod
from nacre.methods.minibatch.steps import ask_counts, class_counts
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting, settle
from nacre.methods.standardize import ask_scale, scale_questions
from nacre.nets.layers import AbstractLayer, mlp
from nacre.nets.network import input_width
from nacre.nets.vector import RowVector
from nacre.vault import Votes

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.rows import AbstractEncoder
    from nacre.vault import AbstractQuestion, Adjacency, Plan, Vault

SLOPE = 0.2  # of leaky ReLUs
VERDICTS = 2  # what a teacher votes for: made, real


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class PATEGAN(AbstractMethod):
    """Settings of PATE-GAN; all of them public constants."""

    title: ClassVar[str] = "PATE-GAN"
    paper: ClassVar[str] = "Yoon et al. (2019), PATE-GAN, ICLR"
    summary: ClassVar[str] = "teachers on parts of the rows vote with noise, a student learns it"
    proof: ClassVar[str] = "Gaussian counts of votes"
    cost: ClassVar[str] = "40 s on Adult"
    when: ClassVar[str] = "to compare with its paper"

    teachers: int = setting(2000, "into how many parts the rows are drawn", low=1, high=1 << 16)
    rounds: int = setting(100, "how often teachers learn and vote", low=1, high=10**5)
    queries: int = setting(60, "generated rows that teachers vote on in a round", low=1, high=10**4)
    latent: int = setting(64, "how many numbers go into the generator", low=1, high=4096)
    hidden: int = setting(
        128, "width of the generator's first hidden layer, then twice that", low=1, high=4096
    )
    student: int = setting(
        64, "width of the student's hidden layer; 0: none", low=1, high=4096, or_zero=True
    )
    teacher: int = setting(
        0, "width of a teacher's hidden layer; 0: none", low=1, high=4096, or_zero=True
    )
    teacher_steps: int = setting(1, "of each teacher in a round", low=1, high=1000)
    teacher_batch: int = setting(16, "rows of its part in each of them", low=1, high=4096)
    teacher_rate: float = setting(0.1, "its learning rate", low=1e-6, high=10)
    teacher_memory: float = setting(
        0.0, "part of its weights that a teacher starts a round with", low=0, high=1
    )
    student_steps: int = setting(30, "of the student in a round", low=1, high=1000)
    student_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    memory: int = setting(10, "rounds whose votes the student learns from", low=1, high=1000)
    generator_steps: int = setting(10, "of the generator in a round", low=1, high=1000)
    generator_rate: float = setting(0.0003, "Adam's learning rate", low=1e-6, high=1)
    generator_batch: int = setting(256, "rows of each of them", low=2, high=4096)
    averaging: float = setting(
        0.998, "memory of the average of the generator's weights; 0: the last", low=0, high=0.9999
    )

    scale: Literal["moments", "schema"] = setting(
        "moments",
        "how numbers are standardized: by mean and deviation of noisy histograms, or by the "
        "schema's bounds alone",
    )
    scale_share: float = setting(
        0.1, "share of the budget that buys the histograms for it", low=0.001, high=0.45
    )

    def __post_init__(self) -> None:
        settle(self)

    def small(self) -> Self:
        """A few rounds of narrow networks."""
        return dataclasses.replace(
            self,
            teachers=4,
            rounds=3,
            queries=8,
            latent=4,
            hidden=8,
            student=8,
            student_steps=1,
            generator_steps=1,
            generator_batch=16,
        )

    # -- networks ------------------------------------------------------------------------------

    def vector(self, encoder: Any) -> RowVector:
        """A row as all networks have it, the label left out: they are given it."""
        return RowVector(encoder.layout, encoder.place(encoder.label), single=True)

    def teacher_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """From a row's vector, in the block of its label, to the log-odds that it is real."""
        return self._judge(vector, self.teacher)

    def student_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """Likewise."""
        return self._judge(vector, self.student)

    def _judge(self, vector: RowVector, hidden: int) -> tuple[AbstractLayer, ...]:
        inputs = vector.classes * (vector.width + 1)
        return mlp(inputs, *((hidden,) if hidden else ()), 1, slope=SLOPE, bias=False)

    def generator_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """From latent numbers and the label to what `RowVector` makes rows of."""
        inputs = input_width(self.latent, vector.classes)
        return mlp(inputs, self.hidden, 2 * self.hidden, vector.width, batch_norm=True)

    # -- questions -----------------------------------------------------------------------------

    def questions(
        self, encoder: AbstractEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """The votes of all rounds; before them the number of rows, where it is needed."""
        label = encoder.label
        needed = label is not None or rows is None
        first = (class_counts(label, COUNTS),) if needed else ()
        if self.scale == "moments":
            first = (*first, *scale_questions(encoder.layout, self.scale_share))  # type: ignore[attr-defined]
        votes = Votes(
            name="votes",
            meaning="how many teachers took a generated row for a real one",
            share=1.0 - sum(question.share for question in first),
            queries=self.queries,
            rounds=self.rounds,
            parts=self.teachers,
            classes=VERDICTS,
        )
        return (*first, votes)

    # -- learning ------------------------------------------------------------------------------

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Count, then let teachers vote, student and generator learn, in turns."""
        import jax

        from nacre.methods.pategan.school import School

        encoder, rng = vault.encoder, public_rng(key)
        asked: dict[str, Any] = {
            q.name: q for q in self.questions(encoder, plan.adjacency, plan.rows)
        }
        counts = ask_counts(vault, asked["counts"]) if "counts" in asked else np.ones(1)
        shares = counts / counts.sum()
        rows = float(counts.sum()) if plan.rows is None else plan.rows
        vector, votes = self.vector(encoder), asked["votes"]
        if "histograms" in asked:
            vector = dataclasses.replace(vector, scale=ask_scale(vault, asked["histograms"]))
        school = School(self, vector, shares, rng)
        first, second = jax.random.split(key)
        ballots = vault.vote(votes, school.teacher(votes.capacity(rows)), key=first)
        average = school.run(ballots, second)
        layers = self.generator_layers(school.vector)
        return finished(school.vector, layers, average, self.latent, shares, rng)
