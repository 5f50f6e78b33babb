"""The door `sum`: what it releases, with what noise, and in which order it pays."""

import math

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.errors import BudgetExceeded, NacreError
from nacre.rows import Label, Source
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Bound, Segment, Sum, count_question, gaussian_mu
from nacre.vault.doors import grid
from nacre.vault.doors import sum as sum_door
from nacre.vault.exact_sum import ExactSum

SCHEMA = Schema(columns={"a": Integer(low=0, high=65536), "y": Categorical(values=("p", "q"))})
Y = Label("y", 2)
BOUND = Bound(segments=(Segment(size=1, norm=65536.0, signed=False),), count=65536.0)
COUNTS = Bound(segments=(), by=Y, count=1.0)


def table(count=300):
    rng = np.random.default_rng(0)
    return pa.table({"a": rng.integers(0, 65537, count), "y": rng.choice(["p", "q"], count)})


def question(bound=COUNTS, **more):
    return Sum(**{"name": "test", "share": 1.0, "bound": bound, **more})


def numbers(row):
    return row.numbers


def nothing(row):
    return jnp.zeros(0, jnp.int32)


def ask(features, bound, data=None, *, weight=None, **more):
    """The answer to one question that is the whole plan."""
    asked = question(bound, weight=weight)
    return open_vault(table() if data is None else data, SCHEMA, asked, **more).sum(asked, features)


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
    monkeypatch.setattr(sum_door, "add_discrete_gaussian", log.noise)
    return log


def test_sums_and_counts_without_noise_are_exact(log):
    rows = table()
    sums = ask(numbers, BOUND, rows)
    assert sums.values[0, 0] == pytest.approx(sum(rows["a"].to_pylist()), rel=1e-12)
    assert sums.total == pytest.approx(len(rows), rel=1e-12)


def test_noise_has_the_declared_scale():
    mu = gaussian_mu(1, 1e-5)
    bound = Bound(segments=(Segment(size=4000, norm=1.0),), count=0.5)
    half, rest = question(bound, share=0.5), question(share=0.5, name="rest")
    vault = open_vault(table(3), SCHEMA, half, rest)
    sums = vault.sum(half, lambda row: jnp.zeros(4000))
    wanted = math.sqrt(1.25) / (mu * math.sqrt(0.5))
    assert vault.releases[0].noise == vault.noise(half) == pytest.approx(wanted, rel=1e-5)
    assert sums.noise[0] == pytest.approx(wanted, rel=1e-5)
    assert sums.values.std() == pytest.approx(wanted, rel=5 / math.sqrt(8000))
    assert sums.count_noise == pytest.approx(wanted / 0.5, rel=1e-5)
    assert sums.counts[0] == pytest.approx(3, abs=6 * sums.count_noise)


def test_noise_is_fresh_each_time():
    first, second = (ask(numbers, BOUND, table(3)) for _ in range(2))
    assert first.values[0, 0] != second.values[0, 0]


@pytest.mark.parametrize("norm", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1, 300])
def test_noise_is_at_least_2_to_the_24_grid_steps_a_square_root(log, norm, size):
    for by, weight in ((None, None), (Y, (1.0, 0.3))):  # labels' weights make a finer grid, or not
        bound = Bound(segments=(Segment(size=size, norm=norm),), by=by)
        ask(lambda row: jnp.ones(size) * norm, bound, epsilon=20.0, weight=weight)
        assert log[-1][1] >= 2**24 * math.sqrt(size)


