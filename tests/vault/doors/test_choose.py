"""The `choose` door: who is chosen how often, what is charged when, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare
from tests.vaults import open_vault

from nacre.errors import BudgetExceeded
from nacre.rows import Label
from nacre.schema import Categorical, Integer, Schema
from nacre.vault import Adjacency, Bound, Choice, Segment, Sum
from nacre.vault.doors.choose import TARGET_BITS, Choices

SCHEMA = Schema({name: Categorical(values=("0", "1")) for name in "abc"})
ROWS = [("0", "0", "0")] * 30 + [("1", "1", "0")] * 20 + [("1", "0", "1")] * 10
PAIRS = np.array([(0, 1), (0, 2), (1, 2)])
BOUND = Bound(segments=(Segment(size=4, norm=1.0, signed=False),) * 3)
EVEN = np.full((1, 12), 15.0)  # what 60 rows would be in each of four cells


def pairs(row):
    cells = 2 * row.codes[PAIRS[:, 0]] + row.codes[PAIRS[:, 1]]
    return 4 * jnp.arange(3) + cells, jnp.ones(3, jnp.int32)


def table(rows):
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate("abc")})


def question(bound=BOUND, **more):
    return Choice(**{"name": "pairs", "share": 1.0, "bound": bound, "count": 5, **more})


def choices(rows=ROWS, bound=BOUND, count=5, **more):
    """The choices of a plan of one question, and the vault that makes them."""
    asked = question(bound, count=count)
    vault = open_vault(table(rows), SCHEMA, asked, **more)
    return vault.choose(asked, pairs), vault


def scores(*arguments, **more):
    return choices(**more)[0]._scores(*arguments)


def distances(rows):
    """||sum - 15||_1 of each pair of columns, counted by hand."""
    found = []
    for i, j in PAIRS:
        counts = np.zeros(4)
        for row in rows:
            counts[2 * int(row[i]) + int(row[j])] += 1
        found.append(np.abs(counts - 15).sum())
    return np.array(found)


def test_blocks_are_chosen_with_the_chances_of_the_exponential_mechanism():
    penalties = np.array([13.0, 0.0, -2.5])
    drawn, vault = choices(count=1)
    scale = vault.releases[0].noise
    drawn._left = 3000  # more than were paid for, to see how often each comes
    found = [drawn(EVEN, penalties=penalties) for _ in range(3000)]
    wanted = distances(ROWS) - penalties
    chance = np.exp((wanted - wanted.max()) / scale)
    expected = 3000 * chance / chance.sum()
    assert expected.min() > 20, "a test of chances needs each block to be chosen now and then"
    assert chisquare(np.bincount(found, minlength=3), expected).pvalue > 1e-6


def test_scores_are_exact_integers():
    one = 2**TARGET_BITS
    drawn, _ = choices()
    assert drawn._scores(EVEN, None) == [int(d) * one for d in distances(ROWS)]
    halves = drawn._scores(EVEN, [0.0, 0.5, 0.0])
    expected = distances(ROWS) - [0, 0.5, 0]
    assert halves == [int(e * one) for e in expected]


def test_classes_belong_to_the_same_block():
    bound = Bound(segments=BOUND.segments, by=Label("c", 2))
    found = scores(np.zeros((2, 12)), None, bound=bound)
    assert found == [60 * 2**TARGET_BITS] * 3


def test_all_choices_are_charged_before_the_first_and_no_more_can_be_made():
    drawn, vault = choices(count=2)
    (release,) = vault.releases
    assert (release.mechanism, release.steps, release.size) == ("exponential", 2, 3)
    assert vault.guarantee().epsilon == pytest.approx(1, rel=1e-6)
    assert drawn.left == 2
    for _ in range(2):
        assert drawn(EVEN) in range(3)
    with pytest.raises(ValueError, match="have been made"):
        drawn(EVEN)
    assert len(vault.releases) == 1
    vault.guarantee().verify()


def test_shares_of_choices_and_sums_add_up():
    asked = question(share=0.4), Sum(name="counts", share=0.6, bound=BOUND)
    vault = open_vault(table(ROWS), SCHEMA, *asked)
    vault.choose(asked[0], pairs)
    vault.sum(asked[1], pairs)
    first, second = vault.releases
    assert first.mu**2 / second.mu**2 == pytest.approx(0.4 / 0.6, rel=1e-6)
    assert 0.999 < vault.guarantee().epsilon <= 1 + 1e-9


def test_a_refused_charge_means_no_choice():
    def full(release):
        raise BudgetExceeded("The ledger says no.")

    asked = question()
    vault = open_vault(table(ROWS), SCHEMA, asked, charge=full)
    with pytest.raises(BudgetExceeded):
        vault.choose(asked, pairs)
    assert not vault.releases


def test_only_the_named_blocks_are_chosen():
    drawn, _ = choices(count=40, epsilon=0.01)
    assert {drawn(EVEN, among=[0, 2]) for _ in range(40)} == {0, 2}


def test_bad_rows_count_as_nothing():
    bad = [("martian", "0", "0"), (None, "1", "1")]
    assert scores(EVEN, None, rows=ROWS + bad) == scores(EVEN, None)


def test_counts_beyond_64_bits_are_clamped_like_any_other():
    release = question(count=1).release(0.2, Adjacency.ADD_REMOVE)
    sums = np.full((1, 12), np.iinfo(np.int64).max)
    found = Choices(sums, BOUND, release)._scores(np.full((1, 12), -1e300), None)
    assert len(set(found)) == 1
    assert 0 < found[0] < 2**62


@pytest.fixture(scope="module")
def one_choice():
    return choices(count=1)[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"targets": np.zeros((1, 11))}, "targets"),
        ({"targets": np.full((1, 12), np.nan)}, "targets"),
        ({"penalties": [0, 0]}, "penalties"),
        ({"penalties": [np.inf, 0, 0]}, "penalties"),
        ({"among": []}, "among"),
        ({"among": [3]}, "among"),
        ({"among": [-1]}, "among"),
    ],
)
def test_public_arguments_are_checked_and_cost_no_choice(arguments, said, one_choice):
    drawn = one_choice
    with pytest.raises(ValueError, match=said):
        drawn(**{"targets": EVEN, **arguments})
    assert drawn.left == 1


def test_features_that_are_not_integers_are_refused_before_anything_is_spent():
    asked = question(Bound(segments=(Segment(size=1, norm=1.0),)), count=1)
    vault = open_vault(pa.table({"x": [1, 2]}), Schema({"x": Integer(low=0, high=9)}), asked)
    with pytest.raises(ValueError, match="integers"):
        vault.choose(asked, lambda row: row.numbers / 7)
    assert not vault.releases


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (Bound(segments=BOUND.segments, count=1.0), "no count"),
        (Bound(segments=(Segment(size=12, norm=1.0, weight=0.5),)), "weight 1"),
        (Bound(segments=(Segment(size=12, norm=0.5),)), "norms"),
        (Bound(segments=(Segment(size=12, norm=5000.0),)), "norms"),
        (Bound(segments=(Segment(size=1 << 20, norm=1.0),)), "blocks of more than"),
    ],
)
def test_bounds_that_mean_nothing_here_are_refused(bound, said):
    with pytest.raises(ValueError, match=said):
        question(bound).release(0.5, Adjacency.ADD_REMOVE)
    with pytest.raises(ValueError, match="at least one choice"):
        question(count=0)
