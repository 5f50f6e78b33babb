"""Key discovery: frequent values come out, rare ones never do, and (epsilon, delta) is charged."""

import pyarrow as pa
import pytest

from nacre.errors import BudgetExceeded
from nacre.schema import Categorical, Schema
from nacre.vault import Adjacency, Vault
from nacre.vault.doors.keys import _calibrated

SCHEMA = Schema(columns={"kind": Categorical(values=("anything",), other=True)})
KINDS = ["often"] * 3000 + [" spaced "] * 3000 + [None] * 3000 + [f"rare {i}" for i in range(200)]


def open_vault(**more):
    return Vault(pa.table({"kind": KINDS}), SCHEMA, **{"epsilon": 1.0, "delta": 1e-5, **more})


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_frequent_values_only(adjacency):
    for _ in range(5):
        vault = open_vault(adjacency=adjacency)
        assert vault.keys("kind", epsilon=0.5, delta=1e-6) == ("often", "spaced")
        (release,) = vault.releases
        assert (release.mechanism, release.epsilon, release.delta) == ("approximate", 0.5, 1e-6)
        assert vault.guarantee().epsilon == 0.5


def test_keys_and_what_follows_share_a_budget():
    vault = open_vault()
    vault.keys("kind", epsilon=0.6, delta=1e-6)
    with pytest.raises(BudgetExceeded):
        vault.keys("kind", epsilon=0.6, delta=1e-6)
    with pytest.raises(BudgetExceeded):
        vault.keys("kind", epsilon=0.1, delta=1e-5)
    assert len(vault.releases) == 1


def test_a_refused_charge_means_no_answer():
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    vault = open_vault(charge=full)
    with pytest.raises(BudgetExceeded):
        vault.keys("kind", epsilon=0.5, delta=1e-6)
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
    measurement = _calibrated(1.0, 1e-6, adjacency)
    assert not any(measurement({"secret": 1, "other": 1}) for _ in range(200))
