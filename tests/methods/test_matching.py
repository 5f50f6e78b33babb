"""PEARL and DP-MERF: what their networks and kernels learn, and which settings they refuse."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.embed.fourier import row_frequencies
from nacre.methods.merf import MERF
from nacre.methods.pearl import PEARL
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Real, Schema

ROWS = 4000
SCHEMA = Schema(
    {
        "x": Real(low=0, high=1),
        "color": Categorical(values=("red", "green", "blue")),
        "y": Categorical(values=("no", "yes")),
    },
    label="y",
)
GENEROUS = {"epsilon": 30, "delta": 1e-6, "seed": 1}


@pytest.fixture(scope="module")
def linked():
    """A label that decides the number and the color, nearly."""
    rng = np.random.default_rng(0)
    y = rng.random(ROWS) < 0.3
    x = np.clip(rng.normal(np.where(y, 0.75, 0.25), 0.08), 0, 1)
    color = np.where(rng.random(ROWS) < 0.9, np.where(y, "blue", "red"), "green")
    return pd.DataFrame({"x": x, "color": color, "y": np.where(y, "yes", "no")})


def test_a_critic_is_for_networks_unless_it_is_asked_for():
    rng, encoder = np.random.default_rng(0), TableEncoder.of(SCHEMA)
    drawn = row_frequencies(encoder.layout, width=4, blocks=2, columns=[0, 1], scale=1.0, rng=rng)
    wanted = {("auto", "mixture"): False, ("scale", "mixture"): True, ("auto", "network"): True}
    for (critic, generator), there in wanted.items():
        method = PEARL(critic=critic, generator=generator, frequencies_on="row").suited(encoder)
        found = method._critic(drawn, [0, 1], images=False)
        assert [each is not None for each in found] == [there] * 2
    assert PEARL.as_published().critic == "scale"


@pytest.mark.parametrize(
    "method",
    [
        PEARL(generator="network", frequencies_on="row", frequencies=200, blocks=2, critic="free"),
        PEARL(generator="network", frequencies_on="row", frequencies=200, modes=2),
        MERF(generator="network", frequencies_on="row", frequencies=100, balance="class"),
        PEARL(
            generator="network",
            frequencies_on="row",
            frequencies=200,
            blocks=2,
            projection="pca",
            dimensions=3,
        ),
    ],
    ids=["pearl-row-free", "pearl-row-modes", "merf-row", "pearl-pca"],
)
def test_a_network_learns_what_the_label_decides(method, linked):
    quick = dataclasses.replace(method, steps=400, batch=256)
    drawn = nacre.fit(linked, SCHEMA, method=quick, **GENEROUS).sample(2000, seed=0)
    assert (drawn["y"] == "yes").mean() == pytest.approx(0.3, abs=0.02)
    means = drawn.groupby("y")["x"].mean()
    assert means["no"] == pytest.approx(0.25, abs=0.06)
    assert means["yes"] == pytest.approx(0.75, abs=0.06)
    blue = (drawn["color"] == "blue").groupby(drawn["y"]).mean()
    assert blue["yes"] > 0.75 and blue["no"] < 0.15


@pytest.mark.parametrize("generator", ["mixture", "network"])
def test_a_numeric_label_and_codes_are_learned_together(generator):
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue"], ROWS)
    center = pd.Series(color).map({"red": 0.15, "green": 0.5, "blue": 0.85})
    table = pd.DataFrame({"color": color, "x": np.clip(rng.normal(center, 0.05), 0, 1)})
    schema = SCHEMA.select(["color", "x"]).with_label("x")
    method = MERF(generator=generator, frequencies=80, components=12, steps=500, batch=256)
    drawn = nacre.fit(table, schema, method=method, **GENEROUS).sample(2000, seed=0)
    means = drawn.groupby("color")["x"].mean()
    assert means["red"] < 0.3 < means["green"] < 0.7 < means["blue"]


def test_classes_can_be_under_sampled(linked):
    for generator in ("mixture", "network"):
        method = PEARL(generator=generator, class_weights=(0.25, 1.0)).small()
        drawn = nacre.fit(linked, SCHEMA, method=method, **GENEROUS).sample(1000, seed=0)
        # 0.7 * 0.25 against 0.3
        assert (drawn["y"] == "yes").mean() == pytest.approx(0.3 / 0.475, abs=0.08)


def test_few_rows_mean_few_frequencies():
    method = PEARL(frequencies=4000, blocks=8)
    assert method.count(None, 2) == 4000
    assert method.count(10**6, 2) == 4000
    assert 8 <= method.count(500, 2) < 200
    assert method.count(1, 2) % 8 == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"generator": "tree"}, "mixture"),
        ({"critic": "loud"}, "off"),
        ({"modes": 3}, "network"),
        ({"projection": "pca", "frequencies_on": "pairs"}, "frequencies_on"),
        ({"projection": "pca", "frequencies_on": "row", "bandwidth": 0.1}, "bandwidth"),
        ({"class_weights": (0.0, 1.0)}, "class_weights"),
        ({"generator": "network", "modes": 3, "modes_share": 0.6, "bandwidth": 0.4}, "budget"),
    ],
)
def test_settings_that_could_not_be_served_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        PEARL(**settings)


def test_class_weights_for_another_label_are_refused_before_anything_is_spent(linked):
    with pytest.raises(ValueError, match="2 values"):
        nacre.plan(SCHEMA, method=PEARL(class_weights=(1.0, 0.5, 0.5)), epsilon=1, delta=1e-6)
