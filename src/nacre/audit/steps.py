"""Step-wise training with an attacker inside: every noisy sum is weighed as it leaves the vault.

The attacker works out, in the public part of the program, what the canary would contribute, and
what the other rows contribute on average (Nasr et al., 2023, white-box audit of DP-SGD).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from nacre.vault import Program, Release, Steps


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
    """The program with (state, evidence, step) in the place of its state.

    Theorem:
        of a Poisson batch at rate q the canary is a member with chance q, so given the other rows
        of the batch the likelihood ratio of a step is 1 - q + q exp(⟨x, g⟩ - |g|²/2), x the noisy
        sum without the others and g the canary's clipped contribution, both over the noise.  Which
        of the others are in the batch is not known; their mean is taken off.  Any score is valid:
        this one only decides how much is shown.

    Public randomness follows from `key` and the step, as preparing has to be repeated.

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
    rate = release.rate

    def keys(step: Any) -> Any:
        return jax.random.split(jax.random.fold_in(key, step), 3)

    def update(state: Any, sums: tuple[Any, ...], _: Any) -> Any:
        inner, evidence, step = state
        prepare_key, row_key, update_key = keys(step)
        shared = program.prepare(inner, prepare_key)
        told = [jnp.zeros(()), jnp.zeros(())]
        for place, stage in enumerate(question.stages):

            def own(row: Any, place: int = place, clip: float = stage.clip) -> Any:
                return _clipped(program.per_row[place](shared, sums[:place], row, row_key), clip)

            noise = stage.clip * release.noise / math.sqrt(stage.share)
            # Of public functions and simulated rows: here rows may well be mapped together.
            others = jax.vmap(own)(shared_rows).sum(0) if common else 0.0
            rest = _flat(sums[place]) - rate * others
            for which, row in enumerate((canary, other)):
                if row is not None:
                    g = own(row)
                    told[which] += (jnp.vdot(rest, g) - jnp.vdot(g, g) / 2) / noise**2
        ratio = _mixed(told[0], rate) - (_mixed(told[1], rate) if replaced else 0.0)
        return program.update(inner, sums, update_key), evidence + ratio, step + 1

    return dataclasses.replace(
        program,
        state=(program.state, jnp.zeros(()), jnp.zeros((), jnp.int32)),
        prepare=lambda state, _: program.prepare(state[0], keys(state[2])[0]),
        update=update,
    )


def verdict(state: Any) -> float:
    """The evidence in a last state."""
    return float(state[1])


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
