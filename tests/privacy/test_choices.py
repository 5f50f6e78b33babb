"""Choices: no neighboring tables differ by more than is claimed, and some differ by just that.

The chances of a choice are known exactly, so nothing here is sampled: every pair of neighbors
among many small tables is compared by its whole trade-off curve.
"""

import functools
import itertools
import math

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from tests.vaults import block_of, compiled_sum, open_vault

from nacre.rows import TableEncoder
from nacre.schema import Categorical, Schema
from nacre.vault import Adjacency, Bound, Choice, Segment, gaussian_delta
from nacre.vault.accountant import epsilon_of
from nacre.vault.doors.choose import TARGET_BITS, Choices
from nacre.vault.gaussian_dp import choice_epsilon, choice_mu
from nacre.vault.release import Release

SCHEMA = Schema({name: Categorical(values=("0", "1")) for name in "abc"})
EVERY_ROW = [*itertools.product("01", repeat=3), ("martian", "0", "0")]
PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
BOUND = Bound(segments=(Segment(size=4, norm=1.0, signed=False),) * 3)


def pairs(row):
    cells = 2 * row.codes[PAIRS[:, 0]] + row.codes[PAIRS[:, 1]]
    return 4 * jnp.arange(3) + cells, jnp.ones(3, jnp.int32)


def chances(scores, scale):
    logits = np.array(scores) / scale
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def excess(p, q, mu):
    """The largest delta(epsilon) of the pair beyond that of mu-Gaussian DP, at every corner."""
    losses = np.log(p / q)
    return max(
        np.maximum(p - math.exp(e) * q, 0).sum() - gaussian_delta(mu, e)
        for e in np.concatenate([losses, losses + 1e-3, [0.0]])
    )


def test_the_worst_pair_of_losses_is_the_symmetric_one():
    for epsilon in (1e-3, 0.1, 1.0, 5.0):
        t = epsilon * np.linspace(1e-6, 1 - 1e-6, 20001)
        low = np.expm1(epsilon - t) / (np.exp(epsilon) - 1)  # the chance of the loss t under Q
        mu = ndtri(np.exp(t) * low) - ndtri(low)
        assert mu.max() <= choice_mu(epsilon) * (1 + 1e-9)
        assert mu.max() == pytest.approx(choice_mu(epsilon), rel=1e-6)
        assert t[mu.argmax()] == pytest.approx(epsilon / 2, rel=1e-2)


def test_the_lemma_of_the_page():
    """(2 Phi - 1) phi >= u Phi (1 - Phi) for u > 0: from it follows the symmetric pair."""
    u = np.linspace(1e-6, 12, 100_001)
    phi = np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
    tail = np.array([0.5 * math.erfc(x / math.sqrt(2)) for x in u])
    assert ((1 - 2 * tail) * phi >= u * (1 - tail) * tail).all()


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.5, 3.0, 80.0])
def test_mu_and_epsilon_are_inverse(epsilon):
    assert choice_epsilon(choice_mu(epsilon)) == pytest.approx(epsilon, rel=1e-8)
    assert choice_mu(epsilon) <= 0.6267 * epsilon


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=6),
    st.lists(st.floats(-8, 8), min_size=6, max_size=6),
    st.floats(0.01, 6),
)
def test_any_change_of_scores_within_the_range_is_within_mu(change, scores, epsilon):
    """Scores that move by at most 1 either way, noise 2 / epsilon: Gaussian DP of `choice_mu`."""
    scores, noise = np.array(scores[: len(change)]), 2 / epsilon
    p, q = chances(scores + change, noise), chances(scores, noise)
    assert excess(p, q, choice_mu(epsilon)) <= 1e-12
    assert excess(q, p, choice_mu(epsilon)) <= 1e-12


def test_a_smaller_mu_would_not_hold():
    for epsilon in (0.05, 0.5, 3.0):
        # Losses of +-epsilon / 2: two scores change places, each moving by one.
        p, q = chances([0.5, -0.5], 2 / epsilon), chances([-0.5, 0.5], 2 / epsilon)
        assert excess(p, q, choice_mu(epsilon)) <= 1e-12
        assert excess(p, q, 0.999 * choice_mu(epsilon)) > 0


@functools.cache
def contributions():
    """What each possible row, bad ones too, adds to the sums."""
    return sums_of_rows(pairs, BOUND)


def sums_of_rows(features, bound):
    """The exact sum over each table of one row."""
    run, found = compiled_sum(features, bound, TableEncoder(SCHEMA)), []
    for row in EVERY_ROW:
        one = pa.table({name: [row[i]] for i, name in enumerate("abc")})
        found.append(run([block_of(SCHEMA.encode(one))])[0])
    return found


