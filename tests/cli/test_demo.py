"""The demo, on fewer rows and columns and with a quicker fit than the real one."""

import functools

import pytest
from tests.cli.conftest import Folder

import nacre
from nacre.datasets import Split, adult, adult_schema


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
