"""A person of any number of rows moves no answer further than one row could, and some do so far.

What is compared are the integers to which noise is added, in units of that noise, for tables that
differ in all rows of one person.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.privacy.persons import (
    ALONE,
    OTHERS,
    PERSONS,
    ROWS,
    SCHEMA,
    UP,
    furthest,
    rows_of,
    table,
)
from tests.vaults import open_vault

from nacre.rows import Label, Stream, TableEncoder
from nacre.rows.unit import WHOLE, Persons, Roster
from nacre.vault import Adjacency, Bound, Choice, Segment, Sum
from nacre.vault.doors import sum as sum_door
from nacre.vault.exact_sum import BLOCK, ExactSum
from nacre.vault.view import seen

LABEL = Label("label", 5)


def signed_floats(row):
    return (row.numbers - 32768) / 1e3


def counts_of_labels(row):
    return row.codes[0][None], jnp.ones(1, jnp.int32)


def whole_numbers(row):
    return row.numbers


CASES = {
    "floats": (signed_floats, Bound(segments=(Segment(size=2, norm=1.5),))),
    "floats by label": (
        signed_floats,
        Bound(segments=(Segment(size=2, norm=1.5, weight=0.5),), by=LABEL, count=1.0),
    ),
    "integers": (
        whole_numbers,
        Bound(segments=(Segment(size=2, norm=60000.0, signed=False),), count=100.0),
    ),
    "sparse": (counts_of_labels, Bound(segments=(Segment(size=5, norm=1.0, signed=False),))),
    "sparse by label": (
        counts_of_labels,
        Bound(segments=(Segment(size=5, norm=1.0, signed=False),), by=LABEL, count=0.5),
    ),
}


@functools.cache
def program(case):
    features, bound = CASES[case]
    return ExactSum(features, bound, TableEncoder.of(SCHEMA))


def summed(case, rows):
    """What is released of a table before noise, in the units of the sensitivity."""
    exact, bound = program(case), CASES[case][1]
    sums, counts = exact(Stream(exact.encoder, rows).blocks(BLOCK))
    scales = [
        np.full(s.size, s.weight * u) for s, u in zip(bound.segments, exact.units, strict=True)
    ]
    return np.concatenate(
        [(sums * np.concatenate(scales)).ravel(), counts * bound.count / exact.whole]
    )


@pytest.mark.parametrize("case", CASES)
def test_no_person_beats_the_bound_of_one_row_and_some_reach_it(case):
    start = summed(case, table(*OTHERS))
    persons = [summed(case, table(*OTHERS, person)) for person in PERSONS.values()]
    for adjacency in Adjacency:
        found = furthest(persons, start, adjacency)
        allowed = CASES[case][1].sensitivity(adjacency)
        assert 0.999 * allowed <= found <= allowed * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES)
def test_without_the_clip_a_person_of_many_rows_is_noticed(case, monkeypatch):
    monkeypatch.setattr(Persons, "weight", property(lambda self: np.where(self.kept, WHOLE, 0)))
    start = summed(case, table(*OTHERS))
    persons = [summed(case, table(*OTHERS, person)) for person in PERSONS.values()]
    for adjacency in Adjacency:
        found = furthest(persons, start, adjacency)
        assert found >= 3 * CASES[case][1].sensitivity(adjacency)


@pytest.fixture
def released(monkeypatch):
    """The integers to which the door adds noise, in units of that noise."""
    found = {}

    def keep(sums, scale):
        found.update(sums=np.array(sums, np.float64) / scale)
        return sums

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", keep)

    def run(rows, schema):
        features, bound = CASES["sparse by label"]
        question = Sum(name="test", share=1.0, bound=bound)
        vault = open_vault(rows, schema, question)
        vault.sum(question, features)
        return found["sums"], 1 / vault.releases[0].multiplier

    return run


@pytest.mark.parametrize(("schema", "flagged"), [(SCHEMA, False), (ALONE, True)])
def test_an_audit_flags_fifty_rows_only_without_a_unit(schema, flagged, released):
    start, claimed = released(table(*OTHERS), schema)
    found, _ = released(table(*OTHERS, PERSONS["fifty like it"]), schema)
    mu = np.linalg.norm(found - start)
    assert mu >= 0.998 * claimed
    assert bool(mu > claimed) is flagged


def test_order_and_batches_of_rows_do_not_matter():
    rows = table(*OTHERS)
    expected = summed("floats by label", rows)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(rows.num_rows)
        mixed = pa.Table.from_batches(rows.take(order).combine_chunks().to_batches(7))
        np.testing.assert_array_equal(summed("floats by label", mixed), expected)


def test_a_count_is_of_persons(released):
    question = Sum(name="n", share=1.0, bound=Bound(segments=(), count=1.0))
    vault = open_vault(table(*OTHERS, PERSONS["fifty like it"]), SCHEMA, question)
    assert vault.count(question) == len(OTHERS) + 1


def test_a_view_goes_by_persons_too():
    bound = Bound(segments=(Segment(size=2, norm=2.0),), count=1.0)
    question = Sum(name="seen", share=1.0, bound=bound)
    rows = table(*OTHERS, PERSONS["fifty like it"])
    vault = open_vault(rows, SCHEMA, question, epsilon=float("inf"), delta=None)
    view = vault.view(lambda row: row.numbers / 65536.0)
    found = vault.sum(question, seen, through=view)
    means = [np.mean([part["a"], part["b"]], axis=1) / 65536 for part in OTHERS]
    assert found.total == pytest.approx(len(OTHERS) + 1)
    np.testing.assert_allclose(found.values[0], np.sum(means, axis=0) + 1, atol=0.01)


def test_rows_without_an_id_are_persons_of_their_own(released):
    rows = table(*OTHERS)
    nobody = rows.set_column(0, "who", pa.nulls(rows.num_rows, pa.int64()))
    question = Sum(name="n", share=1.0, bound=Bound(segments=(), count=1.0))
    assert open_vault(nobody, SCHEMA, question).count(question) == rows.num_rows


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_block_to_choose_moves_by_no_more_than_the_bound(adjacency):
    start = summed("sparse", table(*OTHERS))
    persons = [summed("sparse", table(*OTHERS, person)) for person in PERSONS.values()]
    pairs = [(one, other) for one in persons for other in persons]
    if adjacency is Adjacency.ADD_REMOVE:
        pairs = [(one, start) for one in persons]
    found = max(np.abs(one - other).sum() for one, other in pairs)
    assert found == pytest.approx(CASES["sparse"][1].block_change(adjacency), rel=1e-9)


def test_a_choice_is_made_among_shares_of_persons():
    bound = Bound(segments=tuple(Segment(size=1, norm=1.0, signed=False) for _ in range(5)))
    question = Choice(name="c", share=1.0, bound=bound, count=1)

    def features(row):
        return row.codes[0][None], jnp.ones(1, jnp.int32)

    # One person of fifty rows of v against three of u: persons count, not rows.
    three = [rows_of(who, UP, "u") for who in range(3)]
    rows = table(*three, rows_of(9, [UP] * 50, "v"))
    vault = open_vault(rows, SCHEMA, question, epsilon=600)
    choose = vault.choose(question, features)
    assert choose(np.zeros((1, 5))) == 0


def test_the_rows_of_one_person_are_drawn_whatever_the_others_are():
    """Each row of a person counts equally often, beside other persons as without them."""

    def shares(*others):
        rows = table(rows_of(77, [[place, 0] for place in range(8)], "u"), *others)
        kept = [Roster.of(SCHEMA.unit, rows.to_batches(30)).persons.kept[:8] for _ in range(600)]
        assert all(each.sum() == ROWS for each in kept)
        return np.mean(kept, axis=0)

    for others in ((), OTHERS):
        assert np.abs(shares(*others) - ROWS / 8).max() < 5.5 * np.sqrt(15 / 64 / 600)


def test_ids_are_in_nothing_that_leaves(tmp_path):
    import nacre
    from nacre.methods.mosaic.mosaic import Mosaic

    rng = np.random.default_rng(1)
    ids = [f"patient-{number}" for number in rng.integers(10**8, 10**9, 400)]
    rows = pa.table(
        {
            "who": ids + ids[:200],
            "a": rng.integers(0, 65537, 600),
            "b": rng.integers(0, 65537, 600),
            "label": rng.choice(["u", "v"], 600),
        }
    )
    with pytest.warns(UserWarning, match="few for this budget"):
        model = nacre.fit(rows, SCHEMA, method=Mosaic().small(), epsilon=1, delta=1e-6)
    model.save(tmp_path / "m.nacre")
    assert b"patient-" not in (tmp_path / "m.nacre").read_bytes()
    assert "person" in str(model.guarantee)
    sampled = model.sample(100)
    assert sampled.column_names == ["who", "a", "b", "label"]
    assert not {str(each) for each in sampled["who"].to_pylist()} & set(ids)
