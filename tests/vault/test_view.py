"""Rows through a function of one row, kept behind the wall; what is asked through such a view."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.rows import ImageEncoder, Stream
from nacre.schema import ImageSchema
from nacre.vault import Adjacency, Bound, Plan, Program, Segment, Stage, Steps, Sum, Vault
from nacre.vault.tracing import RefusedFunction
from nacre.vault.view import ONE, View, ViewRows, seen

ENCODER = ImageEncoder(ImageSchema(height=3, width=4, classes=3))
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (700, 3, 4)).astype(np.uint8)
LABELS = RNG.integers(0, 3, 700)
WEIGHTS = RNG.normal(size=(12, 5)).astype(np.float32) / 8


def function(row):
    return jnp.tanh(row.pixels.reshape(-1).astype(jnp.float32) / 255 @ WEIGHTS)


def view(pixels, labels, function=function):
    return ViewRows(function, Stream(ENCODER, (pixels, labels)), lambda: None)


def vault_of(*questions):
    """Without noise, so that answers can be compared."""
    plan = Plan.of(questions, epsilon=math.inf, delta=None, adjacency=Adjacency.ADD_REMOVE)
    return Vault(Stream(ENCODER, (PIXELS, LABELS)), plan)


def test_what_is_kept_of_a_row_is_a_function_of_that_row_alone():
    whole = view(PIXELS, LABELS).whole()
    order = RNG.permutation(700)
    moved = view(PIXELS[order], LABELS[order]).whole()
    count = len(order)
    assert np.array_equal(moved.rows.values[:count], whole.rows.values[order])
    assert np.array_equal(moved.rows.label[:count], whole.rows.label[order])
    one = view(PIXELS[5:6], LABELS[5:6]).whole()
    assert np.array_equal(one.rows.values[0], whole.rows.values[5])
    exact = np.tanh(PIXELS.reshape(700, -1) / 255 @ WEIGHTS.astype(float)) * ONE
    assert np.abs(whole.rows.values[:700] - exact).max() < 1


def test_padding_bad_rows_and_numbers_out_of_bounds():
    labels = np.where(np.arange(700) < 3, 9, LABELS)
    black = PIXELS.copy()
    black[10] = 0

    def inverse(row):
        return jnp.ones(2) * jnp.array([5.0, 1.0]) / row.pixels.astype(jnp.float32).max()

    found = view(black, labels, lambda row: inverse(row) * 255).whole()
    assert not found.valid[:3].any() and not found.valid[10] and found.valid[11:700].all()
    assert not found.valid[700:].any()
    assert found.rows.values.max() == 2 * ONE - 1  # five is clipped
    sizes = [len(block.valid) for block in view(PIXELS, LABELS).blocks(300)]
    assert sizes == [300] * 4


def test_sums_and_steps_are_asked_through_it():
    bound = Bound(segments=(Segment(size=5, norm=3.0),), by=ENCODER.label, count=1.0)
    asked = Sum(name="means", meaning="of what is seen", share=0.5, bound=bound)
    stepped = Steps(
        name="training",
        meaning="of what is seen",
        share=0.5,
        steps=2,
        batch=700,
        size=5,
        stages=(Stage(clip=3.0),),
        rows=700,
    )
    vault = vault_of(asked, stepped)
    through = vault.view(function)
    sums = vault.sum(asked, seen, through=through)
    exact = np.tanh(PIXELS.reshape(700, -1) / 255 @ WEIGHTS.astype(float))
    for label in range(3):
        assert np.allclose(sums.values[label], exact[label == LABELS].sum(0), atol=0.05)
    program = Program(
        state=jnp.zeros(5),
        prepare=lambda state, key: state,
        per_row=(lambda shared, earlier, row, key: seen(row),),
        update=lambda state, sums, key: state + sums[0],
    )
    state = vault.train(stepped, program, through=through, key=jax.random.key(0))
    assert np.allclose(state, 2 * exact.sum(0), atol=0.2)


def test_a_method_is_handed_no_rows():
    vault = vault_of(Sum(name="n", meaning="", share=1.0, bound=Bound(segments=(), count=1.0)))
    handle = vault.view(function)
    assert isinstance(handle, View) and set(vars(handle)) == {"shape", "label"}
    other = vault_of(*(planned.question for planned in vault.plan.asked))
    with pytest.raises(ValueError, match="made by another vault"):
        other.sum(other.plan.asked[0].question, lambda row: jnp.zeros(0), through=handle)


def test_a_program_is_used_again_only_for_the_same_kinds_of_public_arrays():
    def scaled(row, factor):
        return row.pixels.reshape(-1)[:2].astype(factor.dtype) * factor

    bound = Bound(segments=(Segment(size=2, norm=1e4),))
    asked = [Sum(name=f"{i}", meaning="", share=0.3, bound=bound) for i in range(3)]
    vault = vault_of(*asked)
    total = PIXELS.reshape(700, -1)[:, :2].astype(float).sum(0)
    for question, factor in zip(asked, (np.int32(2), np.float32(0.5), np.float32(3)), strict=True):
        sums = vault.sum(question, scaled, public=factor)
        assert np.allclose(sums.values[0], total * float(factor), rtol=1e-3)


@pytest.mark.parametrize("bad", [lambda row: row.pixels, lambda row: (row.label, row.label)])
def test_other_functions_are_refused(bad):
    with pytest.raises(RefusedFunction, match="one real vector"):
        view(PIXELS, LABELS, bad)
