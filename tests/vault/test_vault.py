"""The door `sum`: what it releases, with what noise, and in which order it pays."""

import math

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest

from nacre.errors import BudgetExceeded
from nacre.rows import Source
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency, Bound, Segment, Vault, gaussian_mu, plan_sum
from nacre.vault import vault as vault_module

SCHEMA = Schema(columns={"a": Integer(low=0, high=65536), "y": Categorical(values=("p", "q"))})
BOUND = Bound(segments=(Segment(size=1, norm=65536.0, signed=False),), count=65536.0)
COUNTS = Bound(segments=(), by="y", count=1.0)


def table(count=300):
    rng = np.random.default_rng(0)
    return pa.table({"a": rng.integers(0, 65537, count), "y": rng.choice(["p", "q"], count)})


def open_vault(data=None, **more):
    settings = {"epsilon": 1.0, "delta": 1e-5} | more
    return Vault(table() if data is None else data, SCHEMA, **settings)


def numbers(row):
    return row.numbers


def nothing(row):
    return jnp.zeros(0, jnp.int32)


class Log(list):
    """Charges and draws of noise, in the order in which they happened."""

    def charge(self, release):
        self.append(("charge", release.name))

    def noise(self, sums, scale):
        self.append(("noise", scale))
        return np.asarray(sums)


@pytest.fixture
def log(monkeypatch):
    log = Log()
    monkeypatch.setattr(vault_module, "add_discrete_gaussian", log.noise)
    return log


def test_sums_and_counts_without_noise_are_exact(log):
    rows = table()
    vault = open_vault(rows)
    sums = vault.sum(numbers, BOUND, share=0.5, name="test")
    assert sums.values[0, 0] == pytest.approx(sum(rows["a"].to_pylist()), rel=1e-12)
    assert sums.total == pytest.approx(len(rows), rel=1e-12)


def test_noise_has_the_declared_scale():
    mu = gaussian_mu(1, 1e-5)
    bound = Bound(segments=(Segment(size=4000, norm=1.0),), count=0.5)
    vault = open_vault(table(3))
    sums = vault.sum(lambda row: jnp.zeros(4000), bound, share=0.5, name="test")
    wanted = math.sqrt(1.25) / (mu * math.sqrt(0.5))
    assert sums.noise[0] == pytest.approx(wanted, rel=1e-5)
    assert sums.values.std() == pytest.approx(wanted, rel=5 / math.sqrt(8000))
    assert sums.count_noise == pytest.approx(wanted / 0.5, rel=1e-5)
    assert sums.counts[0] == pytest.approx(3, abs=6 * sums.count_noise)


def test_noise_is_fresh_each_time():
    first, second = (
        open_vault(table(3)).sum(numbers, BOUND, share=1, name="test") for _ in range(2)
    )
    assert first.values[0, 0] != second.values[0, 0]


@pytest.mark.parametrize("norm", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1, 300])
def test_noise_is_at_least_2_to_the_16_grid_steps_a_square_root(log, norm, size):
    bound = Bound(segments=(Segment(size=size, norm=norm),))
    open_vault(epsilon=20.0).sum(lambda row: jnp.ones(size) * norm, bound, share=1, name="test")
    assert log[-1][1] >= 2**16 * math.sqrt(size)


def test_weights_of_segments_and_labels_are_undone(log):
    rows = table()
    bound = Bound(
        segments=(
            Segment(size=1, norm=1.0, weight=0.01),
            Segment(size=1, norm=1.0, signed=False, weight=7.0),
        ),
        by="y",
        count=0.3,
    )
    vault = open_vault(rows)
    sums = vault.sum(
        lambda row: jnp.full(2, row.numbers[0] / 65536.0), bound, share=1, name="t", weight=(1, 0.1)
    )
    for place, label in enumerate("pq"):
        mine = np.array([a for a, y in zip(*rows.to_pydict().values(), strict=True) if y == label])
        assert sums.values[place] == pytest.approx([mine.sum() / 65536] * 2, rel=1e-4)
        assert sums.counts[place] == pytest.approx(len(mine), rel=1e-4)


def test_label_weights_only_shrink_what_is_released(log, monkeypatch):
    seen = []
    monkeypatch.setattr(
        vault_module, "add_discrete_gaussian", lambda sums, scale: seen.append(sums) or sums
    )
    bound = Bound(segments=BOUND.segments, by="y", count=1.0)
    for weight in (None, (1, 0.25)):
        open_vault().sum(numbers, bound, share=1, name="t", weight=weight)
    plain, weighted = seen
    np.testing.assert_array_equal(weighted[0], plain[0])
    np.testing.assert_array_equal(weighted[1] * 4, plain[1])


@pytest.mark.parametrize("weight", [(1,), (1, 0), (1, 2), (1, math.nan)])
def test_label_weights_outside_their_range(weight):
    with pytest.raises(ValueError, match="weight"):
        open_vault().sum(nothing, COUNTS, share=1, name="t", weight=weight)


def test_the_charge_comes_before_the_noise(log):
    vault = open_vault(charge=log.charge)
    vault.sum(nothing, COUNTS, share=0.5, name="counts")
    assert [kind for kind, _ in log] == ["charge", "noise"]
    assert [release.name for release in vault.releases] == ["counts"]