def neighbors(adjacency, rng):
    """Sums of random small tables and of every neighbor of each."""
    rows = contributions()
    for _ in range(12):
        base = sum(rows[i] for i in rng.integers(0, len(rows), rng.integers(0, 12)))
        base = base + np.zeros((1, 12), np.int64)
        if adjacency is Adjacency.ADD_REMOVE:
            yield from ((base, base + row) for row in rows)
        else:
            yield from ((base + a, base + b) for a, b in itertools.product(rows, repeat=2))


def scores_of(sums, release, targets, **more):
    drawn = Choices(sums, BOUND, release)
    return drawn._scores(targets, more.get("penalties"))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_neighboring_tables_are_within_mu_and_some_reach_the_range(adjacency):
    rng = np.random.default_rng(3)
    question = Choice(name="pairs", share=1.0, bound=BOUND, count=1)
    table = pa.table({name: ["0"] for name in "abc"})
    vault = open_vault(table, SCHEMA, question, epsilon=3, adjacency=adjacency)
    vault.choose(question, pairs)
    (release,) = vault.releases
    scale = release.noise * 2**TARGET_BITS
    widest = 0.0
    for one, two in neighbors(adjacency, rng):
        targets = rng.integers(0, 5, (1, 12)) + rng.choice([0.0, 0.3], (1, 12))
        more = {"penalties": rng.normal(size=3)}
        before, after = (np.array(scores_of(s, release, targets, **more)) for s in (one, two))
        moved = (after - before) / scale
        widest = max(widest, moved.max() - moved.min())
        p, q = chances(before, scale), chances(after, scale)
        assert excess(p, q, release.mu) <= 1e-12
        assert excess(q, p, release.mu) <= 1e-12
    limit = release.sensitivity / release.noise
    assert widest <= limit * (1 + 1e-9)
    # A bound half as large would be broken by these tables: the search can fail.
    assert widest == pytest.approx(limit, rel=1e-6)


def test_no_row_whatever_its_features_moves_a_block_beyond_the_bound():
    """Features that break their promise are clipped, on the integers, for every row there is."""

    def greedy(row):
        return jnp.concatenate([jnp.full(3, 40) * row.codes[0], -7 * row.codes, row.codes * 3])

    bound = Bound(segments=tuple(Segment(size=3, norm=n) for n in (1.0, 2.0, 1.5)))
    sums = [found[0] for found in sums_of_rows(greedy, bound)]
    pairs_of_rows = [a - b for a in sums for b in sums]
    for adjacency, moves in zip(Adjacency, (sums, pairs_of_rows), strict=True):
        for move, (start, stop) in itertools.product(moves, itertools.pairwise(bound.offsets)):
            assert np.abs(move[start:stop]).sum() <= bound.block_change(adjacency)


def test_choices_compose_with_sums_and_with_steps():
    def release(mechanism, **more):
        return Release(
            name="r",
            mechanism=mechanism,
            theorem="t",
            adjacency=Adjacency.ADD_REMOVE,
            size=3,
            sensitivity=2.0,
            **more,
        )

    choice = release("exponential", noise=20.0, steps=9)
    assert choice.mu == pytest.approx(3 * choice_mu(0.1))
    alone = Release(
        name="g",
        mechanism="gaussian",
        theorem="t",
        adjacency=Adjacency.ADD_REMOVE,
        size=1,
        sensitivity=choice.mu,
        noise=1.0,
    )
    assert epsilon_of([choice], 1e-5) == pytest.approx(epsilon_of([alone], 1e-5), rel=1e-6)
    steps = release("subsampled-gaussian", noise=4.0, rate=0.01, steps=100)
    with_choice, with_sum = (epsilon_of([r, steps], 1e-5) for r in (choice, alone))
    assert with_choice == pytest.approx(with_sum, rel=1e-3)
    assert with_choice > epsilon_of([choice], 1e-5)


def test_the_cost_is_no_less_than_a_privacy_loss_distribution_says():
    """30 choices of the worst pair, composed exactly by dp_accounting, against mu."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    epsilon, count = 0.3, 30
    p, q = chances([0.5, -0.5], 2 / epsilon), chances([-0.5, 0.5], 2 / epsilon)
    masses = [{i: float(np.log(x)) for i, x in enumerate(side)} for side in (p, q)]
    exact = pld.from_two_probability_mass_functions(*masses, value_discretization_interval=1e-5)
    composed = exact.self_compose(count)
    mu = math.sqrt(count) * choice_mu(epsilon)
    for e in (0.5, 1.0, 2.0, 4.0):
        # dp_accounting rounds pessimistically, by one interval in each choice.
        assert composed.get_delta_for_epsilon(e + count * 1e-5) <= gaussian_delta(mu, e) + 1e-9
    # The price of adding mu^2 where many choices could be composed more closely.
    assert composed.get_delta_for_epsilon(1.0) > 0.5 * gaussian_delta(mu, 1.0)