@pytest.mark.parametrize("epsilon", [0.02, 1.0])
def test_millions_of_persons_fit_into_one_cell_of_weighted_counts(epsilon):
    """Parts of persons are fine steps; counts with weights, many of them, are not to reach 2^62."""
    schema = Schema(columns=SCHEMA.columns, unit={"column": "who", "rows": 3})
    asked = question(Bound(segments=(Segment(size=9, norm=4096.0, signed=False),), by=Y))
    rows = table(3).append_column("who", pa.array([0, 1, 2]))
    vault = open_vault(rows, schema, asked, epsilon=epsilon)

    def features(row):
        return jnp.zeros(1, jnp.int32), jnp.full(1, 4096, jnp.int32)

    exact = ExactSum(features, asked.bound, vault.encoder)
    lattice = grid.Grid.of(asked, vault.plan.find(asked).release, exact)
    persons = np.full((2, 9), 30_000_000 * 4096 * exact.whole, np.int64)
    values, _ = lattice.values(lattice.integers(persons, np.zeros(2, np.int64)))
    assert values / 4096 == pytest.approx(np.full((2, 9), 3e7), rel=1e-9)


def test_a_sum_that_is_cut_off_says_so(monkeypatch):
    monkeypatch.setattr(sum_door, "add_discrete_gaussian", lambda sums, scale: sums)
    with pytest.warns(UserWarning, match="cut off"):
        monkeypatch.setattr(
            ExactSum, "over", lambda *_: (np.full((1, 1), 1 << 61), np.zeros(1, np.int64))
        )
        ask(numbers, BOUND)


def test_weights_of_segments_and_labels_are_undone(log):
    rows = table()
    bound = Bound(
        segments=(
            Segment(size=1, norm=1.0, weight=0.01),
            Segment(size=1, norm=1.0, signed=False, weight=7.0),
        ),
        by=Y,
        count=0.3,
    )
    sums = ask(lambda row: jnp.full(2, row.numbers[0] / 65536.0), bound, rows, weight=(1.0, 0.1))
    for place, label in enumerate("pq"):
        mine = np.array([a for a, y in zip(*rows.to_pydict().values(), strict=True) if y == label])
        assert sums.values[place] == pytest.approx([mine.sum() / 65536] * 2, rel=1e-4)
        assert sums.counts[place] == pytest.approx(len(mine), rel=1e-4)


def test_label_weights_only_shrink_what_is_released(monkeypatch):
    seen = []
    monkeypatch.setattr(
        sum_door, "add_discrete_gaussian", lambda sums, scale: seen.append(sums) or sums
    )
    bound = Bound(segments=BOUND.segments, by=Y, count=1.0)
    for weight in ((1.0, 1.0), (1.0, 0.25)):
        ask(numbers, bound, weight=weight)
    plain, weighted = seen
    np.testing.assert_array_equal(weighted[0], plain[0])
    np.testing.assert_array_equal(weighted[1] * 4, plain[1])


@pytest.mark.parametrize("weight", [(1,), (1, 0), (1, 2), (1, math.nan)])
def test_label_weights_outside_their_range(weight):
    with pytest.raises(ValueError, match="weight"):
        question(COUNTS, weight=weight)
    with pytest.raises(ValueError, match="weight"):
        question(BOUND, weight=(1.0,))


def test_the_charge_comes_before_the_noise(log):
    asked = question(name="counts")
    vault = open_vault(table(), SCHEMA, asked, charge=log.charge)
    vault.sum(asked, nothing)
    assert [kind for kind, _ in log] == ["charge", "noise"]
    assert [release.name for release in vault.releases] == ["counts"]


def test_what_was_charged_stays_charged_if_the_noise_fails(monkeypatch):
    def broken(sums, scale):
        raise RuntimeError("no entropy")

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", broken)
    charged, asked = [], question(name="counts")
    vault = open_vault(table(), SCHEMA, asked, charge=charged.append)
    with pytest.raises(RuntimeError):
        vault.sum(asked, nothing)
    assert [r.name for r in charged] == [r.name for r in vault.releases] == ["counts"]
    with pytest.raises(ValueError, match="asked already"):
        vault.sum(asked, nothing)


def test_no_noise_without_a_charge(log):
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    asked = question()
    vault = open_vault(table(), SCHEMA, asked, charge=full)
    with pytest.raises(BudgetExceeded):
        vault.sum(asked, nothing)
    assert not log and not vault.releases


