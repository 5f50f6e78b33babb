"""Key discovery: frequent values come out, rare ones never do, and (epsilon, delta) is charged."""

import dataclasses

import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.errors import BudgetExceeded
from nacre.schema import Categorical, Schema
from nacre.vault import Adjacency, Keys, count_question, gaussian_mu
from nacre.vault.doors.keys import _calibrated

SCHEMA = Schema(columns={"kind": Categorical(values=("anything",), other=True)})
KINDS = ["often"] * 3000 + [" spaced "] * 3000 + [None] * 3000 + [f"rare {i}" for i in range(200)]


QUESTION = Keys(name="values", column="kind", epsilon=0.5, delta=1e-10)
TABLE = pa.table({"kind": KINDS})


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_frequent_values_only(adjacency):
    for _ in range(5):
        vault = open_vault(TABLE, SCHEMA, QUESTION, adjacency=adjacency)
        assert vault.keys(QUESTION) == ("often", "spaced")
        (release,) = vault.releases
        assert (release.mechanism, release.epsilon, release.delta) == ("approximate", 0.5, 1e-10)
        assert vault.guarantee().epsilon == 0.5


def test_keys_and_what_follows_share_a_budget():
    count = count_question(1.0)
    vault = open_vault(TABLE, SCHEMA, QUESTION, count)
    vault.keys(QUESTION)
    vault.count(count)
    # What the keys leave, in epsilon and in delta, the rest spends.
    assert vault.releases[1].mu == pytest.approx(gaussian_mu(0.5, 1e-5 - 1e-10), rel=1e-4)
    assert 0.999 < vault.guarantee().epsilon <= 1


@pytest.mark.parametrize("change", [{"epsilon": 1.1}, {"delta": 2e-5}])
def test_keys_beyond_the_budget_are_refused_by_the_plan(change):
    with pytest.raises(ValueError, match="costs more than epsilon=1"):
        open_vault(TABLE, SCHEMA, dataclasses.replace(QUESTION, **change))
    with pytest.raises(ValueError, match="used the budget up"):
        open_vault(TABLE, SCHEMA, dataclasses.replace(QUESTION, **change), count_question(1.0))


def test_a_refused_charge_means_no_answer():
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    vault = open_vault(TABLE, SCHEMA, QUESTION, charge=full)
    with pytest.raises(BudgetExceeded):
        vault.keys(QUESTION)
    assert not vault.releases


@pytest.mark.parametrize(("adjacency", "changed"), list(zip(Adjacency, (1, 2), strict=True)))
def test_noise_and_threshold_are_the_least_that_the_privacy_map_accepts(adjacency, changed):
    measurement = _calibrated(0.5, 1e-6, adjacency)
    epsilon, delta = measurement.map((changed, changed, 1))
    assert 0.4999 < epsilon <= 0.5
    assert 1e-7 < delta <= 1e-6


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_value_held_by_one_row_never_comes_out(adjacency):
    # The threshold is log(1 / delta) / epsilon or so above one: 400 chances, each below delta.
    measurement = _calibrated(1.0, 1e-10, adjacency)
    assert not any(measurement({"secret": 1, "other": 1}) for _ in range(200))
