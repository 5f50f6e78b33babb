"""The door `steps`: step-wise training on Poisson batches, all of it inside one compiled loop."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from nacre.errors import NacreError
from nacre.rows.encoder import Block
from nacre.rows.stream import Stream
from nacre.rows.unit import Persons
from nacre.vault.accountant import calibrate, epsilon_of, subsampled_guess
from nacre.vault.bound import Adjacency
from nacre.vault.gaussian_dp import gaussian_epsilon, gaussian_mu
from nacre.vault.noise import system_key
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

THEOREM = "Poisson-subsampled Gaussian, privacy-loss distribution (Koskela et al. 2020)"
APART = "rate after the count: added with a delta of its own (Zhu et al. 2022, Theorem 10)"
REPORT_EVERY = 50  # steps between two calls of on_progress
SMALLEST = 1e-15  # clip of a stage; one over it is the largest
ODDS = 1 << 32  # rates are whole multiples of 1 / ODDS
# Sensitivities, up to which noise is searched for once other answers are there: it has to be found.
MOST_NOISE = 1e9

if TYPE_CHECKING:
    from nacre.vault.view import ViewRows


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Stage:
    """One noisy sum of a step.

    Attributes:
        clip: the L2 norm to which each row's contribution is clipped.
        share: this stage's part of the step's privacy cost.
    """

    clip: float
    share: float = 1.0

    def __post_init__(self) -> None:
        if not (SMALLEST <= self.clip <= 1 / SMALLEST and 0 < self.share <= 1):
            raise NacreError(
                f"A stage needs a clip from {SMALLEST:g} to {1 / SMALLEST:g} and a share in (0, 1]."
            )


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(AbstractQuestion):
    """`steps` noisy updates on Poisson batches of expected size `batch`.

    Releases:
        every noisy sum of every stage and step (`Loop` in loop.py).

    Adjacency:
        add-remove; under replace-one by the generic conversion (e, d) -> (2e, (1 + exp(e)) d).

    Sensitivity:
        one event per step with noise multiplier 1 / sqrt(sum (clip / noise)^2).  Where a person may
        have several rows, persons join batches, and one that does contributes one of its rows,
        drawn afresh (`Loop`): given the draws a person moves a step's sums as a row would, and a
        mixture over draws that no other person shares costs no more (docs/privacy.md, section 5).

    Guarantee:
        privacy-loss distribution of the Poisson-subsampled Gaussian.  Its parameters are fixed
        before the first answer, so that it composes with all other releases. Where the number of
        rows is private and the rate follows from a noisy count, or where a private draft was seen
        before the question was asked, the release gets an epsilon and a delta of its own, which are
        fixed before, and these are added (the worst pair of an (epsilon, delta)-private mechanism
        dominates it whatever rate and steps the answers led to).

    Public:
        all of it; `rows` is a public number of rows, or None.

    Attributes:
        steps: how many.
        size: how many numbers a step releases, over all of its stages; what noise as it is drawn
            costs beyond ideal noise grows with it.
        batch: the expected number of rows of a batch.
        stages: the noisy sums of one step, on the same batch.
        rows: a public number of rows, which decides the rate; None if there is none.
        alone: an epsilon and a delta that this question costs by itself, in a plan whose other
            answers have no noise; the plan then promises nothing, whatever they are.
    """

    steps: int
    size: int
    batch: int
    stages: tuple[Stage, ...] = (Stage(clip=1.0),)
    rows: int | None = None
    alone: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.alone is not None and self.rows is None:
            raise NacreError(
                f"'{self.name}' has a budget of its own, so its rate needs a public number of rows."
            )
        if min(self.steps, self.batch, self.size) < 1:
            raise NacreError(
                "steps, size and batch must be at least 1, got "
                f"{self.steps}, {self.size} and {self.batch}."
            )
        if not math.isclose(math.fsum(stage.share for stage in self.stages), 1.0):
            raise NacreError("The shares of a step's stages must add up to 1.")

    def threshold(self, rows: float) -> int:
        """A row joins a batch with probability threshold / 2^32."""
        return min(ODDS - 1, math.ceil(self.batch / max(rows, self.batch) * ODDS))

    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """As much noise as the central limit theorem gives a Gaussian of the question's share.

        The plan's search over `scale` then makes the exact cost of all releases fit the budget.
        """
        mu = scale * math.sqrt(self.share)
        if self.rows is None:
            raise NacreError(
                "A rate needs a public number of rows; without a public number, use `apart`."
            )
        rate = self.threshold(self.rows) / ODDS
        return self._at(rate, subsampled_guess(mu, rate, self.steps), adjacency)

    def apart(self, scale: float, delta: float, adjacency: Adjacency) -> Release:
        """What is reserved where the rate follows from a count: an epsilon at `delta`."""
        return Release(
            name=self.name,
            mechanism="approximate",
            theorem=APART,
            adjacency=adjacency,
            size=self.size,
            epsilon=max(gaussian_epsilon(scale * math.sqrt(self.share), delta), 1e-9),
            delta=delta,
        )

    def after_count(self, reserved: Release, rows: float) -> Release:
        """The release whose cost is what was reserved, now that the rate is known."""
        return self.at_rate(reserved, self.threshold(rows) / ODDS)

    def at_rate(self, reserved: Release, rate: float) -> Release:
        """The release at this rate whose cost is what was reserved: a search for its noise."""
        if not reserved.private:
            return self.as_reserved(reserved, rate, 1.0)
        mu = gaussian_mu(reserved.epsilon, reserved.delta)
        multiplier = calibrate(
            lambda m: epsilon_of(
                [self._at(rate, m, reserved.adjacency)], reserved.delta, reserved.adjacency
            ),
            reserved.epsilon,
            guess=subsampled_guess(mu, rate, self.steps),
            most=MOST_NOISE,
        )
        return self.as_reserved(reserved, rate, multiplier)

    def require_noise(self, reserved: Release) -> None:
        """Refuse what is reserved if no noise may be found for it once other answers are there.

        Half of the most noise has to do, as a search that needs more doubles it at most; and at
        the largest rate, as a row that joins fewer batches costs less.
        """
        rate = (ODDS - 1 if self.rows is None else self.threshold(self.rows)) / ODDS
        quietest = self._at(rate, MOST_NOISE / 2, reserved.adjacency)
        if epsilon_of([quietest], reserved.delta, reserved.adjacency) > reserved.epsilon:
            raise NacreError(
                f"The part of epsilon and delta for '{self.name}' is too small for {self.steps:,} "
                "steps, whatever their noise. Raise epsilon or delta, or take fewer steps; a "
                "public number of `rows` may help. Nothing was spent."
            )

    def as_reserved(self, reserved: Release, rate: float, multiplier: float) -> Release:
        """A release for which so much was reserved, whatever it costs."""
        found = self._at(rate, multiplier, reserved.adjacency)
        if not reserved.private:
            found = found.without_noise()
        return dataclasses.replace(
            found,
            epsilon=reserved.epsilon,
            delta=reserved.delta,
            unit=reserved.unit,
            by=reserved.by,
        )

    def by_itself(self, adjacency: Adjacency) -> Release:
        """The release whose cost by itself is `alone`."""
        if self.alone is None or self.rows is None:
            raise NacreError(f"'{self.name}' has no budget of its own.")
        epsilon, delta = self.alone
        reserved = Release(
            name=self.name,
            mechanism="approximate",
            theorem=THEOREM,
            adjacency=adjacency,
            size=self.size,
            epsilon=epsilon,
            delta=delta,
        )
        return self.after_count(reserved, self.rows)

    def _at(self, rate: float, multiplier: float, adjacency: Adjacency) -> Release:
        return Release(
            name=self.name,
            mechanism="subsampled-gaussian",
            theorem=THEOREM,
            adjacency=adjacency,
            size=self.size,
            # In clips; one part in 10^9 more than needed, for the rounding of norms to floats.
            sensitivity=1 + 1e-9,
            noise=multiplier,
            rate=rate,
            steps=self.steps,
        )

    def expected(self, release: Release, rows: int | None) -> Expected:
        """The noise of one step's mean, in units of the clip."""
        if release.mechanism == "approximate":
            return Expected(words="the rate, and with it the noise, follow from the noisy count")
        parts = [release.noise / math.sqrt(stage.share) / self.batch for stage in self.stages]
        said = ", ".join(f"{part:.2g}" for part in parts)
        return Expected(words=f"a step's mean over a batch is off by {said} clipping norms")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """What is trained, as one value; ordinary code, but for `per_row`, which the vault maps.

    Attributes:
        state: what is trained, a tree of arrays.
        prepare: (state, key) -> shared, once a step, public.
        per_row: for each stage (shared, earlier, row, key) -> a tree of arrays, of one row;
            `earlier` are the noisy sums of the stages before it.
        update: (state, noisy sums, key) -> state.
        chunk: how many rows are computed side by side, a multiple of 64.
        exact: whether rows are computed one at a time instead, so that a row's contribution is
            proved to be a function of that row alone; slower.
    """

    state: Any
    prepare: Callable[[Any, Any], Any]
    per_row: tuple[Callable[..., Any], ...]
    update: Callable[[Any, tuple[Any, ...], Any], Any]
    chunk: int = 64
    exact: bool = False


