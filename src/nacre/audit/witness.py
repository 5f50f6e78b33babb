"""What an attacker sees: every answer that leaves a vault, weighed by what each world would give.

The attacker of differential privacy knows all rows but whether the canary is there.  So a witness
stands before the vault of one world, hands every question on to it, and compares the answer with
what is known of both worlds: the logarithm of the likelihood ratio, the strongest score there is
(Neyman and Pearson).  It reads public answers and its own simulated rows, never the vault's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_softmax

from nacre.audit.noise import Noise
from nacre.audit.pair import Pair
from nacre.audit.steps import observed
from nacre.vault import Ballots, Choice, Choices, Program, Steps, Sum, Sums, Vault, Votes
from nacre.vault.exact_sum import ExactSum
from nacre.vault.view import View, ViewRows

Strength = Callable[[Any], float]
"""A stream of one row -> the squared mu that the row would have in one answer."""


class Heard(Exception):
    """Everything that was announced has been answered: what follows is post-processing."""


class Witness:
    """Stands in a vault's place before a method, and listens.

    With `to_the_end` false it raises `Heard` after the last answer of the plan: a generator that is
    made from the answers can tell no more than they do, and takes most of the time.

    Attributes:
        evidence: the log-likelihood ratio of all answers that it could weigh.
        votes: the sum of noisy votes for the last class, which it cannot weigh.
        drawn: by name, noise in answers, over what is stated, where the exact answer is known: of
            sums all of it, of training steps what lies across all rows' contributions, of votes
            that of their total.  Only this hangs on `present`, which the attacker has to guess.
        squared_mu: of the sums, for this pair of tables: what the evidence can show at most.
        strengths: for each sum that was asked of whole rows, how strong any other canary would be.
        unweighed: the kinds of answers that are not in the evidence.
    """

    def __init__(self, vault: Vault, pair: Pair, *, present: bool, to_the_end: bool = True):
        self._vault, self._pair, self._to_the_end = vault, pair, to_the_end
        self._present = present
        self._open: list[Any] = []  # choices and votes that may still be asked for
        self._worlds = tuple(pair.stream(present=present) for present in (False, True))
        self._views: dict[View, tuple[ViewRows, ...]] = {}
        self.evidence, self.votes, self.squared_mu = 0.0, 0.0, 0.0
        self.drawn: dict[str, Noise] = {}
        self.strengths: list[Strength] = []
        self.unweighed: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        """All that is no door (encoder, plan, noise, report, adjacency) is the vault's own."""
        return getattr(self._vault, name)

    def view(self, function: Callable[[Any], Any]) -> View:
        """The vault's view, and the same of both known worlds."""
        view = self._vault.view(function)
        self._views[view] = tuple(ViewRows(function, w, lambda: None) for w in self._worlds)
        return view

    def sum(
        self,
        question: Sum,
        features: Any,
        *,
        public: Any = None,
        through: View | None = None,
        used: int | None = None,
    ) -> Sums:
        """The vault's answer; Gaussian, so its evidence is an inner product."""
        answer = self._vault.sum(question, features, public=public, through=through, used=used)
        worlds: Any = self._worlds if through is None else self._views[through]
        exact = ExactSum(features, question.bound, worlds[0].encoder, public)
        noise = _deviations(question, answer)
        if used is not None:  # the others say nothing
            noise[:, used : question.bound.size] = np.inf
        before, after = (_exact(exact, world, public, question) for world in worlds)
        seen = _joined(answer.values, answer.counts)
        apart = (after - before) / noise
        drawn = (seen - (after if self._present else before)) / noise
        known, size = np.isfinite(noise), question.bound.size
        for name, part in (("", slice(size)), (", rows", slice(size, None))):
            own = Noise(float((drawn[:, part] ** 2).sum()), int(known[:, part].sum()))
            if own.numbers:
                self.hear(question.name + name, own)
        self.evidence += float((apart * (seen - (before + after) / 2) / noise).sum())
        self.squared_mu += float((apart**2).sum())
        if through is None:
            self.strengths.append(
                lambda stream: float(((_exact(exact, stream, public, question) / noise) ** 2).sum())
            )
        self._listened()
        return answer

    def hear(self, name: str, noise: Noise) -> None:
        """Add noise of one kind of answer: were all kinds together, that of few would be lost."""
        self.drawn[name] = self.drawn.get(name, Noise()) + noise

    def count(self, question: Sum) -> int:
        """See `Vault.count`."""
        import jax.numpy as jnp

        return max(1, round(self.sum(question, lambda row: jnp.zeros(0, jnp.int32)).total))

    def choose(self, question: Choice, features: Any) -> WitnessedChoices:
        """The vault's choices; the chances of each are known in both worlds."""
        choices = self._vault.choose(question, features)
        exact = ExactSum(features, question.bound, self._vault.encoder)
        noise = self._vault.plan.find(question).release.noise
        sums = tuple(exact(world.blocks(exact.block))[0] for world in self._worlds)
        self._open.append(choices)
        return WitnessedChoices(choices, sums, question, noise, self)

    def train(
        self,
        question: Steps,
        program: Program,
        *,
        rows: float | None = None,
        through: View | None = None,
        key: Any,
    ) -> Any:
        """The vault's training, with every noisy sum weighed on the way."""
        release = self._vault.plan.find(question).release
        if release.mechanism != "subsampled-gaussian":  # the rate follows from an answer
            self.unweighed.add("training")
            plain = self._vault.train(question, program, rows=rows, through=through, key=key)
            self._listened()
            return plain
        worlds: Any = self._worlds if through is None else self._views[through]
        blocks = [world.whole().rows for world in worlds]
        common = len(self._pair.ordinary)
        watched = observed(program, question, release, *blocks, common=common, key=key)
        state = self._vault.train(question, watched, rows=rows, through=through, key=key)
        self.evidence += float(state.evidence)
        self.hear(question.name, state.noise)
        self._listened()
        return state.inner

    def vote(
        self, question: Any, teacher: Any, *, through: Any = None, key: Any
    ) -> WitnessedBallots:
        """The vault's votes; which teacher has the canary is drawn at random, so they are added."""
        ballots = self._vault.vote(question, teacher, through=through, key=key)
        self.unweighed.add("votes")
        self._open.append(ballots)
        noise = self._vault.plan.find(question).release.noise
        return WitnessedBallots(ballots, question, noise, self)

    def _listened(self) -> None:
        """Stop the method, if it is to be stopped, once nothing more can be asked."""
        made = len(self._vault.releases) - len(self._vault.plan.prior)
        done = made == len(self._vault.plan.asked) and not any(each.left for each in self._open)
        if done and not self._to_the_end:
            raise Heard


