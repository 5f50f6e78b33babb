"""DP-MERF on codes: what is asked, that both halves of the autoencoder are learnt and used."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.methods.autoencoder import Anchors, draw_anchors
from nacre.methods.codes import code_autoencoder
from nacre.methods.merf import MERF
from nacre.methods.pearl import PEARL
from nacre.nets.layers import run
from nacre.nets.vector import RowVector
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Real, Schema
from nacre.vault import Adjacency, Steps, Sum, Vault

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SCHEMA = Schema(
    {
        "x": Real(low=0, high=1),
        "color": Categorical(values=("red", "green", "blue")),
        "y": Categorical(values=("no", "yes")),
    },
    label="y",
)
ENCODER = TableEncoder(SCHEMA)
VECTOR = RowVector(ENCODER.layout, 1)
SMALL = MERF.with_autoencoder().small()
ROWS = 2000


def questions(method=SMALL, schema=SCHEMA, rows: int | None = 1000):
    return method.questions(TableEncoder(schema), Adjacency.ADD_REMOVE, rows)


# -- questions ---------------------------------------------------------------------------------


def test_steps_and_one_sum_are_asked():
    training, embedding = questions()
    assert isinstance(training, Steps) and isinstance(embedding, Sum)
    assert training.share + embedding.share == pytest.approx(1)
    (stage,) = training.stages
    assert stage.clip == SMALL.autoencoder_clip
    assert embedding.bound.by == ENCODER.label


def test_a_private_number_of_rows_is_bought():
    asked = questions(rows=None)
    names = ["number of rows", "autoencoder", "mean embedding"]
    assert [question.name for question in asked] == names
    assert sum(question.share for question in asked) == pytest.approx(1)


@pytest.mark.parametrize("hidden", [(), (8,), (12, 6)])
def test_gradients_of_encoder_and_decoder_are_released_and_announced(hidden):
    method = dataclasses.replace(SMALL, encoder_hidden=hidden, decoder_hidden=hidden[:1])
    autoencoder = code_autoencoder(method, VECTOR)
    program = autoencoder.program(lambda row: (VECTOR.of(row), 0), 100, np.random.default_rng(0))
    key = jax.random.key(0)
    shapes = jax.eval_shape(
        program.per_row[0], program.prepare(program.state, key), (), ENCODER.shape, key
    )
    assert set(shapes) == {"encoder", "decoder"}
    sizes = [math.prod(shape.shape) for shape in jax.tree.leaves(shapes)]
    assert sum(sizes) == questions(method)[0].size


# -- anchors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "code"), [(2, 2), (3, 16), (10, 4), (3, 1)])
def test_anchors_are_apart(classes, code):
    points = draw_anchors(classes, code, 5.0, np.random.default_rng(0)).astype(np.float64)
    apart = np.linalg.norm(points[:, None] - points, axis=2)[np.triu_indices(classes, 1)]
    if classes <= code:
        np.testing.assert_allclose(apart, 10, rtol=1e-4)
    assert apart.min() > 0.5


def test_a_code_is_drawn_to_its_own_anchor_and_pushed_from_others():
    anchors = Anchors(np.array([[0, 0], [3, 0], [20, 0]], np.float32), 5.0)
    # 9 from its own (4 too far), 6 and 11 from the others: far enough.
    assert anchors(jnp.array([9.0, 0.0]), 0) == pytest.approx(4, abs=1e-3)
    # 1 from its own; 2 from the second (3 too near), 19 from the third.
    assert anchors(jnp.array([1.0, 0.0]), 0) == pytest.approx(3, abs=1e-3)
    assert anchors(jnp.array([1.0, 0.0]), 2) == pytest.approx(14 + 4 + 3, abs=1e-3)
    slope = jax.grad(lambda code: anchors(code, 0))(jnp.zeros(2))
    assert jnp.isfinite(slope).all()


# -- what is learnt ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """A model without noise, and what the autoencoder's training ended with."""
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.3
    x = np.clip(rng.normal(np.where(y, 0.75, 0.25), 0.08), 0, 1)
    color = np.where(rng.random(ROWS) < 0.9, np.where(y, "blue", "red"), "green")
    table = pd.DataFrame({"x": x, "color": color, "y": np.where(y, "yes", "no")})
    method = dataclasses.replace(
        SMALL,
        dimensions=4,
        frequencies=100,
        blocks=1,
        autoencoder_steps=300,
        autoencoder_batch=128,
        autoencoder_clip=1.0,
        autoencoder_rate=0.02,
        steps=300,
        batch=256,
    )
    states, train = [], Vault.train

    def kept(*arguments, **more):
        states.append(train(*arguments, **more))
        return states[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Vault, "train", kept)
        model = nacre.fit(table, SCHEMA, method=method, epsilon=math.inf, rows=ROWS, seed=1)
    return model, states[0]["average"]


def test_the_encoder_puts_classes_apart_and_the_decoder_reads_rows_from_codes(fitted):
    _, trained = fitted
    method = dataclasses.replace(SMALL, dimensions=4)
    autoencoder = code_autoencoder(method, VECTOR)
    rows = np.array([[0.25, 1, 0, 0], [0.75, 0, 0, 1]], np.float32)  # what no and yes go with
    codes = run(autoencoder.encoder, trained["encoder"], rows, jnp)
    assert jnp.linalg.norm(codes[0] - codes[1]) > 0.8 * method.margin
    chances = VECTOR.chances(run(autoencoder.decoder, trained["decoder"], codes, jnp))
    assert chances[0, 0] < 0.4 and chances[1, 0] > 0.6
    assert chances[0, 1] > 0.6 and chances[1, 3] > 0.6


def test_rows_come_out_of_the_private_decoder(fitted):
    model, trained = fitted
    last = model.generator.arrays[-len(trained["decoder"]) :]
    for own, expected in zip(last, trained["decoder"], strict=True):
        for name, value in expected.items():
            np.testing.assert_array_equal(own[name], value)


def test_it_learns_what_the_label_decides(fitted):
    drawn = fitted[0].sample(2000, seed=0)
    assert (drawn["y"] == "yes").mean() == pytest.approx(0.3, abs=0.02)
    means = drawn.groupby("y")["x"].mean()
    assert means["no"] == pytest.approx(0.25, abs=0.08)
    assert means["yes"] == pytest.approx(0.75, abs=0.08)
    blue = (drawn["color"] == "blue").groupby(drawn["y"]).mean()
    assert blue["yes"] > 0.7 and blue["no"] < 0.2


def test_its_file_brings_the_same_rows(fitted, tmp_path):
    path = tmp_path / "model.nacre"
    fitted[0].save(path)
    assert nacre.load(path).sample(50, seed=2).equals(fitted[0].sample(50, seed=2))


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"generator": "mixture"}, "network"),
        ({"frequencies_on": "pairs"}, "frequencies_on"),
        ({"modes": 3}, "modes"),
        ({"bandwidth": 0.1}, "bandwidth"),
        ({"release": "minibatch"}, "projection"),
        ({"encoder_hidden": (60, 0)}, "encoder_hidden"),
        ({"decoder_hidden": (True,)}, "decoder_hidden"),
        ({"code_hidden": (8,) * 9}, "at most 8"),
        ({"code_hidden": 8}, "code_hidden"),
    ],
)
def test_settings_that_could_not_be_served_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(SMALL, **settings)


def test_other_methods_have_no_autoencoder():
    with pytest.raises(ValueError, match="pca"):
        PEARL(generator="network", frequencies_on="row", projection="autoencoder")  # type: ignore[arg-type]