def answer(
    question: Steps,
    release: Release,
    program: Program,
    stream: Stream | ViewRows,
    charge: Callable[[], None],
    on_progress: Callable[[float], None],
    *,
    key: Any,
) -> Any:
    """Check the program, charge, then run the compiled loop; the last state."""
    import jax

    from nacre.vault.loop import Loop, LoopStage, on_device

    if len(program.per_row) != len(question.stages):
        raise NacreError(
            f"The program has {len(program.per_row)} functions of one row, the question "
            f"{len(question.stages)} stages."
        )
    loop = Loop(
        prepare=program.prepare,
        stages=tuple(
            LoopStage(per_row=function, clip=stage.clip, share=stage.share)
            for function, stage in zip(program.per_row, question.stages, strict=True)
        ),
        update=program.update,
        threshold=round(release.rate * ODDS),
        multiplier=release.noise,
        chunk=program.chunk,
        exact=program.exact,
    ).checked(program.state, stream.encoder.shape, key)
    if loop.size != question.size:
        raise NacreError(
            f"'{question.name}' announced {question.size:,} numbers a step; the functions of one "
            f"row return {loop.size:,}."
        )
    block, persons = stream.whole(), None
    if block.persons is not None:
        block, persons = _by_person(block, block.persons)
    rows, valid, persons = on_device((block.rows, block.valid, persons))  # once, not in every call
    charge()
    secret, state, steps = system_key(), program.state, question.steps
    run = loop.compiled()
    for start in range(0, steps, REPORT_EVERY):
        numbers = range(start, min(steps, start + REPORT_EVERY))
        state = run(state, rows, valid, secret, key, numbers, persons)
        jax.block_until_ready(state)
        on_progress(min(1.0, (start + len(numbers)) / steps))
    return state


def _by_person(block: Block, persons: Persons) -> tuple[Block, tuple[Any, Any]]:
    """Good rows person by person, which persons count, where each begins and how many it has.

    There is always one person, if none that counts.
    """
    order, first, many = persons.groups(block.valid)
    counts = np.ones(max(1, len(first)), np.bool_)
    if not len(first):
        order, first, many = np.zeros(1, np.intp), np.zeros(1, np.int32), np.ones(1, np.int32)
        counts[:] = False
    rows = type(block.rows)(*(leaf[order] for leaf in block.rows))
    return Block(rows, counts), (first, many)
