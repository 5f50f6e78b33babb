"""Shadow models: a method without noise gives its rows away, one with noise does not."""

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.errors import NacreError
from nacre.evaluate.shadow import PROVES, Shadow, _guesses, shadow_attack
from nacre.methods import find
from nacre.methods.merf import MERF
from nacre.schema import Categorical, Real, Schema

SCHEMA = Schema(
    {
        "wage": Real(low=0, high=1000),
        "job": Categorical(values=("a", "b", "c", "rare")),
    }
)
METHOD = MERF(frequencies=20, steps=5, components=4)


def people():
    """Fifty alike, and one who stands out."""
    rng = np.random.default_rng(0)
    wages = np.append(rng.uniform(0, 50, 50), 1000.0)
    return pd.DataFrame({"wage": wages, "job": [*rng.choice(["a", "b", "c"], 50), "rare"]})


@pytest.mark.filterwarnings("ignore")
def test_a_method_without_noise_is_found_out():
    """Six fits of a graphical model show who has the rare job, every time."""
    model = nacre.fit(people(), SCHEMA, method=find("mst")().small(), epsilon=np.inf)
    found = shadow_attack(people(), SCHEMA, model, targets=1, runs=6)
    assert found.fits == 12
    assert found.area == 1.0
    assert found.error > 0.2  # three against three: it could be luck, one time in twenty


def test_words_follow_from_numbers():
    numbers = {"targets": 3, "fits": 72, "error": 0.05, "claimed": 1.0}
    silent = Shadow(area=0.52, epsilon=0.0, **numbers).finding()
    assert silent.level == "note" and silent.text.endswith(PROVES)
    loud = Shadow(area=0.99, epsilon=2.5, **numbers).finding()
    assert loud.level == "avoid" and "2.50" in loud.text
    assert Shadow(area=0.9, epsilon=0.5, **numbers).finding().level == "care"


def test_guesses_learn_on_one_half_and_are_made_on_the_other():
    rng = np.random.default_rng(0)
    without, present = rng.normal(0, 1, (20, 5)), rng.normal(3, 1, (20, 5))
    zeros, ones = _guesses(without, present)
    assert len(zeros) == len(ones) == 10 and ones.min() > zeros.max()


def test_it_needs_the_model():
    table = people()
    for settings in ({}, {"guarantee": {"epsilon": 1.0, "delta": 1e-6}}):
        with pytest.raises(NacreError, match="give the model"):
            nacre.evaluate(table, table, SCHEMA, metrics=["tv1"], shadow=1, **settings)
    with pytest.raises(NacreError, match="number of rows"):
        nacre.evaluate(table, table, SCHEMA, metrics=["tv1"], shadow=-1)


@pytest.mark.filterwarnings("ignore")  # of few rows, which are meant to be few
def test_the_report_says_it(monkeypatch):
    from nacre.evaluate import run

    def quick(*given, **settings):
        return shadow_attack(*given, **settings, runs=4)

    monkeypatch.setattr(run, "shadow_attack", quick)
    table = people()
    model = nacre.fit(table, SCHEMA, method=METHOD, epsilon=1, delta=1e-6)
    found = nacre.evaluate(
        table, model.sample(60), SCHEMA, metrics=["tv1"], guarantee=model, shadow=1
    )
    said = [f for f in found.findings["synthetic"] if "with and without" in f.text]
    assert len(said) == 1
    assert "models were fitted with and without" in found.to_html()
