"""One contract for every method of images: gray and color, ledger, files, any n, bad images.

As most of a small fit is compiling, there are three of each method: of gray images, charged to a
ledger, which most tests share; of color, some of them bad, under replace-one; and without labels
and noise.
"""

import dataclasses
import functools
import math

import numpy as np
import pytest
from tests.methods.stepwise import asks_for_steps

import nacre
from nacre.ledger import Ledger
from nacre.methods import METHODS, find
from nacre.rebuilt import compare
from nacre.rows import ImageEncoder
from nacre.vault import epsilon_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*few for this budget"),
    pytest.mark.usefixtures("toys"),
]

# Forms of methods with settings of their own, by the names of their tests.
VARIANTS = {
    "merf-dense": ("merf", {"layers": "dense", "projection": "pca", "dimensions": 3}),
    "merf-minibatch": ("merf", {"release": "minibatch", "sample": 50}),
    "functional-features": ("functional", {"release": "features"}),
}
ALONE = [name for name in METHODS if "image" in find(name).data]
NAMES = (*ALONE, *VARIANTS, "toy-mean")
GRAY = nacre.ImageSchema(height=8, width=7, classes=3)
COLOR = nacre.ImageSchema(height=6, width=6, channels=3, classes=("cat", "dog"), label="animal")


def small(name):
    method, more = VARIANTS.get(name, (name, {}))
    return dataclasses.replace(find(method)(), **more).small()


@functools.cache
def epsilon(name):
    return 1.0 if asks_for_steps(small(name), ImageEncoder(GRAY)) else 50.0


def images(schema, n=240, seed=0):
    """Each class is bright in one stripe."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(schema.classes), n)
    pixels = rng.integers(0, 60, (n, *schema.shape))
    pixels[np.arange(n), labels] += 180
    shown = np.array(schema.classes)[labels] if not schema.numbered else labels
    return (pixels if schema.channels > 1 else pixels[..., 0]).astype(np.uint8), shown


def run(name, data, schema, **more):
    settings = {"epsilon": epsilon(name), "delta": 1e-6, "seed": 3, "rows": 240} | more
    return nacre.fit(data, schema, method=small(name), **settings)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory, toys):
    """One fit for each method, charged to a ledger; shared by all tests."""

    @functools.cache
    def once(name):
        ledger = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
        ledger.open("images", epsilon=1.5 * epsilon(name), delta=1e-5)
        return run(name, images(GRAY), GRAY, ledger=ledger, dataset="images"), ledger

    return once


@pytest.mark.parametrize("name", NAMES)
def test_images_come_back_as_arrays_of_the_schema(name, fitted):
    model, _ = fitted(name)
    for n in (0, 1, 37):
        drawn, labels = model.sample(n, seed=0)
        assert drawn.shape == (n, 8, 7) and drawn.dtype == np.uint8
        assert len(labels) == n and set(labels) <= {0, 1, 2}
    again = model.sample(37, seed=0)
    assert np.array_equal(again.images, drawn) and np.array_equal(again.labels, labels)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_can_be_asked_for(name, fitted):
    model, _ = fitted(name)
    present = np.unique(model.sample(200, seed=1).labels)
    for label in present[:2]:
        assert set(model.sample(20, seed=2, where={"label": int(label)}).labels) == {label}


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_is_what_is_released_and_the_ledger_has_it(name, fitted):
    model, ledger = fitted(name)
    cost = {"epsilon": epsilon(name), "delta": 1e-6, "rows": 240}
    planned = nacre.plan(GRAY, method=small(name), **cost)
    assert planned.releases == model.guarantee.releases
    found = epsilon_of(model.guarantee.releases, 1e-6, nacre.Adjacency.ADD_REMOVE)
    assert found <= epsilon(name) * (1 + 1e-6)
    (entry,) = ledger.history("images")
    assert [dict(r) for r in entry.releases] == [r.to_dict() for r in planned.releases]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_keeps_the_model(name, fitted, tmp_path):
    model, _ = fitted(name)
    model.save(tmp_path / "images.nacre")
    again = nacre.load(tmp_path / "images.nacre")
    assert again.certificate() == model.certificate()
    found = compare(again)
    # All that follows from settings is compared: what is left are conditions, in one line.
    assert not found.differences and len(found.left_out) == 1
    assert found.left_out[0].startswith("whether rows were checked first")
    assert again.sample_arrow(20, seed=1).equals(model.sample_arrow(20, seed=1))


@pytest.mark.parametrize("name", [*ALONE, "merf-minibatch"])
def test_color_and_replaced_rows_of_which_bad_ones_count_as_zero(name):
    pixels, labels = images(COLOR)
    labels = np.where(np.arange(len(labels)) < 5, "<script>", labels)
    with pytest.raises(ValueError, match="5 have a label that is not among the classes") as caught:
        run(name, (pixels, labels), COLOR, adjacency="replace-one")
    assert "<script>" not in str(caught.value)
    model = run(name, (pixels, labels), COLOR, adjacency="replace-one", bad_rows="zero")
    drawn, labels = model.sample(30, seed=0)
    assert drawn.shape == (30, 6, 6, 3) and set(labels) <= {"cat", "dog"}
    assert model.guarantee.adjacency == "replace-one" and not model.guarantee.checked


@pytest.mark.parametrize("name", ALONE)
def test_without_labels_and_without_noise(name):
    pixels, _ = images(GRAY)
    model = run(name, pixels, GRAY.with_label(None), epsilon=math.inf, delta=None)
    drawn, labels = model.sample(40, seed=0)
    assert labels is None and drawn.shape == (40, 8, 7)
    # The first three rows of pixels are each bright in a third of all images.
    assert drawn[:, :3].mean() > drawn[:, 3:].mean()
