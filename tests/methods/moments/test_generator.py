"""Samples of Moments get the labels that they look like; a model file cannot be bent."""

import dataclasses
import math

import numpy as np
import pytest

import nacre
from nacre.errors import NacreError
from nacre.methods.moments import teacher
from nacre.methods.moments.clipping import before_clipping
from nacre.methods.moments.generator import MomentsGenerator

SCHEMA = nacre.ImageSchema(height=8, width=8, classes=3)


def stripes(n=300):
    """A class is bright in two rows of its own."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n)
    pixels = rng.integers(0, 60, (n, 8, 8))
    for row in (0, 1):
        pixels[np.arange(n), 3 * labels + row - (labels == 2)] += 170
    return pixels.astype(np.uint8), labels


@pytest.fixture(scope="module")
def model():
    method = nacre.Moments(
        coefficients=40, components=12, teacher_components=16, teacher_steps=10, width=1.2
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teacher, "DRAWN", 200)
        patch.setattr(teacher, "WARM", 200)
        return nacre.fit(stripes(), SCHEMA, method=method, epsilon=math.inf, seed=1)


def test_labels_are_those_of_the_nearest_class(model):
    real, classes = stripes()
    means = np.stack([real[classes == code].mean(0) for code in range(3)])
    drawn, labels = model.sample(400, seed=0)
    far = ((drawn[:, None].astype(float) - means) ** 2).sum((2, 3))
    assert np.mean(far.argmin(1) == labels) > 0.9
    assert np.bincount(labels, minlength=3).min() > 60
    # And a class's samples look like it.
    for code in range(3):
        assert np.abs(drawn[labels == code].mean(0) - means[code]).mean() < 25


def test_what_is_taken_for_another_class_is_drawn_again(model):
    """Gaussians that all stand for nothing are taken for one class; tries bring the others back."""
    own = model.generator
    vague = dataclasses.replace(own, means=0 * own.means, factors=3 * own.factors)
    wanted = own.weights.reshape(-1, 3).sum(0)

    def apart(labels):
        return np.abs(np.bincount(labels, minlength=3) / len(labels) - wanted).max()

    images, _ = vague.draw(600, np.random.default_rng(0))
    drawn = vague.sample(600, np.random.default_rng(0))
    assert apart(drawn.labels) < 0.8 * apart(own.teacher.labels(images))
    # And a label is what the teacher says.
    units = np.divide(drawn.pixels, 255, dtype=np.float32)
    assert np.array_equal(own.teacher.labels(units), drawn.labels)


def test_a_class_is_drawn_by_rejection(model):
    assert model.generator.given({0: 1}) is None  # the teacher says afterwards what was drawn
    assert set(model.sample(30, seed=2, where={"label": 2}).labels) == {2}


def test_what_was_saved_is_restored(model):
    config, arrays = model.generator.state()
    again = MomentsGenerator.restore(config, arrays, model.encoder)
    first, second = (g.sample(20, np.random.default_rng(0)) for g in (model.generator, again))
    assert np.array_equal(first.pixels, second.pixels)
    assert np.array_equal(first.labels, second.labels)


def spoiled(name, value):
    """An array of which one number is another."""
    value = np.asarray(value).copy()
    value.flat[0] = name
    return value


@pytest.mark.parametrize(
    "name",
    [
        "weights",
        "means",
        "factors",
        "directions",
        "offsets",
        "movements",
        "center",
        "looks",
        "answers",
    ],
)
def test_restore_refuses_arrays_that_do_not_fit(model, name):
    config, arrays = model.generator.state()
    value = arrays[name]
    wrong = [value[:-1], np.concatenate([value, value]), value[..., None]]
    wrong += [spoiled(bad, value) for bad in (np.nan, np.inf)]
    for each in wrong:
        with pytest.raises(NacreError):
            MomentsGenerator.restore(config, arrays | {name: each}, model.encoder)


@pytest.mark.parametrize("weights", [[-0.1, 0.6, 0.5] * 2, [0.0] * 6])
def test_restore_refuses_chances_that_cannot_be(model, weights):
    config, arrays = model.generator.state()
    with pytest.raises(NacreError, match="chances"):
        MomentsGenerator.restore(config, arrays | {"weights": np.array(weights)}, model.encoder)


@pytest.mark.parametrize("config", [{}, {"labeled": False}, {"labeled": True, "more": 1}])
def test_restore_refuses_another_configuration(model, config):
    _, arrays = model.generator.state()
    with pytest.raises(NacreError, match="disagree"):
        MomentsGenerator.restore(config, arrays, model.encoder)


def test_a_blank_sample_has_a_label_all_the_same(model):
    blank = np.zeros((2, 8, 8, 1), np.float32)
    own = model.generator.teacher
    assert np.isfinite(own.features(blank, np)).all()
    assert own.labels(blank).shape == (2,) and own.labels(blank[:0]).shape == (0,)


def test_shares_must_leave_something_for_the_moments():
    with pytest.raises(NacreError, match="leave some budget"):
        dataclasses.replace(nacre.Moments(), teacher_share=0.8)


def test_clipped_images_have_the_wanted_moments():
    # Pixels so dark, and so different, that clipping takes much of their variance.
    rng = np.random.default_rng(3)
    directions = rng.normal(size=(5, 60)) / math.sqrt(60)
    factor, mean = np.diag(rng.uniform(0.5, 2, 5)), rng.normal(size=5) * 0.3
    base = np.full(60, 0.4)
    wide, offset = before_clipping(mean, factor, directions, base, rng)
    latent = rng.standard_normal((20_000, 5))

    def moments(by, shift):
        images = np.clip((mean + latent @ by.T) @ directions + shift, 0, 1)
        places = images @ np.linalg.pinv(directions) @ np.linalg.inv(factor).T
        return images.mean(0), np.cov(places.T)

    average, covariance = moments(wide, offset)
    before = moments(factor, base)[1]
    assert np.abs(average - np.clip(base + mean @ directions, 0, 1)).max() < 0.04
    assert np.abs(covariance - np.eye(5)).max() < 0.35 < np.abs(before - np.eye(5)).max()


def test_clipping_takes_nothing_from_gray_images_and_nearly_all_from_wild_ones(model):
    rng = np.random.default_rng(4)
    gray = dataclasses.replace(
        model.generator,
        means=np.zeros_like(model.generator.means),
        offsets=np.full_like(model.generator.offsets, 0.5),
    )
    assert gray.wider(1e-4).clipped_away(rng) == pytest.approx(0, abs=1e-6)
    assert gray.wider(1e4).clipped_away(rng) > 0.99


def test_a_share_of_the_draws_comes_from_the_other_generator(model):
    one = dataclasses.replace(
        model.generator,
        **{name: getattr(model.generator, name)[:3] for name in ("means", "factors", "offsets")},
        weights=np.array([0.2, 0.3, 0.5]),
    )
    dark, bright = (
        dataclasses.replace(one.wider(0), means=0 * one.means, offsets=0 * one.offsets + level)
        for level in (0, 1)
    )
    images, classes = dark.beside(bright, 0.75).draw(4000, np.random.default_rng(0))
    assert images.mean() == pytest.approx(0.75, abs=0.03)
    assert np.bincount(classes) / 4000 == pytest.approx([0.2, 0.3, 0.5], abs=0.03)


def test_samples_alone_teach_most_of_what_there_is(model):
    own = model.generator.teacher
    blank = dataclasses.replace(own, weights=np.zeros_like(own.weights))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teacher, "WARM", 400)
        rng = np.random.default_rng(5)
        weights = teacher._warm(nacre.Moments(), blank, model.generator, rng)
    pixels, labels = stripes()
    images = (pixels / 255).astype(np.float32)[..., None]
    assert np.mean(dataclasses.replace(own, weights=weights).labels(images) == labels) > 0.9
