"""evaluate_images(): the whole road on small images, and on MNIST if it is there."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import nacre
from nacre.evaluate.images.arrays import read_images
from nacre.evaluate.images.run import MEANINGS


def squares(n, seed, noise=25, labels=None):
    """A bright square in one of three places."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n) if labels is None else labels
    images = rng.normal(60, noise, (n, 9, 9))
    for place, (i, j) in enumerate([(0, 0), (0, 5), (5, 3)]):
        images[labels == place, i : i + 4, j : j + 4] += 130
    return np.clip(images, 0, 255).astype(np.uint8), labels


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(5)
    return nacre.evaluate_images(
        squares(250, 0),
        {
            "good": squares(200, 1),
            "blurred": squares(200, 2, noise=90)[0],
            "mislabelled": (squares(200, 3)[0], rng.integers(0, 3, 200)),
        },
        test=squares(250, 6),
        classifiers=["logistic regression", "decision tree"],
        steps=40,
        jobs=1,
    )


def test_scores_are_as_tables_have_them(found):
    scores = found.scores
    columns = ["table", "metric", "part", "value", "error", "reference", "goal"]
    assert list(scores.columns) == columns
    assert set(scores["metric"]) == set(MEANINGS)
    assert not scores.duplicated(["table", "metric", "part"]).any()
    parts = set(scores[scores["metric"] == "f1"]["part"])
    assert parts == {"", "logistic regression", "decision tree"}


def test_better_images_score_better(found):
    good, blurred = (found.score("fid", table) for table in ("good", "blurred"))
    assert good.value == pytest.approx(good.reference, rel=0.6)
    assert blurred.value > 1.5 * good.value
    assert found.score("kid", "blurred").value > 2 * abs(found.score("kid", "good").value)
    accuracy = {t: found.score("cnn-accuracy", t).value for t in ("good", "mislabelled")}
    assert accuracy["good"] > 0.9 > 0.6 > accuracy["mislabelled"]
    assert found.score("accuracy", "good").value > 0.9 > found.score("f1", "mislabelled").value


def test_images_without_labels_have_distances_only(found):
    assert found.score("fid", "blurred") is not None
    assert found.score("cnn-accuracy", "blurred") is None
    assert any("blurred" in note for note in found.notes)


def test_summary_and_json(found):
    assert found.summary().startswith("Confidential to the data holder")
    assert str(found) == found.summary()
    assert len(json.loads(found.to_json())["scores"]) == len(found.results)


def test_the_seed_decides():
    asked = {"real": squares(60, 0), "synthetic": squares(50, 1), "steps": 2}
    one, two, other = (nacre.evaluate_images(**asked, seed=s).scores for s in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)
    assert one["reference"].isna().all()


def test_a_constant_set_is_far_off():
    constant = (np.full((50, 9, 9), 7, np.uint8), np.zeros(50, int))
    found = nacre.evaluate_images(squares(60, 0), constant, test=squares(40, 1), steps=2)
    assert found.score("fid").value > found.score("fid").reference


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"real": squares(30, 0)[0]}, "real images need labels"),
        ({"synthetic": np.zeros((30, 9, 9))}, "float64 with 3 axes.*scale"),
        ({"synthetic": np.zeros((30, 8, 9), np.uint8)}, "differ in size: real 9×9×1.*8×9×1"),
        ({"synthetic": np.zeros((3, 9, 9), np.uint8)}, "there are 3. At least 10"),
        ({"synthetic": (squares(30, 0)[0], np.zeros(29, int))}, "one label each"),
        ({"synthetic": (squares(30, 0)[0], np.full(30, 3))}, "labels 0 to 2.*synthetic"),
        ({"classifiers": ["magic"]}, "No such classifier"),
    ],
)
def test_wrong_requests(change, message):
    asked = {"real": squares(30, 0), "synthetic": squares(30, 1), **change}
    with pytest.raises(ValueError, match=message):
        nacre.evaluate_images(**asked)


def test_channels():
    color = np.repeat(squares(40, 0)[0][..., None], 3, axis=3)
    assert read_images(color, "x").pixels.shape == (40, 9, 9, 3)


@pytest.mark.data
def test_mnist():
    place = Path(os.environ.get("NACRE_DATA", "")) / "mnist" / "mnist.npz"
    if not place.is_file():
        pytest.skip("needs mnist/mnist.npz in $NACRE_DATA")
    with np.load(place) as data:
        images, labels = data["x_train"][:1000, ::2, ::2], data["y_train"][:1000].astype(int)
    real, synthetic, test = ((images[s], labels[s]) for s in np.split(np.arange(1000), [400, 700]))
    noisy = np.random.default_rng(0).normal(0, 40, synthetic[0].shape) + synthetic[0]
    found = nacre.evaluate_images(
        real,
        {"fresh": synthetic, "noisy": np.clip(noisy, 0, 255).astype(np.uint8)},
        test=test,
        steps=90,
    )
    fresh = found.score("fid", "fresh")
    assert fresh.value == pytest.approx(fresh.reference, rel=0.5)
    assert found.score("fid", "noisy").value > 1.5 * fresh.value
    assert found.score("cnn-accuracy", "fresh").value > 0.7
