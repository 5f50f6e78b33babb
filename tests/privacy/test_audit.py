"""A small audit of `Vault.sum`: how well can the worst pair of neighboring tables be told apart?

Many noisy answers on each of two neighboring tables give an estimate of mu, the Gaussian-DP
parameter: the distance of the means along the difference, over the standard deviation.  A smoke
alarm, not a certificate; so the last tests show that it rings when something is broken.
"""

import math

import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.rows.unit import WHOLE, Persons
from nacre.schema import Integer, Schema
from nacre.vault import Adjacency, Bound, Segment, Sum
from nacre.vault.doors import sum as sum_door
from nacre.vault.noise import add_discrete_gaussian

SCHEMA = Schema(columns={"a": Integer(low=0, high=65536)})
BOUND = Bound(segments=(Segment(size=1, norm=30000.0),), count=9000.0)
RUNS = 1500
NEIGHBORS = {
    Adjacency.ADD_REMOVE: ([7, 8], [7, 8, 65536]),
    Adjacency.REPLACE_ONE: ([7, 8, 0], [7, 8, 65536]),
}


def features(row):
    return row.numbers - 32768


def answers(rows, adjacency, noise, monkeypatch, schema=SCHEMA):
    """RUNS noisy answers; the exact sum is computed once, the noise drawn each time."""
    kept = {}

    def draw(sums, scale):
        kept.update(sums=sums, scale=scale)
        return noise(np.repeat(sums, RUNS, axis=0), scale)[:1]

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", draw)
    question = Sum(name="test", share=1.0, bound=BOUND)
    table = rows if isinstance(rows, pa.Table) else pa.table({"a": rows})
    vault = open_vault(table, schema, question, epsilon=2, adjacency=adjacency)
    vault.sum(question, features)
    noisy = noise(np.repeat(kept["sums"], RUNS, axis=0), kept["scale"])
    return noisy.astype(np.float64), kept["sums"].astype(np.float64), vault.releases[0]


def estimated_mu(adjacency, noise, monkeypatch, neighbors=NEIGHBORS, schema=SCHEMA):
    """The estimate, its standard error, and what is claimed."""
    before, after = neighbors[adjacency]
    one, from_one, release = answers(before, adjacency, noise, monkeypatch, schema)
    two, from_two, _ = answers(after, adjacency, noise, monkeypatch, schema)
    direction = (from_two - from_one)[0]
    direction /= np.linalg.norm(direction)
    here, there = one @ direction, two @ direction
    spread = math.sqrt((here.var(ddof=1) + there.var(ddof=1)) / 2)
    mu = (there.mean() - here.mean()) / spread
    error = math.sqrt(2 / RUNS + mu**2 / (4 * RUNS))
    return mu, error, 1 / release.multiplier


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_worst_neighbors_are_as_far_apart_as_claimed_and_no_further(adjacency, monkeypatch):
    mu, error, claimed = estimated_mu(adjacency, add_discrete_gaussian, monkeypatch)
    assert mu <= claimed + 5.5 * error
    assert mu >= claimed - 5.5 * error  # the bound is reached: no noise is wasted


def half_the_noise(sums, scale):
    return add_discrete_gaussian(sums, scale / 2)


def noise_from_a_seed(sums, scale):
    draws = np.random.default_rng(0).normal(0, scale, sums.shape)
    return (
        sums
        + np.repeat(draws[:1], len(sums), axis=0).astype(np.int64)
        + (draws * 0.01).astype(np.int64)
    )


@pytest.mark.parametrize("broken", [half_the_noise, noise_from_a_seed])
def test_the_alarm_rings_for_broken_noise(broken, monkeypatch):
    mu, error, claimed = estimated_mu(Adjacency.ADD_REMOVE, broken, monkeypatch)
    assert mu > claimed + 5.5 * error


def test_the_alarm_rings_for_a_sensitivity_that_is_too_small(monkeypatch):
    true = Bound.sensitivity
    monkeypatch.setattr(Bound, "sensitivity", lambda self, adjacency: true(self, adjacency) / 2)
    mu, error, claimed = estimated_mu(Adjacency.REPLACE_ONE, add_discrete_gaussian, monkeypatch)
    assert mu > claimed + 5.5 * error


# -- persons: one with fifty rows, of which five count -----------------------------------------

PERSONS = Schema(columns=SCHEMA.columns, unit={"column": "who", "rows": 5})


def visits(*persons):
    """A table of persons, each given by how many rows it has and what stands in them."""
    who = np.repeat(np.arange(len(persons)), [many for many, _ in persons])
    values = np.concatenate([np.full(many, a) for many, a in persons])
    return pa.table({"who": who, "a": values})


OTHERS = [(1, 7), (3, 8)]
OF_PERSONS = {
    Adjacency.ADD_REMOVE: (visits(*OTHERS), visits(*OTHERS, (50, 65536))),
    Adjacency.REPLACE_ONE: (visits(*OTHERS, (50, 0)), visits(*OTHERS, (50, 65536))),
}


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_person_of_fifty_rows_is_not_noticed_more_than_is_claimed(adjacency, monkeypatch):
    noise = add_discrete_gaussian
    mu, error, claimed = estimated_mu(adjacency, noise, monkeypatch, OF_PERSONS, PERSONS)
    assert claimed - 5.5 * error <= mu <= claimed + 5.5 * error


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_alarm_rings_if_rows_of_a_person_are_not_clipped_together(adjacency, monkeypatch):
    whole = property(lambda self: np.where(self.kept, WHOLE, 0))
    monkeypatch.setattr(Persons, "weight", whole)
    noise = add_discrete_gaussian
    mu, error, claimed = estimated_mu(adjacency, noise, monkeypatch, OF_PERSONS, PERSONS)
    assert mu > claimed + 5.5 * error
    assert mu == pytest.approx(5 * claimed, rel=0.2)  # as five rows would
