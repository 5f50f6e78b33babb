"""The demo, on fewer rows and columns and with a quicker fit than the real one."""

import functools

import pytest
from tests.cli.conftest import Folder
from tests.methods.conftest import toys  # noqa: F401

import nacre
from nacre import image_demo, registry
from nacre.datasets import ImageSplit, Split, adult, adult_schema, digits
from nacre.evaluate.images.comparison import Effort
from nacre.rows.image import Pictures


@pytest.fixture
def quick(monkeypatch):
    train, test = adult()
    small = Split(train.slice(0, 800), test.slice(0, 400))
    method = nacre.PEARL(frequencies=64, blocks=1, components=4, steps=20)
    monkeypatch.setattr(nacre.datasets, "adult", lambda: small)
    schema = adult_schema().select(["age", "sex", "income"])
    monkeypatch.setattr(nacre.datasets, "adult_schema", lambda: schema)
    monkeypatch.setattr(nacre, "fit", functools.partial(nacre.fit, method=method))
    monkeypatch.setattr(nacre, "plan", functools.partial(nacre.plan, method=method))
    evaluate = functools.partial(nacre.evaluate, metrics=["tv1"])
    monkeypatch.setattr(nacre, "evaluate", evaluate)


def test_demo_shows_the_whole_road_and_leaves_its_files(quick, tmp_path):
    done = Folder(tmp_path).run("demo", "-o", tmp_path, "--seed", "0")
    assert done.exit_code == 0, done.output
    for words in ("plan", "(ε = 1", "add-remove, per row", "5 synthetic people", "Confidential"):
        assert words in done.stdout
    assert {p.name for p in tmp_path.iterdir()} == {"report.html", "synthetic.csv", "demo.nacre"}
    assert nacre.load(tmp_path / "demo.nacre").guarantee.epsilon <= 1
    # A round number of rows, not the private one.
    assert len((tmp_path / "synthetic.csv").read_text().splitlines()) == 30_001
    said = "".join(done.stdout.split())
    assert f"nacreshow{tmp_path / 'demo.nacre'}--verify" in said


def test_demo_replaces_nothing_unasked(quick, tmp_path):
    (tmp_path / "synthetic.csv").write_text("mine")
    done = Folder(tmp_path).run("demo", "-o", tmp_path)
    assert done.exit_code == 2
    assert "would replace" in done.stderr and "--force" in done.stderr
    assert (tmp_path / "synthetic.csv").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
    assert Folder(tmp_path).run("demo", "-o", tmp_path, "--force", "-q").exit_code == 0
    assert (tmp_path / "synthetic.csv").read_text() != "mine"


def test_demo_needs_a_folder(tmp_path):
    done = Folder(tmp_path).run("demo", "-o", tmp_path / "no")
    assert done.exit_code == 2
    assert "There is no folder" in done.stderr


@pytest.fixture
def quick_images(monkeypatch, toys):  # noqa: F811
    train, test, schema = digits()
    small = ImageSplit(
        Pictures(*(x[:300] for x in train)), Pictures(*(x[:60] for x in test)), schema
    )
    monkeypatch.setattr(nacre.datasets, "digits", lambda: small)
    monkeypatch.setitem(registry.AUTOMATIC, "image", ("toy-mean", "it is the only one here"))
    monkeypatch.setattr("nacre.image_demo.DRAWN", 200)
    effort = functools.partial(Effort, steps=2, epochs=1, fewest=2, subsets=3, neighbors=50)
    monkeypatch.setattr("nacre.evaluate.images.run.Effort", effort)


@pytest.mark.filterwarnings("ignore:.*few for this budget")
def test_demo_on_images(quick_images, tmp_path):
    done = Folder(tmp_path).run("demo", "--images", "-o", tmp_path, "--seed", "0")
    assert done.exit_code == 0, done.output
    for words in ("plan", "(ε = 5", "200 synthetic digits", "Confidential", "mean images"):
        assert words in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(image_demo.FILES)
    assert nacre.load(tmp_path / "digits.nacre").guarantee.epsilon <= 5
    again = Folder(tmp_path).run("demo", "--images", "-o", tmp_path)
    assert again.exit_code == 2 and "would replace" in again.stderr
