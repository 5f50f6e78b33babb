"""A taught label keeps the shares of classes, whatever its tables say."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from nacre.fit import fit
from nacre.methods.mosaic.balance import balanced
from nacre.methods.mosaic.drawing import draw_rows
from nacre.methods.mosaic.drawn import Drawn
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    {
        "a": Integer(low=0, high=9),
        "b": Categorical(values=("u", "v", "w")),
        "y": Categorical(values=("no", "yes")),
    },
    label="y",
)


@pytest.fixture(scope="module")
def generator():
    rng = np.random.default_rng(0)
    rare = rng.random(2000) < 0.1
    frame = pd.DataFrame(
        {
            "a": np.where(rare, 8, rng.integers(0, 9, 2000)),
            "b": rng.choice(["u", "v", "w"], 2000),
            "y": np.where(rare, "yes", "no"),
        }
    )
    method = dataclasses.replace(Mosaic().small(), steps=40)
    return fit(frame, SCHEMA, method=method, epsilon=20, delta=1e-6, seed=0).generator


def share(generator):
    rng = np.random.default_rng(1)
    return generator.posterior(draw_rows(generator, 20_000, rng)[0])[:, 1].mean()


def test_a_fit_has_the_share_that_was_measured(generator):
    assert share(generator) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("wanted", [0.01, 0.5, 0.97])
def test_any_share_can_be_met(generator, wanted):
    drawn = Drawn.of(generator, 20_000, np.random.default_rng(2))
    found = balanced(generator, np.array([1 - wanted, wanted]), drawn)
    assert share(found) == pytest.approx(wanted, abs=0.02)
    assert np.array_equal(found.components, generator.components)
