"""Images through the same road: a method and a generator in one file."""

import numpy as np
import pytest
from tests.methods.toy_image import ToyMean

import nacre
from nacre.ledger import Ledger
from nacre.rows import ImageEncoder

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*few for this budget"),
    pytest.mark.usefixtures("toys"),
]

SCHEMA = nacre.ImageSchema(height=4, width=4, classes=3)
COST = {"epsilon": 5.0, "delta": 1e-6}


def images(n=900, seed=0):
    """Class c is bright in row c."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    pixels = rng.integers(0, 20, (n, 4, 4))
    pixels[np.arange(n), labels] += 200
    return pixels.astype(np.uint8), labels


@pytest.fixture(scope="module", params=nacre.Adjacency)
def fitted(request, tmp_path_factory, toys):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
    ledger.open("images", epsilon=6, delta=1e-5, composition="gaussian", adjacency=request.param)
    return ledger, nacre.fit(
        images(),
        SCHEMA,
        method="toy-mean",
        adjacency=request.param,
        ledger=ledger,
        dataset="images",
        **COST,
    )


def test_the_road_from_images_to_images(fitted):
    _, model = fitted
    drawn, labels = model.sample(300, seed=0)
    assert drawn.shape == (300, 4, 4) and drawn.dtype == np.uint8
    for label in range(3):
        mine = drawn[labels == label].mean(0)
        assert mine[label].min() > 150 > 60 > np.delete(mine, label, 0).max()
    assert model.guarantee.epsilon == pytest.approx(5, rel=1e-6)
    model.guarantee.verify()
    with pytest.raises(ValueError, match="no model of a table"):
        _ = model.schema


def test_any_number_and_any_label_can_be_asked_for(fitted):
    _, model = fitted
    assert model.sample(0).images.shape == (0, 4, 4) and len(model.sample(0).labels) == 0
    assert model.sample_arrow(0).column_names == ["image", "label"]
    assert set(model.sample(20, where={"label": 2}).labels) == {2}
    assert set(model.sample(60, where={"label": ["0", 1]}).labels) == {0, 1}
    with pytest.raises(ValueError, match="no class '7'. The classes are: 0, 1, 2"):
        model.sample(1, where={"label": 7})
    with pytest.raises(ValueError, match="by 'label' only, not by 'sex'"):
        model.sample(1, where={"sex": "Female"})


def test_the_plan_is_what_is_released_and_the_ledger_has_it(fitted):
    ledger, model = fitted
    adjacency = model.guarantee.adjacency
    planned = nacre.plan(SCHEMA, method="toy-mean", adjacency=adjacency, **COST)
    assert planned.releases == model.guarantee.releases
    (entry,) = ledger.history("images")
    assert (entry.status, entry.method) == ("finished", "Toy mean")
    assert [dict(r) for r in entry.releases] == [r.to_dict() for r in planned.releases]


def test_a_file_keeps_the_model(fitted, tmp_path):
    _, model = fitted
    model.save(tmp_path / "images.nacre")
    again = nacre.load(tmp_path / "images.nacre")
    assert again.encoder.schema == SCHEMA
    assert again.certificate() == model.certificate()
    assert again.sample_arrow(30, seed=1).equals(model.sample_arrow(30, seed=1))


def test_bad_rows_count_as_zero():
    found, labels = images(60)
    hostile = np.where(np.arange(60) % 5 == 0, 99, labels)
    with pytest.raises(ValueError, match="12 have a label that is not among the classes"):
        nacre.fit((found, hostile), SCHEMA, method=ToyMean(), **COST)
    model = nacre.fit((found, hostile), SCHEMA, method=ToyMean(), bad_rows="zero", **COST)
    assert set(model.sample(200).labels) <= {0, 1, 2}


def test_methods_and_data_must_suit_each_other():
    with pytest.raises(ValueError, match="Mosaic learns from table data, not from image data"):
        nacre.plan(SCHEMA, method="mosaic", **COST)
    schema = nacre.Schema({"x": nacre.Boolean()})
    with pytest.raises(ValueError, match="Toy mean learns from image data"):
        nacre.plan(schema, method="toy-mean", **COST)
    with pytest.raises(ValueError, match="An encoder has its own label"):
        nacre.plan(ImageEncoder(SCHEMA), method="toy-mean", label=None, **COST)
