"""Images from a terminal: draft, check, plan, fit, sample in every form, show, ledger."""

import functools
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.cli.conftest import Folder
from tests.methods.conftest import toys  # noqa: F401
from tests.report.outline import Outline

import nacre
from nacre.evaluate.images.comparison import Effort
from nacre.ledger import Ledger
from nacre.rows.pictures import write_folder

pytestmark = pytest.mark.usefixtures("toys")
COST = ("--epsilon", "5", "--delta", "1e-6", "--method", "toy-mean")


def images(n=300, seed=0):
    """Class c is bright in row c."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    pixels = rng.integers(0, 20, (n, 4, 5))
    pixels[np.arange(n), labels] += 200
    return pixels.astype(np.uint8), labels


@pytest.fixture(scope="module")
def here(tmp_path_factory, toys):  # noqa: F811
    """A folder with images, a reviewed draft and a model of them."""
    folder = Folder(tmp_path_factory.mktemp("images"))
    (x, y), (u, v) = images(), images(200, 1)
    np.savez(folder / "bars.npz", x_train=x, y_train=y, x_test=u, y_test=v)
    done = folder.run("schema", "draft", folder / "bars.npz", "-o", folder / "bars.yaml")
    assert done.exit_code == 0, done.output
    assert "the draft is not private" in done.stderr and "no class is missing" in done.stderr
    said = (folder / "bars.yaml").read_text()
    refused = folder.run("fit", folder / "bars.npz", "-s", folder / "bars.yaml", *COST, "-o", "x")
    assert refused.exit_code == 2 and "set `reviewed: true`" in refused.stderr
    (folder / "bars.yaml").write_text(said.replace("reviewed: false", "reviewed: true"))
    Ledger(folder / "budget.db").open("bars", epsilon=6, delta=1e-4)
    done = folder.run(
        "fit", folder / "bars.npz", "-s", folder / "bars.yaml", *COST, "-o", folder / "bars.nacre",
        "--set", "spread=4", "--ledger", folder / "budget.db", "--dataset", "bars", "--seed", "0",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    (folder / "fit.err").write_text(done.stderr)
    return folder


def test_the_draft_says_what_is_there(here, tmp_path):
    schema = nacre.ImageSchema.read(here / "bars.yaml")
    assert schema.shape == (4, 5, 1) and schema.classes == ("0", "1", "2")
    assert (schema.provenance, schema.label) == ("data", "label")
    pixels, labels = images(12)
    color = np.repeat(pixels[..., None], 3, axis=3)
    write_folder(tmp_path / "kinds", color, [("cat", "dog", "eel")[label] for label in labels])
    done = here.run("schema", "draft", tmp_path / "kinds", "--label", "kind")
    found = nacre.ImageSchema.parse(done.stdout)
    assert found.shape == (4, 5, 3) and found.classes == ("cat", "dog", "eel")
    assert found.label == "kind" and not found.reviewed


def test_a_draft_of_images_is_not_bought(here):
    done = here.run("schema", "draft", here / "bars.npz", "--epsilon", "1", "--delta", "1e-6")
    assert done.exit_code == 2 and "no private draft of images" in done.stderr
    done = here.run("schema", "draft", here / "bars.npz", "--drop", "label")
    assert done.exit_code == 2 and "--unit and --most-values" in done.stderr


def test_check(here, tmp_path):
    done = here.run("schema", "check", here / "bars.yaml")
    assert done.exit_code == 0 and "images, 4 x 5 x 1, of 3 classes" in done.stderr
    done = here.run("schema", "check", here / "bars.yaml", f"{here / 'bars.npz'}#test")
    assert done.exit_code == 0 and "All 200 images fit." in done.stdout
    np.savez(tmp_path / "bad.npz", images=images(4)[0], labels=np.array([0, 1, 77, 2]))
    done = here.run("schema", "check", here / "bars.yaml", tmp_path / "bad.npz")
    assert done.exit_code == 2 and "1 have a label that is not" in done.stdout
    assert "77" not in done.stdout
    done = here.run("schema", "check", here / "bars.yaml", tmp_path / "bad.npz", "--json")
    assert json.loads(done.stdout) == {"ok": False, "rows": 4, "unreadable": 0, "strange": 1}


def test_plan(here):
    done = here.run("plan", "-s", here / "bars.yaml", *COST, "--set", "spread=4")
    assert done.exit_code == 0 and "mean images" in done.stdout
    refused = here.run("plan", "-s", here / "bars.yaml", *COST[:4], "--method", "mosaic")
    assert refused.exit_code == 2 and "not from image data" in refused.stderr
    refused = here.run("plan", "-s", here / "bars.yaml", *COST, "--set", "colour=4")
    assert refused.exit_code == 2 and "no setting 'colour'" in refused.stderr


def test_fit_is_charged_and_says_what_is_next(here):
    said = (here / "fit.err").read_text()
    assert "Toy mean model of bars.npz" in said and "-o synthetic.npz" in said
    done = here.run("ledger", here / "budget.db", "--json")
    assert "Toy mean" in here.run("ledger", here / "budget.db").stdout + done.stdout
    assert nacre.load(here / "bars.nacre").settings["spread"] == 4


def test_show(here):
    done = here.run("show", here / "bars.nacre", "--verify")
    assert done.exit_code == 0, done.output
    assert "images of 4 x 5 pixels, gray, read from the rows" in done.stdout
    assert "label, 3 classes: 0, 1, 2" in done.stdout and "Verified" in done.stdout


def test_samples_are_the_same_in_every_form(here, tmp_path):
    def sample(name, *more):
        done = here.run("sample", here / "bars.nacre", "-n", "40", "-o", tmp_path / name,
                        "--seed", "3", *more)  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "40 synthetic images" in done.stderr
        return tmp_path / name

    pixels, labels = nacre.load(here / "bars.nacre").sample(40, seed=3)
    with np.load(sample("a.npz")) as found:
        assert np.array_equal(found["images"], pixels) and np.array_equal(found["labels"], labels)
    encoder = nacre.load(here / "bars.nacre").encoder
    table = pq.read_table(sample("a.parquet"))
    assert table["label"].to_pylist() == labels.tolist()
    for path in ("a.npz", "a.parquet", sample("folder").name):
        assert encoder.count(encoder.open(tmp_path / path)) == (40, 0, 0)
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["0", "1", "2"]
    for label in range(3):
        assert len(list((tmp_path / "folder" / str(label)).iterdir())) == (labels == label).sum()
    with Image.open(sample("sheet.png")) as sheet:
        # Three rows of ten images, 4 x 5 pixels with gaps of two, each sixteen times as large.
        assert sheet.size == (16 * (10 * 7 - 2), 16 * (3 * 6 - 2))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.npz", "a.parquet", "folder", "sheet.png"
    ]  # fmt: skip


def test_where_and_no_images(here, tmp_path):
    done = here.run("sample", here / "bars.nacre", "-n", "30", "-o", tmp_path / "a.npz",
                    "--where", "label=0,2")  # fmt: skip
    assert done.exit_code == 0, done.output
    with np.load(tmp_path / "a.npz") as found:
        assert set(found["labels"]) == {0, 2}
    done = here.run("sample", here / "bars.nacre", "-n", "0", "-o", tmp_path / "none.npz")
    with np.load(tmp_path / "none.npz") as found:
        assert found["images"].shape == (0, 4, 5) and found["labels"].shape == (0,)
    done = here.run("sample", here / "bars.nacre", "-n", "1", "-o", tmp_path / "b.npz",
                    "--where", "label=9")  # fmt: skip
    assert done.exit_code == 2 and "no class '9'" in done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.csv", "images are written to a .npz"),
        ("taken", "is no empty folder"),
        ("taken.npz", "is there already"),
        ("no/where", "There is no folder"),
    ],
)
def test_places_that_images_cannot_go_to(here, tmp_path, name, message):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("mine")
    (tmp_path / "taken.npz").write_text("mine")
    done = here.run("sample", here / "bars.nacre", "-n", "3", "-o", tmp_path / name)
    assert done.exit_code == 2 and message in done.stderr
    assert (tmp_path / "taken.npz").read_text() == "mine"


def test_nothing_is_left_of_a_sample_that_failed(here, tmp_path, monkeypatch):
    monkeypatch.setattr("nacre.rows.image.as_arrays", lambda *_: 1 / 0)
    for name in ("a.npz", "folder", "sheet.png"):
        done = here.run("sample", here / "bars.nacre", "-n", "3", "-o", tmp_path / name)
        assert done.exit_code == 1 and "ZeroDivisionError" in done.stderr
    assert not list(tmp_path.iterdir())


def test_evaluate(here, tmp_path, monkeypatch):
    short = functools.partial(Effort, steps=2, subsets=3, neighbors=50)
    monkeypatch.setattr("nacre.evaluate.images.run.Effort", lambda runs: short())
    here.run("sample", here / "bars.nacre", "-n", "60", "-o", tmp_path / "synthetic.npz")
    done = here.run(
        "evaluate", here / "bars.npz", tmp_path / "synthetic.npz", "-s", here / "bars.yaml",
        "--test", f"{here / 'bars.npz'}#test", "--metrics", "fid,membership",
        "--model", here / "bars.nacre", "-o", tmp_path / "report.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Confidential to the data holder")
    assert "FID on LeNet features" in done.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "ε = 5" in page and page.count("data:image/png") == 6
    done = here.run(
        "evaluate", here / "bars.npz", tmp_path / "no.npz", "-s", here / "bars.yaml",
        "-o", tmp_path / "other.html",
    )  # fmt: skip
    assert done.exit_code == 2 and "There is no file or folder" in done.stderr


def test_publish(here, tmp_path):
    done = here.run("publish", here / "bars.nacre", "-o", tmp_path / "public.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "public.html").read_text(encoding="utf-8")
    outline = Outline(page)
    assert not outline.mistakes and not outline.open
    words = " ".join(outline.words)
    assert words.index("Safe to publish") < words.index("How were these images made?")
    assert "No private image is on it" in words and "mean images" in words
    assert "Toy mean" in words and page.count("data:image/png") == 3
    again = here.run("publish", here / "bars.nacre", "-o", tmp_path / "again.html", "--json")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert json.loads(again.stdout)["synthetic"] == {"images": 1000, "seed": 0}
    refused = here.run("publish", here / "bars.nacre", "--data", here / "bars.npz",
                       "-o", tmp_path / "c.html")  # fmt: skip
    assert refused.exit_code == 2 and "Scores of private images cannot be bought" in refused.stderr
    refused = here.run("publish", here / "bars.nacre", "--synthetic", here / "bars.npz",
                       "-o", tmp_path / "c.html")  # fmt: skip
    assert refused.exit_code == 2 and "draws its own from the model" in refused.stderr
    assert not (tmp_path / "c.html").exists()