class WitnessedChoices:
    """Choices whose chances in both worlds are added to the evidence."""

    def __init__(
        self, choices: Choices, sums: Any, question: Choice, noise: float, witness: Witness
    ):
        self._choices, self._sums, self._noise = choices, sums, noise
        self._offsets, self._witness = question.bound.offsets, witness

    @property
    def left(self) -> int:
        """How many choices may still be made."""
        return self._choices.left

    def __call__(self, targets: Any, *, penalties: Any = None, among: Any = None) -> int:
        """See `Choices`."""
        chosen = self._choices(targets, penalties=penalties, among=among)
        blocks = list(range(len(self._offsets) - 1) if among is None else among)
        minus = np.zeros(len(self._offsets) - 1) if penalties is None else np.asarray(penalties)
        chances = []
        for sums in self._sums:
            away = np.abs(sums - np.asarray(targets, np.float64)).sum(0)
            scores = [
                away[self._offsets[b] : self._offsets[b + 1]].sum() - minus[b] for b in blocks
            ]
            chances.append(log_softmax(np.array(scores) / self._noise)[blocks.index(chosen)])
        self._witness.evidence += float(chances[1] - chances[0])
        self._witness._listened()
        return chosen


class WitnessedBallots:
    """Votes that are added up as they are heard."""

    def __init__(self, ballots: Ballots, question: Votes, noise: float, witness: Witness):
        self._ballots, self._witness, self._name = ballots, witness, question.name
        self._teachers, self._noise = question.parts, noise * math.sqrt(question.classes)

    @property
    def left(self) -> int:
        """How many rounds may still be held."""
        return self._ballots.left

    def __call__(self, queries: Any, public: Any = None) -> Any:
        """See `Ballots`."""
        counts = self._ballots(queries, public)
        self._witness.votes += float(counts[:, -1].sum())
        # Every teacher votes once: beyond that, the total of a query's counts is noise.
        drawn = (counts.sum(1) - self._teachers) / self._noise
        self._witness.hear(self._name, Noise(float((drawn**2).sum()), drawn.size))
        self._witness._listened()
        return counts


def _deviations(question: Sum, answer: Sums) -> Any:
    """The standard deviation of every number of an answer, counts last."""
    bound = question.bound
    parts = [np.full(s.size, sd) for s, sd in zip(bound.segments, answer.noise, strict=True)]
    if answer.counts is not None:
        parts.append(np.full(1, answer.count_noise))
    weight = np.ones(bound.classes) if question.weight is None else np.asarray(question.weight)
    return np.concatenate(parts)[None, :] / weight[:, None]


def _exact(exact: ExactSum, stream: Any, public: Any, question: Sum) -> Any:
    """The answer without noise, of rows that the witness made itself."""
    sums, counts = exact(stream.blocks(exact.block), public)
    units = np.concatenate(
        [np.full(s.size, u) for s, u in zip(question.bound.segments, exact.units, strict=True)]
        or [np.zeros(0)]
    )
    return _joined(sums * units, counts / exact.whole if question.bound.count else None)


def _joined(values: Any, counts: Any) -> Any:
    return values if counts is None else np.concatenate([values, counts[:, None]], axis=1)