def test_what_was_charged_stays_charged_if_the_noise_fails(monkeypatch):
    def broken(sums, scale):
        raise RuntimeError("no entropy")

    monkeypatch.setattr(vault_module, "add_discrete_gaussian", broken)
    charged = []
    vault = open_vault(charge=charged.append)
    with pytest.raises(RuntimeError):
        vault.sum(nothing, COUNTS, share=0.5, name="counts")
    assert [r.name for r in charged] == [r.name for r in vault.releases] == ["counts"]
    with pytest.raises(BudgetExceeded):
        vault.sum(nothing, COUNTS, share=0.6, name="more")


def test_no_noise_without_a_charge(log):
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    vault = open_vault(charge=full)
    with pytest.raises(BudgetExceeded):
        vault.sum(nothing, COUNTS, share=0.5, name="counts")
    assert not log and not vault.releases


def test_an_error_while_reading_spends_nothing(log):
    def broken():
        yield table().to_batches()[0]
        raise OSError("disk")

    source = Source("test", "arrow", None, broken)
    vault = open_vault(source, charge=log.charge)
    with pytest.raises(OSError):
        vault.sum(nothing, COUNTS, share=0.5, name="counts")
    assert not log and not vault.releases


def test_shares_that_add_up_to_more_than_one(log):
    vault = open_vault()
    for share in (0.5, 0.3, 0.2):
        vault.sum(nothing, COUNTS, share=share, name="counts")
    assert vault.guarantee().epsilon <= 1
    assert vault.guarantee().epsilon > 0.99999
    with pytest.raises(BudgetExceeded, match="shares"):
        vault.sum(nothing, COUNTS, share=0.001, name="one too many")
    assert len(log) == 3


@pytest.mark.parametrize("share", [0, -1, 1.1, math.nan])
def test_shares_outside_their_range(share):
    with pytest.raises(ValueError, match="share"):
        open_vault().sum(nothing, COUNTS, share=share, name="counts")


@pytest.mark.parametrize(
    "budget",
    [{"epsilon": 0}, {"epsilon": math.inf}, {"epsilon": math.nan}, {"delta": 0}, {"delta": 1}],
)
def test_budgets_that_mean_nothing(budget):
    with pytest.raises(ValueError, match=next(iter(budget))):
        open_vault(**budget)


def test_counting_rows():
    assert open_vault(rows=77).count(share=0.1) == 77
    public = open_vault(adjacency="replace-one")
    assert public.count(share=0.1) == 300 and not public.releases
    private = open_vault()
    found = private.count(share=0.5)
    assert len(private.releases) == 1
    assert found == private.count(share=0.5) and len(private.releases) == 1  # bought once
    assert abs(found - 300) < 6 * private.releases[0].noise


def test_the_plan_is_what_happens(log):
    vault = open_vault(adjacency="replace-one")
    vault.sum(numbers, BOUND, share=0.25, name="test")
    planned = plan_sum(BOUND, 1, 0.25, vault.mu, Adjacency.REPLACE_ONE, "test")
    assert vault.releases == (planned,)


def test_segments_too_far_apart_are_refused_before_reading(log):
    far = Bound(segments=(Segment(size=1, norm=2.0**-30), Segment(size=1, norm=2.0**20)))
    vault = open_vault(Source("test", "arrow", None, lambda: pytest.fail("rows were read")))
    with pytest.raises(ValueError, match="too far apart"):
        vault.sum(lambda row: jnp.zeros(2), far, share=1, name="test")


def test_huge_sums_are_clamped_silently(monkeypatch):
    # An error that depends on the rows would be an answer without noise.
    sums = np.array([2**61, -(2**61), 5])
    assert vault_module._scaled(sums, 2**10).tolist() == [2**62, -(2**62), 5 * 2**10]
    # A label's factor is part of the step: it is clamped too, never wrapped.
    steps = np.array([[2**8], [2**10]], np.int64)
    wide = vault_module._scaled(np.array([[2**57], [-(2**57)]], np.int64), steps)
    assert wide.tolist() == [[2**62], [-(2**62)]]


def test_drafts_are_composed_with_what_follows(log):
    first = plan_sum(COUNTS, 2, 0.5, gaussian_mu(1, 1e-5), Adjacency.ADD_REMOVE, "draft")
    drafted = Schema(SCHEMA.columns, provenance="private", releases=(first.to_dict(),))
    vault = Vault(table(), drafted, epsilon=1, delta=1e-5)
    vault.sum(nothing, COUNTS, share=1, name="rest")
    mine = vault.releases[1].multiplier ** -2
    assert first.multiplier**-2 + mine == pytest.approx(gaussian_mu(1, 1e-5) ** 2, rel=1e-3)
    assert vault.guarantee().epsilon <= 1
    with pytest.raises(ValueError, match="adjacency"):
        Vault(table(), drafted, epsilon=1, delta=1e-5, adjacency="replace-one")


def test_labels_must_have_a_list_of_values():
    with pytest.raises(ValueError, match="cannot be a label"):
        open_vault().sum(nothing, Bound(segments=(), by="a", count=1.0), share=1, name="t")
