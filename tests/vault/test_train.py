"""The door `train`: calibration by share, both adjacencies, order of charges."""

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

from nacre.errors import BudgetExceeded
from nacre.schema import Integer, Schema
from nacre.vault import Bound, Release, Vault, epsilon_of
from nacre.vault import vault as vault_module
from nacre.vault.doors.steps import Stage

SCHEMA = Schema(columns={"a": Integer(low=0, high=9)})
COUNT = Bound(segments=(), count=1.0)


def table(count=200):
    return pa.table({"a": np.arange(count) % 10})


def per_row(shared, earlier, row, key):
    return row.numbers / 65536.0


def train(vault, *, share=1.0, stages=None, steps=50, batch=100, rows=200, **more):
    settings = {"name": "training", "key": jax.random.key(0), "state": jnp.zeros(1)} | more
    return vault.train(
        prepare=lambda state, key: state,
        stages=stages or [Stage(per_row=per_row, clip=1.0)],
        update=lambda state, sums, key: sums[0],
        steps=steps,
        batch=batch,
        rows=rows,
        share=share,
        **settings,
    )


def open_vault(data=None, **more):
    return Vault(
        table() if data is None else data, SCHEMA, **{"epsilon": 1.0, "delta": 1e-5, **more}
    )


@pytest.fixture
def quick(monkeypatch):
    """A noise that fits the budget, without the search for the least."""

    def calibrated(self, rate, steps, share, name):
        return Release(
            name=name,
            mechanism="subsampled-gaussian",
            theorem="",
            adjacency=self.adjacency,
            size=1,
            sensitivity=1.0,
            noise=40.0,
            rate=rate,
            steps=steps,
        )

    monkeypatch.setattr(Vault, "_calibrated", calibrated)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_whole_share_spends_the_whole_budget(adjacency):
    vault = open_vault(adjacency=adjacency)
    train(vault)
    (release,) = vault.releases
    assert (release.rate, release.steps) == (0.5, 50)
    cost = epsilon_of(vault.releases, 1e-5, vault.adjacency)
    assert 0.98 < cost <= 1.0
    assert vault.guarantee().epsilon == cost
    vault.guarantee().verify()
    with pytest.raises(BudgetExceeded):
        vault.sum(lambda row: jnp.zeros(0, jnp.int32), COUNT, share=0.01, name="more")


def test_a_sum_and_the_rest():
    vault = open_vault()
    vault.sum(lambda row: jnp.zeros(0, jnp.int32), COUNT, share=0.3, name="count")
    train(vault, share=0.7)
    assert 0.98 < vault.guarantee().epsilon <= 1.0


def test_a_part_and_then_a_sum():
    vault = open_vault()
    train(vault, share=0.5)
    assert vault.guarantee().epsilon < 0.8
    vault.sum(lambda row: jnp.zeros(0, jnp.int32), COUNT, share=0.45, name="count")
    assert vault.guarantee().epsilon <= 1.0


def test_the_charge_comes_before_the_key(monkeypatch, quick):
    order = []
    vault = open_vault(charge=lambda release: order.append("charge"))
    real = vault_module.system_key
    monkeypatch.setattr(vault_module, "system_key", lambda: order.append("key") or real())
    train(vault)
    assert order == ["charge", "key"]


def test_no_key_without_a_charge(monkeypatch, quick):
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    monkeypatch.setattr(vault_module, "system_key", lambda: pytest.fail("a key was drawn"))
    vault = open_vault(charge=full)
    with pytest.raises(BudgetExceeded):
        train(vault)
    assert not vault.releases


def test_the_user_key_does_not_decide_the_noise(quick):
    first, second = (float(train(open_vault())[0]) for _ in range(2))
    assert first != second


def test_an_empty_table_is_trained_on_like_any_other(quick):
    empty = table(0)
    assert np.isfinite(np.asarray(train(open_vault(empty)))).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "at least 1"),
        ({"batch": 0}, "at least 1"),
        ({"state": jnp.zeros(2)}, "same structure, shapes"),
        ({"state": jnp.zeros(1, jnp.int32)}, "same structure, shapes"),
        ({"state": [jnp.zeros(1)]}, "same structure, shapes"),
        ({"stages": [Stage(per_row=per_row, clip=1.0, share=0.5)]}, "add up"),
        ({"stages": [Stage(per_row=per_row, clip=1.0)] * 2}, "add up"),
    ],
)
def test_arguments_that_make_no_sense(change, message, quick):
    vault = open_vault()
    with pytest.raises(ValueError, match=message):
        train(vault, **change)
    assert not vault.releases
