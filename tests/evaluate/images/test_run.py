"""nacre.evaluate() of images: the whole road on small ones, and on MNIST if it is there."""

import functools
import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.report.outline import Outline

import nacre
from nacre.evaluate.images.comparison import Effort
from nacre.evaluate.images.metrics import METRICS, choose
from nacre.evaluate.images.run import evaluate_images

SCHEMA = nacre.ImageSchema(height=9, width=9, classes=3)
QUICK = Effort(steps=40, epochs=1, residual_epochs=1, fewest=40, subsets=10, neighbors=200)
SHORT = Effort(steps=2, epochs=1, fewest=2, subsets=3, bootstraps=2, neighbors=30)
GUARANTEE = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "add-remove"}


def squares(n, seed, noise=25, labels=None):
    """A bright square in one of three places, of any brightness."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n) if labels is None else labels
    images = rng.normal(60, noise, (n, 9, 9))
    bright = rng.uniform(60, 200, n)
    for place, (i, j) in enumerate([(0, 0), (0, 5), (5, 3)]):
        mine = labels == place
        images[mine, i : i + 4, j : j + 4] += bright[mine, None, None]
    return np.clip(images, 0, 255).astype(np.uint8), labels


def means(n):
    """The mean image of each class."""
    images, labels = squares(600, 8)
    centers = np.stack([images[labels == c].mean(0) for c in range(3)])
    found = centers[np.arange(n) % 3] + np.random.default_rng(0).normal(0, 1, (n, 9, 9))
    return np.clip(found, 0, 255).astype(np.uint8), np.arange(n) % 3


REAL, TEST = squares(250, 0), squares(250, 6)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(5)
    return evaluate_images(
        REAL,
        {
            "good": squares(200, 1),
            "copied": (REAL[0][:200], REAL[1][:200]),
            "mean": means(200),
            "unlabelled": squares(200, 2, noise=90)[0],
            "mislabelled": (squares(200, 3)[0], rng.integers(0, 3, 200)),
        },
        SCHEMA,
        test=TEST,
        metrics="all",
        guarantee={"good": GUARANTEE, "copied": {"epsilon": None, "delta": None}},
        classifiers=["logistic regression", "decision tree"],
        jobs=1,
        effort=QUICK,
    )


def test_scores_are_as_tables_have_them(found):
    scores = found.scores
    columns = ["table", "metric", "part", "value", "error", "reference", "goal"]
    assert list(scores.columns) == columns
    assert set(scores["metric"]) == set(METRICS)
    assert not scores.duplicated(["table", "metric", "part"]).any()
    parts = set(scores[scores["metric"] == "f1"]["part"])
    assert parts == {"", "logistic regression", "decision tree"}
    assert not scores["reference"].isna().any()
    for metric in METRICS.values():
        values = scores[scores["metric"] == metric.name]["value"]
        assert (values >= metric.low).all() and (values <= metric.high).all()


def test_better_images_score_better(found):
    good, noisy = (found.score("fid", table) for table in ("good", "unlabelled"))
    assert good.value == pytest.approx(good.reference, rel=0.8)
    assert noisy.value > 1.5 * good.value
    assert found.score("kid", "unlabelled").value > 2 * abs(found.score("kid", "good").value)
    for name in ("cnn-accuracy", "residual-accuracy", "accuracy"):
        assert found.score(name, "good").value > 0.85
        assert found.score(name, "mislabelled").value < 0.7


def test_means_are_seen_to_be_alike(found):
    # They look real and are learnt from well; only recall and coverage tell.
    assert found.score("cnn-accuracy", "mean").value > 0.85
    for name in ("recall", "coverage"):
        assert found.score(name, "mean").value < 0.5 * found.score(name, "good").value
    assert any("too much alike" in f.text for f in found.findings["mean"])
    assert not any(f.level == "avoid" for f in found.findings["good"])


def test_copies_are_found_out(found):
    copied, good = (found.score("membership", table) for table in ("copied", "good"))
    assert copied.value > 0.8
    assert abs(good.value - good.reference) < 0.15
    assert found.findings["copied"][0].level == "avoid"
    assert any("tell who was in the data" in f.text for f in found.findings["copied"])
    assert any("NOT PRIVATE" in f.text for f in found.findings["copied"])


def test_images_without_labels_have_distances_only(found):
    assert found.score("fid", "unlabelled") is not None
    assert found.score("cnn-accuracy", "unlabelled") is None
    assert any("'unlabelled' have no labels" in note for note in found.notes)


def test_summary_and_json(found, tmp_path):
    said = found.summary()
    assert said.startswith("Confidential to the data holder") and str(found) == said
    assert "real images" in said and "FID is larger for fewer images" in said
    content = json.loads(found.to_json(tmp_path / "a.json"))
    assert len(content["scores"]) == len(found.results)
    assert content["images"]["good"] == 200 and content["images"]["test"] == 250
    assert {m["name"] for m in content["metrics"]} == set(METRICS)
    assert "Confidential" in found._repr_html_()


def test_the_page(found, tmp_path):
    page = found.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page
    outline = Outline(page)
    assert not outline.mistakes and not outline.open
    words = " ".join(outline.words)
    first = words.index("Confidential to the data holder: these numbers were computed from the")
    assert first < words.index("How good are these images?")
    assert "private images without noise" in words and "shows some of them" in words
    assert "ε = 1, δ = 10" in words and "NOT PRIVATE" in words
    images = [a for name, a in outline.tags if name == "img"]
    # Real images and four labelled sets by class, and the one without labels.
    assert len(images) == 5 * 3 + 1
    assert all(a["src"].startswith("data:image/png;base64,") and a["alt"] for a in images)
    assert not [name for name, _ in outline.tags if name in ("script", "iframe")]


def test_evaluate_chooses_by_the_schema(tmp_path, monkeypatch):
    short = functools.partial(evaluate_images, effort=SHORT)
    monkeypatch.setattr("nacre.evaluate.run.evaluate_images", short)
    SCHEMA.write(tmp_path / "images.yaml")
    np.savez(tmp_path / "a.npz", x_train=REAL[0], y_train=REAL[1], x_test=TEST[0], y_test=TEST[1])
    path = str(tmp_path / "a.npz")
    told = []
    found = nacre.evaluate(
        path, squares(60, 1), tmp_path / "images.yaml", test=f"{path}#test", metrics=["fid"],
        on_progress=lambda stage, done: told.append(stage),
    )  # fmt: skip
    assert isinstance(found, nacre.ImageEvaluation)
    assert found.counts == {"real": 250, "test": 250, "synthetic": 60}
    assert {"reading", "evaluating"} <= set(told)
    with pytest.raises(ValueError, match="α-LMDP is a test of columns"):
        nacre.evaluate(REAL, REAL, SCHEMA, lmdp=["a"])
    with pytest.raises(ValueError, match="needs labels"):
        nacre.evaluate(REAL, REAL, SCHEMA, label=None)


def test_the_seed_decides_and_without_test_images_there_is_less():
    asked = {"real": squares(60, 0), "synthetic": squares(50, 1), "schema": SCHEMA, "effort": SHORT}
    one, two, other = (evaluate_images(**asked, seed=s) for s in (1, 1, 2))
    assert one.scores.equals(two.scores)
    assert not one.scores.equals(other.scores)
    assert one.scores["reference"].isna().all()
    assert set(one.scores["metric"]) == {"fid", "kid", "precision", "recall", "coverage"}
    assert any("No test images were given" in note for note in one.notes)
    assert "img" in one.to_html()


def test_images_that_do_not_fit_are_left_out_and_told():
    pixels, labels = squares(60, 0)
    strange = np.where(np.arange(60) < 4, 99, labels)
    asked = {"synthetic": squares(50, 1), "schema": SCHEMA, "effort": SHORT, "metrics": ["fid"]}
    found = evaluate_images((pixels, strange), **asked)
    assert found.counts["real"] == 56
    assert any("The real images: 4 do not fit" in note for note in found.notes)


def test_quick_is_quick():
    slow = {"residual-accuracy", "accuracy", "f1"}
    assert {m.name for m in choose("all")} - {m.name for m in choose("quick")} == slow
    assert [m.name for m in choose("fid")] == ["fid"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"real": squares(30, 0)[0]}, "come without labels"),
        ({"synthetic": np.zeros((30, 9, 9))}, "uint8, got float64. Scale"),
        ({"synthetic": np.zeros((30, 8, 9), np.uint8)}, r"shape \[30, 8, 9\]"),
        ({"synthetic": np.zeros((3, 9, 9), np.uint8)}, "come without labels"),
        ({"synthetic": {}}, "the dictionary is empty"),
        ({"classifiers": ["magic"]}, "No such classifier"),
        ({"metrics": ["fidd"]}, "no metric of images 'fidd'.*fid"),
        ({"schema": SCHEMA.with_label(None)}, "needs labels"),
        ({"schema": nacre.ImageSchema(height=3, width=9, classes=3)}, "4 x 4 pixels or more"),
    ],
)
def test_wrong_requests(change, message):
    asked = {"real": squares(30, 0), "synthetic": squares(30, 1), "schema": SCHEMA, **change}
    with pytest.raises(ValueError, match=message):
        evaluate_images(**asked)


@pytest.mark.data
def test_mnist():
    place = Path(os.environ.get("NACRE_DATA", "")) / "mnist" / "mnist.npz"
    if not place.is_file():
        pytest.skip("needs mnist/mnist.npz in $NACRE_DATA")
    with np.load(place) as data:
        images, labels = data["x_train"][:1000, ::2, ::2], data["y_train"][:1000].astype(int)
    real, synthetic, test = ((images[s], labels[s]) for s in np.split(np.arange(1000), [400, 700]))
    noisy = np.random.default_rng(0).normal(0, 40, synthetic[0].shape) + synthetic[0]
    found = evaluate_images(
        real,
        {"fresh": synthetic, "noisy": np.clip(noisy, 0, 255).astype(np.uint8)},
        nacre.ImageSchema(height=14, width=14, classes=10),
        test=test,
        metrics=["fid", "cnn-accuracy"],
        effort=Effort(steps=90, fewest=90),
    )
    fresh = found.score("fid", "fresh")
    assert fresh.value == pytest.approx(fresh.reference, rel=0.5)
    assert found.score("fid", "noisy").value > 1.5 * fresh.value
    assert found.score("cnn-accuracy", "fresh").value > 0.7
