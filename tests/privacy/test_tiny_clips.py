"""A clip is enforced whatever it is: none so small that arithmetic overflows is accepted."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.vault import Stage
from nacre.vault.loop import Loop, LoopStage
from nacre.vault.outer import Parts


def loop(clip):
    return Loop(
        prepare=lambda state, key: state,
        stages=(LoopStage(per_row=lambda *_: jnp.zeros(1), clip=clip),),
        update=lambda state, sums, key: state,
        threshold=1,
        multiplier=1.0,
        chunk=64,
    )


@pytest.mark.parametrize("clip", [0.0, -1.0, 1e-303, 1e-16, 1e16, float("inf"), float("nan")])
def test_clips_out_of_range_are_refused(clip):
    for kind in (lambda: Stage(clip=clip), lambda: loop(clip)):
        with pytest.raises(ValueError, match="clip from 1e-15 to"):
            kind()


@pytest.mark.parametrize("clip", [1e-15, 1e-6, 1.0, 1e15, 1e-303])
def test_no_contribution_is_larger_than_the_clip(clip):
    ready = loop(1.0)
    stage = dataclasses.replace(ready.stages[0])
    object.__setattr__(stage, "clip", clip)  # also one that is not accepted
    rows = [1.0, -1.0, 1e-38, 1e38, 3.4e38, 1e-20, 0.0, np.inf, -np.inf, np.nan]
    with jax.enable_x64(True):
        for one in rows:
            for other in rows:
                values = jnp.asarray([one, other], jnp.float32).astype(jnp.float64)
                (found,) = ready._clipped(stage, Parts(values, ())).arrays()
                assert np.linalg.norm(np.asarray(found, np.float64)) <= ready._units(stage)


@pytest.mark.parametrize("clip", [1e-15, 1.0, 1e15])
def test_no_outer_product_is_larger_than_the_clip(clip):
    ready = loop(clip)
    # With the smallest numbers of float32, which some machines take for zero.
    numbers = [1.0, -3.0, 1e-45, 1e-40, 1e-20, 1e20, 3.4e38, 0.0, np.inf, -np.inf, np.nan]

    @jax.jit
    def squares(rest, left, right):
        wide = Parts(rest, ((left, right),))
        wide = jax.tree.map(lambda v: v.astype(jnp.float64), wide)
        found = ready._clipped(ready.stages[0], wide).arrays()
        return sum(jnp.sum(values.astype(jnp.float64) ** 2) for values in found), found[1]

    with jax.enable_x64(True):
        for one in numbers:
            for other in numbers:
                rest, left, right = np.float32([one]), np.float32([one, 1]), np.float32([other, 2])
                square, matrix = squares(rest, left, right)
                assert np.sqrt(square) <= ready._units(ready.stages[0])
                if not np.isfinite([one, other]).all():
                    assert not matrix.any()