def test_an_error_while_reading_spends_nothing(log):
    def broken(faults):
        yield table().to_batches()[0]
        raise OSError("disk")

    asked = question()
    source = Source("test", "arrow", ("a", "y"), None, broken)
    vault = open_vault(source, SCHEMA, asked, charge=log.charge)
    with pytest.raises(OSError):
        vault.sum(asked, nothing)
    assert not log and not vault.releases


def test_counting_rows(monkeypatch):
    asked = count_question(1.0)
    vault = open_vault(table(), SCHEMA, asked)
    assert abs(vault.count(asked) - 300) < 6 * vault.releases[0].noise
    # At least one, however low the noise takes it.
    monkeypatch.setattr(sum_door, "add_discrete_gaussian", lambda sums, scale: sums - 2**60)
    assert open_vault(table(), SCHEMA, asked).count(asked) == 1


def test_segments_too_far_apart_are_refused_before_reading(log):
    far = Bound(segments=(Segment(size=1, norm=2.0**-30), Segment(size=1, norm=2.0**20)))
    source = Source("test", "arrow", ("a",), None, lambda _: pytest.fail("rows were read"))
    with pytest.raises(ValueError, match="too far apart"):
        ask(lambda row: jnp.zeros(2), far, source)


def test_huge_sums_are_clamped_silently():
    # An error that depends on the rows would be an answer without noise.
    sums = np.array([2**61, -(2**61), 5])
    assert grid._scaled(sums, 2**10).tolist() == [2**62, -(2**62), 5 * 2**10]
    # A label's factor is part of the step: it is clamped too, never wrapped.
    steps = np.array([[2**8], [2**10]], np.int64)
    wide = grid._scaled(np.array([[2**57], [-(2**57)]], np.int64), steps)
    assert wide.tolist() == [[2**62], [-(2**62)]]


def test_releases_of_too_many_numbers_are_refused():
    with pytest.raises(ValueError, match="would release 8,000,002 numbers"):
        question(Bound(segments=(Segment(size=4_000_000, norm=1.0),), by=Y, count=1.0))


@pytest.mark.parametrize("label", [Label("a", 2), Label("y", 3), Label("nothing", 2)])
def test_labels_must_have_a_list_of_values(label, log):
    with pytest.raises(ValueError, match="cannot be a label"):
        ask(nothing, Bound(segments=(), by=label, count=1.0), charge=log.charge)
    assert not log


def test_what_is_not_used_is_not_released(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        sum_door, "add_discrete_gaussian", lambda sums, scale: drawn.append(sums.shape) or sums + 1
    )
    bound = Bound(segments=(Segment(size=3, norm=2.0),), by=Y, count=0.5)
    asked = question(bound)

    def sums(used):
        vault = open_vault(table(), SCHEMA, asked)
        return vault.sum(asked, lambda row: jnp.ones(3, jnp.int32), used=used)

    every, some = sums(None), sums(2)
    assert drawn == [(2, 4), (2, 3)]  # the count is there in both
    np.testing.assert_array_equal(some.values[:, :2], every.values[:, :2])
    np.testing.assert_array_equal(some.counts, every.counts)
    assert not some.values[:, 2].any()
    with pytest.raises(NacreError, match="3 numbers"):
        sums(4)


@pytest.mark.parametrize("counted", [True, False])
def test_how_a_program_is_compiled_hangs_on_earlier_answers_only(counted, log, monkeypatch):
    told = []
    few = ExactSum._few
    monkeypatch.setattr(ExactSum, "_few", lambda self, n: told.append(n) or few(self, n))
    first = question(Bound(segments=BOUND.segments, count=65536.0 * counted), share=0.5)
    second = question(BOUND, share=0.5, name="second")
    vault = open_vault(table(), SCHEMA, first, second)
    known = vault.sum(first, numbers).counts
    vault.sum(second, numbers)
    assert told == [None, known.sum() if counted else None]
