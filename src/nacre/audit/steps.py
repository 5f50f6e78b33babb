"""Step-wise training with an attacker inside: every noisy sum is weighed as it leaves the vault.

The attacker works out, in the public part of the program, what the canary would contribute, and
what the other rows contribute on average (Nasr et al., 2023, white-box audit of DP-SGD).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple, final

from nacre.audit.noise import Noise
from nacre.vault import Program, Release, Steps


class Known(NamedTuple):
    """The rows that the attacker knows.

    Attributes:
        common: what both worlds share.
        canary: the row in question.
        other: the row in its place where it is not, or None.
    """

    common: Any
    canary: Any
    other: Any

    @property
    def single(self) -> list[Any]:
        """The canary, and the row in its place if there is one."""
        return [row for row in (self.canary, self.other) if row is not None]


class Observed(NamedTuple):
    """A program's state, and what was seen on the way.

    Attributes:
        inner: the program's own.
        rows: here, as they may follow from answers, and a program that has them inside is compiled
            in every run.
        evidence: the log-likelihood ratio of all noisy sums so far.
        excess: of squares of noise over what is stated, summed, over their expectation.
        numbers: how many of them a step has.
        step: how many steps were made.
    """

    inner: Any
    rows: Known
    evidence: Any
    excess: Any
    numbers: Any
    step: Any

    @property
    def noise(self) -> Noise:
        """Of all steps: multiplied here, where whole numbers have no end."""
        seen = int(self.numbers) * int(self.step)
        return Noise(float(self.excess) + seen, seen)


def observed(
    program: Program,
    question: Steps,
    release: Release,
    before: Any,
    after: Any,
    *,
    common: int,
    key: Any,
) -> Program:
    """The program with an `Observed` in the place of its state.

    Args:
        program: what is trained.
        question: its stages.
        release: its rate and noise.
        before: rows without the canary, `common` of them and perhaps one in the canary's place.
        after: rows with it, the last.
        common: how many rows both have.
        key: of public randomness.
    """
    import jax
    import jax.numpy as jnp

    replaced = len(before[0]) > common
    rows = Known(
        common=jax.tree.map(lambda leaf: jnp.asarray(leaf[:common]), after),
        canary=jax.tree.map(lambda leaf: jnp.asarray(leaf[common]), after),
        other=jax.tree.map(lambda leaf: jnp.asarray(leaf[common]), before) if replaced else None,
    )
    attacker = _Attacker(program, question, release, key)
    zero, none = jnp.zeros(()), jnp.zeros((), jnp.int32)
    return dataclasses.replace(
        program,
        state=Observed(program.state, rows, zero, zero, none, none),
        prepare=attacker.prepare,
        per_row=attacker.per_row,
        update=attacker.update,
    )


class _Weighed(NamedTuple):
    """What the noisy sum of one stage tells.

    Attributes:
        told: ⟨x, g⟩ - |g|²/2 of each single row.
        excess: see `Observed`.
        numbers: likewise.
    """

    told: list[Any]
    excess: Any
    numbers: int


@final
@dataclasses.dataclass(frozen=True, eq=False)
class _Attacker:
    """A program's functions, repeated and weighed.

    Public randomness follows from `key` and the step, as preparing has to be repeated.  So does
    what rows draw for themselves, one key for all: the guarantee holds for any function of a row,
    and the attacker then knows every contribution exactly.
    """

    program: Program
    question: Steps
    release: Release
    key: Any

    def _keys(self, step: Any) -> Any:
        import jax

        return jax.random.split(jax.random.fold_in(self.key, step), 3)

    def prepare(self, state: Observed, _: Any) -> Any:
        """What the program prepares, and the key of rows."""
        prepare_key, row_key, _ = self._keys(state.step)
        return self.program.prepare(state.inner, prepare_key), row_key

    @property
    def per_row(self) -> tuple[Callable[..., Any], ...]:
        """The program's, with the key that was prepared."""

        def with_known_key(function: Callable[..., Any]) -> Callable[..., Any]:
            return lambda shared, earlier, row, _: function(shared[0], earlier, row, shared[1])

        return tuple(map(with_known_key, self.program.per_row))

    def update(self, state: Observed, sums: tuple[Any, ...], _: Any) -> Observed:
        """The program's update, and the step's evidence.

        Theorem:
            of a Poisson batch at rate q the canary is a member with chance q, so given the other
            rows of the batch the likelihood ratio of a step is 1 - q + q exp(⟨x, g⟩ - |g|²/2), x
            the noisy sum without the others and g the canary's clipped contribution, both over the
            noise.  Which of the others are in the batch is not known; their mean is taken off.  Any
            score is valid: this one only decides how much is shown.
        """
        import jax.numpy as jnp

        shared = self.prepare(state, None)
        stages = range(len(sums))
        weighed = [self._weigh(place, state.rows, shared, sums) for place in stages]
        ratios = [
            _mixed(sum(told), self.release.rate)
            for told in zip(*(stage.told for stage in weighed), strict=True)
        ]
        return Observed(
            inner=self.program.update(state.inner, sums, self._keys(state.step)[2]),
            rows=state.rows,
            evidence=state.evidence + ratios[0] - sum(ratios[1:]),
            excess=state.excess + sum(stage.excess for stage in weighed),
            numbers=jnp.asarray(sum(stage.numbers for stage in weighed), jnp.int32),
            step=state.step + 1,
        )

    def _weigh(self, place: int, rows: Known, shared: Any, sums: tuple[Any, ...]) -> _Weighed:
        """One stage's noisy sum, beside what each row contributes to it.

        Noise:
            whichever rows were in the batch, the sum of their contributions lies in the span of all
            rows'.  What a noisy sum has across that span is noise alone.
        """
        import jax
        import jax.numpy as jnp

        stage, function = self.question.stages[place], self.per_row[place]
        noise = stage.clip * self.release.noise / math.sqrt(stage.share)

        def own(row: Any) -> Any:
            return _clipped(function(shared, sums[:place], row, None), stage.clip)

        # Of public functions and simulated rows: here rows may well be mapped together.
        others = jax.vmap(own)(rows.common)
        single = [own(row) for row in rows.single]
        seen = _flat(sums[place])
        rest = seen - self.release.rate * others.sum(0)
        across, numbers = _across(seen / noise, jnp.stack([*others, *single]))
        return _Weighed(
            told=[(jnp.vdot(rest, g) - jnp.vdot(g, g) / 2) / noise**2 for g in single],
            excess=jnp.vdot(across, across) - numbers,
            numbers=numbers,
        )


def _across(seen: Any, contributions: Any) -> tuple[Any, int]:
    """What lies across the span of all contributions, and its dimension; none in few places."""
    import jax.numpy as jnp

    count = max(0, seen.size - len(contributions))
    if not count:
        return jnp.zeros(1), 0
    # The columns of the first factor span all contributions, even if these are dependent.
    basis = jnp.linalg.qr(contributions.T)[0]
    return seen - basis @ (basis.T @ seen), count


def _mixed(told: Any, rate: float) -> Any:
    import jax.numpy as jnp

    absent = math.log1p(-rate) if rate < 1 else -math.inf
    return jnp.logaddexp(absent, math.log(rate) + told)


def _flat(tree: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(tree)])


def _clipped(tree: Any, clip: float) -> Any:
    import jax.numpy as jnp

    flat = _flat(tree)
    return flat * jnp.minimum(1.0, clip / jnp.maximum(jnp.linalg.norm(flat), 1e-30))
