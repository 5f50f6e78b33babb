"""Rows that are chosen lie closer to their model, and no pair is preferred for being common."""

from __future__ import annotations

import numpy as np
import pytest

from nacre.histograms import herding
from nacre.histograms.herding import Herd, herded_rows

WIDTHS = (6, 5, 8, 4, 2)  # the last is the label
PAIRED = 4
N = 1000


def chances(seed=0):
    """Twelve kinds of rows, each a product, with values that are rare indeed."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(12)), [rng.dirichlet(np.full(w, 0.3), 12) for w in WIDTHS]


def drawer(seed):
    """Independent rows, and how often more of them were asked for than fit at once."""
    rng, (weights, tables) = np.random.default_rng(seed), chances()
    asked = []

    def draw(m):
        asked.append(m)
        kind = rng.choice(len(weights), m, p=weights)
        ends = [table.cumsum(1)[kind] for table in tables]
        keys = np.stack([(rng.random((m, 1)) > end[:, :-1]).sum(1) for end in ends], axis=1)
        return keys, (keys, np.arange(m))

    return draw, asked


def tables_of(keys):
    """Counts of all pairs of columns by class."""
    found = []
    for left in range(len(WIDTHS) - 1):
        for right in range(left + 1, len(WIDTHS) - 1):
            shape = (WIDTHS[left], WIDTHS[right], WIDTHS[-1])
            cell = np.ravel_multi_index((keys[:, left], keys[:, right], keys[:, -1]), shape)
            found.append(np.bincount(cell, minlength=np.prod(shape)))
    return np.concatenate(found)


def expected():
    weights, tables = chances()
    found = []
    for left in range(len(WIDTHS) - 1):
        for right in range(left + 1, len(WIDTHS) - 1):
            joint = np.einsum("r,ra,rb,rc->abc", weights, tables[left], tables[right], tables[-1])
            found.append(N * joint.ravel())
    return np.concatenate(found)


def test_pairs_lie_closer_than_by_chance():
    draw, _ = drawer(1)
    chosen, _ = herded_rows(draw, WIDTHS, PAIRED, N, np.random.default_rng(0))
    plain = draw(N)[1][0]
    off, by_chance = (np.abs(tables_of(rows) - expected()).sum() for rows in (chosen, plain))
    # Four candidates for each row are off by half as much themselves.
    assert off < 0.75 * by_chance


def test_rare_pairs_are_as_many_as_they_should_be():
    # Rounding to the nearest table would leave out every pair that is expected less than once.
    rare = expected() < 1
    found = sum(
        tables_of(herded_rows(drawer(seed)[0], WIDTHS, PAIRED, N, np.random.default_rng(0))[0])[
            rare
        ].sum()
        for seed in range(20)
    )
    wanted = 20 * expected()[rare].sum()
    assert wanted > 100
    # Each row is in six pairs, so that chance is up to six times that of independent counts.
    assert abs(found - wanted) < 5 * np.sqrt(6 * wanted)


def test_what_is_chosen_stays_together():
    draw, _ = drawer(2)
    drawn = {}

    def kept(m):
        drawn[m] = draw(m)
        return drawn[m]

    keys, places = herded_rows(kept, WIDTHS, PAIRED, 200, np.random.default_rng(0))
    assert len(set(places)) == 200
    np.testing.assert_array_equal(keys, drawn[800][0][places])


def test_few_candidates_are_in_memory(monkeypatch):
    monkeypatch.setattr(herding, "AT_ONCE", 10_000)
    draw, asked = drawer(3)
    keys, _ = herded_rows(draw, WIDTHS, PAIRED, N, np.random.default_rng(0))
    assert len(keys) == N
    assert max(asked) * len(WIDTHS) <= 10_000


@pytest.mark.parametrize("n", [0, 1, 60_000])
def test_many_rows_or_none_are_drawn_as_they_come(n):
    draw, asked = drawer(4)
    keys, _ = herded_rows(draw, WIDTHS, PAIRED, n, np.random.default_rng(0))
    assert len(keys) == n
    assert asked == [n]


def test_one_column_has_no_pairs():
    keys, _ = herded_rows(
        lambda m: (np.zeros((m, 2), np.int64), (np.zeros((m, 2)), np.arange(m))),
        (3, 2),
        1,
        50,
        np.random.default_rng(0),
    )
    assert len(keys) == 50


def test_of_many_pairs_some_are_looked_at():
    herd = Herd.of([3] * 100, 99, np.random.default_rng(0))
    assert len(herd.left) == herding.WORK // herding.FEWEST
