"""PPEM's tables: what is scored, how a run is shown, and the Bernoulli plots."""

import numpy as np
import pyarrow as pa
import pytest
from bench.ppem import line
from bench.ppem.bernoulli import draw, shares
from bench.ppem.runs import settings
from bench.ppem.scores import Data, credit_scores

from nacre.schema import Boolean, Categorical, Real, Schema


def credit(n, seed, slope=1.0):
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    v = rng.normal(2.0 * fraud, 1.0)
    amount = slope * v + rng.normal(0, 0.1, n)
    return pa.table({"V1": v, "Amount": amount, "Class": np.where(fraud, "1", "0")})


def test_scores_are_of_models_taught_by_synthetic_rows():
    schema = Schema(
        {
            "V1": Real(low=-9, high=9),
            "Amount": Real(low=-9, high=9),
            "Class": Categorical(values=("0", "1")),
        },
        label="Class",
    )
    data = Data(credit(2000, 0), credit(2000, 1), schema)
    auroc, mse, r2 = credit_scores(credit(2000, 2), data)
    assert auroc > 0.85 and mse < 0.02 and r2 > 0.98
    _, mse, r2 = credit_scores(credit(2000, 2, slope=-1.0), data)  # the other way round
    assert mse > 3 and r2 < -2


def test_a_run_is_shown_beside_the_paper():
    found = {"scores": (0.9, 0.2, 0.8), "cpu_seconds": 50, "p_mmd": 0.002, "satisfied": True}
    said = line("credit", "2, ε = ∞", found)
    assert "0.900   0.200   0.800 |    0.922   0.184   0.822" in said
    assert "α-LMDP satisfied" in said and "50 s" in said
    assert "0.966" in line("credit", "wgan", None)


def test_without_noise_there_are_more_and_smaller_steps():
    assert settings("credit", np.inf, 0.5).conditional_steps == 1500
    for name in ("credit", "icd"):
        exact, noisy = (settings(name, epsilon, 1.0) for epsilon in (np.inf, 1.0))
        assert exact.conditional_steps > noisy.conditional_steps
        assert exact.conditional_batch < noisy.conditional_batch


def test_bernoulli_plots_are_of_yes_or_no_columns(tmp_path):
    schema = Schema({"a": Boolean(), "b": Boolean(), "x": Real(low=0, high=1)})
    real = pa.table({"a": [True, False], "b": [True, True], "x": [0.0, 1.0]})
    np.testing.assert_array_equal(shares(real, ["a", "b"]), [0.5, 1.0])
    draw("icd", "50, ε = ∞", real, Data(real, real, schema), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["icd-50-inf-bernoulli.svg"]
    other = Schema({"x": Real(low=0, high=1)})
    draw("icd", "x", real, Data(real, real, other), tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["credit", "icd"])
def test_everything_published_has_its_scores(name):
    from bench.ppem.published import HEADS, PUBLISHED

    assert {len(found) for found in PUBLISHED[name].values()} == {len(HEADS[name])}
