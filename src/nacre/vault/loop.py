"""The compiled loop behind `Vault.train`: Poisson batches, clipped values, noise, update."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.flatten_util
import jax.numpy as jnp

from nacre.errors import NacreError
from nacre.vault.tracing import RefusedFunction, Traced, trace

UNIT_BITS = 20  # contributions are rounded towards zero to 2^-20 of their clip


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopStage:
    """One noisy sum per step: `per_row(shared, earlier, row, key)` clipped to L2 norm `clip`.

    `share` is this stage's part of the step's privacy cost; stages of one step see the same
    Poisson batch, and the noisy sums of those before it as `earlier`.
    """

    per_row: Callable[[Any, tuple[Any, ...], Any, Any], Any]
    clip: float
    share: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.clip) and self.clip > 0 and 0 < self.share <= 1):
            raise NacreError("A stage needs a positive clip and a share in (0, 1].")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loop:
    """All that one step needs, all of it public but the rows and the secret key.

    Releases:     for each stage the sum over a Poisson batch of clipped contributions, plus
                  N(0, (clip * multiplier / sqrt(share))^2) in each place.
    Sensitivity:  add-remove: `clip` a stage, so over the stages of one step together
                  sum (clip / noise)^2 = sum share / multiplier^2 = 1 / multiplier^2.
    Exactness:    contributions are clipped in float64, rounded towards zero to integers and
                  summed as integers; noise is drawn in float64.
    Bad rows:     contribute zero, as does a contribution that is not finite.
    """

    prepare: Callable[[Any, Any], Any]
    stages: Sequence[LoopStage]
    update: Callable[[Any, tuple[Any, ...], Any], Any]
    threshold: int  # a row joins a batch if 32 random bits are below this
    multiplier: float
    chunk: int

    def checked(self, state: Any, shape: Any, key: Any) -> Loop:
        """This loop with every per-row function replaced by its traced and checked program."""
        with jax.enable_x64(False):
            return self._checked(state, shape, key)

    def _checked(self, state: Any, shape: Any, key: Any) -> Loop:
        shared = jax.eval_shape(self.prepare, state, key)
        earlier: tuple[Any, ...] = ()
        stages = []
        for stage in self.stages:
            traced = trace(stage.per_row, shared, earlier, shape, key)
            leaves = jax.tree.leaves(traced.shape)
            if not leaves or not all(jnp.issubdtype(v.dtype, jnp.floating) for v in leaves):
                raise RefusedFunction("per_row must return floating-point arrays.")
            stages.append(dataclasses.replace(stage, per_row=traced))
            earlier = (*earlier, traced.shape)
        before = jax.eval_shape(lambda: state)
        after = jax.eval_shape(self.update, state, earlier, key)
        shapes = [jax.tree.map(lambda v: (v.shape, v.dtype), tree) for tree in (before, after)]
        if shapes[0] != shapes[1]:
            raise NacreError(
                "update(state, sums, key) must return a state of the same structure, shapes and "
                "types as the one it got."
            )
        return dataclasses.replace(self, stages=tuple(stages))

    def run(self, state: Any, rows: Any, valid: Any, secret: Any, public: Any, steps: Any) -> Any:
        """Run the given step numbers; to be compiled with 64-bit numbers enabled."""

        def one(state: Any, step: Any) -> tuple[Any, None]:
            return self._step(state, rows, valid, secret, public, step), None

        return jax.lax.scan(one, state, steps)[0]

    def _step(self, state: Any, rows: Any, valid: Any, secret: Any, public: Any, step: Any) -> Any:
        with jax.enable_x64(False):
            hidden = jax.random.split(jax.random.fold_in(secret, step), 3)
            open_keys = jax.random.split(jax.random.fold_in(public, step))
            shared = self.prepare(state, open_keys[0])
        total = len(valid)
        chosen = jax.random.bits(hidden[0], (total,), jnp.uint32) < jnp.uint32(self.threshold)
        (batch,) = jnp.nonzero(chosen & valid, size=total, fill_value=total)
        size = jnp.sum(chosen & valid)
        sums: tuple[Any, ...] = ()
        for place, stage in enumerate(self.stages):
            exact, unravel = self._stage_sum(stage, shared, sums, rows, batch, size, hidden[1])
            scale = stage.clip * self.multiplier / math.sqrt(stage.share)
            key = jax.random.fold_in(hidden[2], place)
            noise = scale * jax.random.normal(key, exact.shape, jnp.float64)
            noisy = exact.astype(jnp.float64) * (stage.clip * 2.0**-UNIT_BITS) + noise
            sums = (*sums, unravel(noisy.astype(jnp.float32)))
        with jax.enable_x64(False):
            return self.update(state, sums, open_keys[1])

    def _stage_sum(
        self, stage: LoopStage, shared: Any, sums: Any, rows: Any, batch: Any, size: Any, key: Any
    ) -> tuple[Any, Callable[[Any], Any]]:
        """The exact integer sum over the batch, in as many fixed-size chunks as it needs."""
        if not isinstance(stage.per_row, Traced):
            raise RefusedFunction("A loop runs checked programs only: use `Loop.checked`.")
        with jax.enable_x64(False):
            zeros = jax.tree.map(lambda v: jnp.zeros(v.shape, jnp.float32), stage.per_row.shape)
            flat, unravel = jax.flatten_util.ravel_pytree(zeros)

        def contribution(index: Any) -> Any:
            row = jax.tree.map(lambda part: part[jnp.minimum(index, len(part) - 1)], rows)
            with jax.enable_x64(False):
                value = stage.per_row(shared, sums, row, jax.random.fold_in(key, index))
                vector, _ = jax.flatten_util.ravel_pytree(value)
            wide = vector.astype(jnp.float64)
            norm = jnp.sqrt(jnp.sum(wide**2))
            # Shrunk by 2^-40 so that rounding of the norm cannot carry it over the clip.
            scale = jnp.minimum(1.0, stage.clip / norm) * (1 - 2.0**-40)
            good = jnp.isfinite(norm) & (norm > 0) & (index < len(batch))
            steps = jnp.trunc(wide * scale * (2.0**UNIT_BITS / stage.clip))
            return jnp.where(good, jnp.nan_to_num(steps), 0).astype(jnp.int64)

        padded = jnp.concatenate([batch, jnp.full(self.chunk, len(batch), batch.dtype)])

        def body(carry: Any) -> Any:
            start, total = carry
            part = jax.lax.dynamic_slice(padded, (start,), (self.chunk,))
            return start + self.chunk, total + jnp.sum(jax.vmap(contribution)(part), axis=0)

        begin = (jnp.zeros((), batch.dtype), jnp.zeros(flat.shape, jnp.int64))
        _, total = jax.lax.while_loop(lambda carry: carry[0] < size, body, begin)
        return total, unravel
