"""Codes and their groups from noisy counts."""

import numpy as np
import pytest

from nacre.draft.likeliest import likeliest

CODES, GROUPS, ROWS, NOISE = 50, 10, 10_000, 80.0


def wrong(rng, *, ordered, uneven=False):
    """The share of rows in a wrong group, by the largest count and by `likeliest`."""
    sizes = 1 / rng.permutation(np.arange(1, CODES + 1))
    rows = rng.multinomial(ROWS, sizes / sizes.sum())
    shares = rng.dirichlet(np.full(GROUPS, 0.3)) if uneven else np.full(GROUPS, 1 / GROUPS)
    groups = rng.choice(GROUPS, CODES, p=shares)
    groups = np.sort(groups) if ordered else groups
    counts = rng.normal(0, NOISE, (CODES, GROUPS))
    counts[np.arange(CODES), groups] += rows
    found, sure = likeliest(counts, NOISE, np.ones(GROUPS, bool))
    assert ((sure > 0) & (sure <= 1 + 1e-9)).all()
    return rows[counts.argmax(axis=1) != groups].sum(), rows[found != groups].sum()


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [({"ordered": True}, 0.3, 0.75), ({"ordered": False}, 0.9, 1.25)],
)
def test_codes_in_the_order_of_their_groups_help_and_others_hardly_hurt(kind, least, most):
    rng = np.random.default_rng(0)
    largest, chosen = np.sum([wrong(rng, **kind) for _ in range(20)], axis=0)
    assert least * largest < chosen < most * largest


def test_groups_of_many_codes_are_likelier():
    rng = np.random.default_rng(0)
    largest, chosen = np.sum([wrong(rng, ordered=False, uneven=True) for _ in range(20)], axis=0)
    assert chosen < 0.85 * largest


def test_what_stands_out_is_sure_and_what_constraints_exclude_is_not_chosen():
    counts = np.array([[1e6, 0, 0], [0, 1e6, 0], [3.0, 2.0, 1.0]])
    found, sure = likeliest(counts, 10.0, np.array([True, True, True]))
    assert found[:2].tolist() == [0, 1]
    assert (sure[:2] > 0.999).all() and sure[2] < 0.95
    assert 0 not in likeliest(counts, 10.0, np.array([False, True, True]))[0]


def test_one_code_or_one_group_will_do():
    assert likeliest(np.array([[1.0, 9.0]]), 0.1, np.ones(2, bool))[0].tolist() == [1]
    assert likeliest(np.array([[1.0], [-5.0]]), 0.1, np.ones(1, bool))[0].tolist() == [0, 0]
