"""What one image sends through the vault: within its bounds, also of the worst images there are."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.methods import find
from nacre.methods.moments import teacher
from nacre.methods.moments.gaussians import measure
from nacre.methods.moments.generator import MomentsGenerator
from nacre.rows import ImageEncoder, Stream
from nacre.schema import ImageSchema
from nacre.vault import Adjacency, Plan, Vault
from nacre.vault.products import Products
from nacre.vault.view import ONE

SCHEMA = ImageSchema(height=8, width=7, classes=3)
ENCODER = ImageEncoder(SCHEMA)
METHOD = find("moments")(radius=0.3).small()
QUESTIONS = METHOD.questions(ENCODER, Adjacency.ADD_REMOVE, None)
# Of float32; and of the view's integers, which the vault clips off where they exceed the bound.
ROUNDING = 1e-5 + math.sqrt(METHOD.teacher_components) / 2 / ONE


def worst():
    """Black, white, one pixel, stripes, halves, a checkerboard; then bytes at random."""
    pixels = np.random.default_rng(0).integers(0, 256, (64, 8, 7))
    pixels[:6] = 0
    pixels[1], pixels[2, 0, 0], pixels[3, ::2], pixels[4, :, :3] = 255, 255, 255, 255
    pixels[5, ::2, ::2] = pixels[5, 1::2, 1::2] = 255
    return pixels.astype(np.uint8), np.arange(64) % 3


def whole(found):
    """What the vault makes of a row's features: products are theirs."""
    if not isinstance(found, Products):
        return found
    return jnp.concatenate([found.plain, (found.left.T @ found.right).reshape(-1)])


class Watched:
    """A vault without noise that keeps each row's contribution to each sum."""

    def __init__(self, pixels, labels):
        stream = Stream(ENCODER, (pixels, labels))
        plan = Plan.of(QUESTIONS, epsilon=math.inf, delta=None, adjacency=Adjacency.ADD_REMOVE)
        self.vault, self.encoder, self.rows = Vault(stream, plan), ENCODER, len(pixels)
        self.sent: dict[str, np.ndarray] = {}
        self.gradient: Any = None

    def view(self, function):
        return self.vault.view(function)

    def sum(self, question, features, *, public=None, through):
        rows = self.vault._views[through].whole().rows
        more = () if public is None else (public,)
        if public is not None:
            self.gradient = lambda weights: self.parts(features, rows, weights)
        self.sent[question.name] = self.parts(features, rows, *more)
        return self.vault.sum(question, features, public=public, through=through)

    def parts(self, features, rows, *more):
        with jax.enable_x64(True):  # as the vault does
            found = jax.vmap(lambda row: whole(features(row, *more)))(rows)
        return np.asarray(found, np.float64)[: self.rows]


@pytest.fixture(scope="module")
def watched():
    vault: Any = Watched(*worst())
    gaussians = measure(METHOD, vault, QUESTIONS[:3])
    near = MomentsGenerator.blurred(gaussians, ENCODER, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teacher, "DRAWN", 60)
        patch.setattr(teacher, "WARM", 60)
        teacher.train(METHOD, vault, QUESTIONS[3:], near, near, gaussians, np.random.default_rng(1))
    return vault


def norms(watched, question):
    """By segment and row."""
    sizes = [segment.size for segment in question.bound.segments]
    parts = np.split(watched.sent[question.name], np.cumsum(sizes)[:-1], axis=1)
    return [np.linalg.norm(part, axis=1) for part in parts]


def test_every_question_is_asked_once(watched):
    assert list(watched.sent) == [question.name for question in QUESTIONS]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_no_image_exceeds_a_bound(watched, question):
    for segment, found in zip(question.bound.segments, norms(watched, question), strict=True):
        assert np.isfinite(found).all()
        assert found.max() <= segment.norm * (1 + ROUNDING)


def test_the_bounds_are_reached(watched):
    (mean,) = norms(watched, QUESTIONS[0])
    assert mean[:2] == pytest.approx(1, abs=1e-3)  # black and white
    _, directions = norms(watched, QUESTIONS[1])
    assert directions == pytest.approx(1, abs=ROUNDING)
    for found in norms(watched, QUESTIONS[2]):
        assert found.max() == pytest.approx(1, abs=ROUNDING)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_a_gradient_has_norm_one_at_most_whatever_the_weights_are(watched, size):
    shape = (METHOD.teacher_components, 3)
    weights = (size * np.random.default_rng(2).normal(size=shape)).astype(np.float32)
    found = np.linalg.norm(watched.gradient(weights), axis=1)
    assert found.max() <= 1 + ROUNDING
    if size > 1:  # sure, and wrong about an image of which the directions show nearly all
        assert found.max() > 0.95


def test_shares_add_up_to_the_budget():
    assert sum(question.share for question in QUESTIONS) == pytest.approx(1)
    plain = METHOD.questions(ImageEncoder(SCHEMA.with_label(None)), Adjacency.ADD_REMOVE, None)
    assert len(plain) == 3 and sum(question.share for question in plain) == pytest.approx(1)
