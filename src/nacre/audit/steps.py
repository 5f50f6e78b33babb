"""Step-wise training with an attacker inside: every noisy sum is weighed as it leaves the vault.

The attacker works out, in the public part of the program, what the canary would contribute, and
what the other rows contribute on average (Nasr et al., 2023, white-box audit of DP-SGD).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from nacre.vault import Program, Release, Steps


class Observed(NamedTuple):
    """A program's state, and what was seen on the way.

    Attributes:
        inner: the program's own.
        rows: what both worlds share, the canary, and the row in its place or None: here, as they
            may follow from answers, and a program that has them inside is compiled in every run.
        evidence: the log-likelihood ratio of all noisy sums so far.
        squares: of noise over what is stated, summed.
        numbers: how many of them.
        step: how many steps were made.
    """

    inner: Any
    rows: Any
    evidence: Any
    squares: Any
    numbers: Any
    step: Any


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

    Theorem:
        of a Poisson batch at rate q the canary is a member with chance q, so given the other rows
        of the batch the likelihood ratio of a step is 1 - q + q exp(⟨x, g⟩ - |g|²/2), x the noisy
        sum without the others and g the canary's clipped contribution, both over the noise.  Which
        of the others are in the batch is not known; their mean is taken off.  Any score is valid:
        this one only decides how much is shown.

    Noise:
        whichever rows were in the batch, the sum of their contributions lies in the span of all
        rows'.  What a noisy sum has across that span is noise alone.

    Public randomness follows from `key` and the step, as preparing has to be repeated.  So does
    what rows draw for themselves, one key for all: the guarantee holds for any function of a row,
    and the attacker then knows every contribution exactly.

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

    kind = type(after)
    shared_rows = kind(*(jnp.asarray(leaf[:common]) for leaf in after))
    canary = kind(*(jnp.asarray(leaf[common]) for leaf in after))
    replaced = len(before[0]) > common
    other = kind(*(jnp.asarray(leaf[common]) for leaf in before)) if replaced else None
    rows = shared_rows, canary, other
    rate = release.rate

    def keys(step: Any) -> Any:
        return jax.random.split(jax.random.fold_in(key, step), 3)

    def prepare(state: Observed, _: Any) -> Any:
        prepare_key, row_key, _ = keys(state.step)
        return program.prepare(state.inner, prepare_key), row_key

    def with_known_key(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda prepared, earlier, row, _: function(prepared[0], earlier, row, prepared[1])

    per_row = tuple(map(with_known_key, program.per_row))

    def update(state: Observed, sums: tuple[Any, ...], _: Any) -> Observed:
        prepared = prepare(state, None)
        shared_rows, canary, other = state.rows
        told = [jnp.zeros(()), jnp.zeros(())]
        squares, numbers = state.squares, state.numbers
        for place, stage in enumerate(question.stages):

            def own(row: Any, place: int = place, clip: float = stage.clip) -> Any:
                return _clipped(per_row[place](prepared, sums[:place], row, None), clip)

            noise = stage.clip * release.noise / math.sqrt(stage.share)
            # Of public functions and simulated rows: here rows may well be mapped together.
            others = jax.vmap(own)(shared_rows)
            seen = _flat(sums[place])
            rest = seen - rate * others.sum(0)
            single = [own(row) for row in (canary, other) if row is not None]
            for which, g in enumerate(single):
                told[which] += (jnp.vdot(rest, g) - jnp.vdot(g, g) / 2) / noise**2
            across, count = _across(seen / noise, jnp.stack([*others, *single]))
            squares, numbers = squares + jnp.vdot(across, across), numbers + count
        ratio = _mixed(told[0], rate) - (_mixed(told[1], rate) if replaced else 0.0)
        inner = program.update(state.inner, sums, keys(state.step)[2])
        evidence = state.evidence + ratio
        return Observed(inner, state.rows, evidence, squares, numbers, state.step + 1)

    zero, none = jnp.zeros(()), jnp.zeros((), jnp.int32)
    return dataclasses.replace(
        program,
        state=Observed(program.state, rows, zero, zero, none, none),
        prepare=prepare,
        per_row=per_row,
        update=update,
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
