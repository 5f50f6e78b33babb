"""Rows that are chosen lie closer to their model, and no pair is preferred for being common."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nacre.histograms import herding
from nacre.histograms.draw import draw_bins, pick
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


def by_quota(widths, seed):
    """Rows of one mixture as Mosaic draws them, and what pairs by class it makes expect."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(0)
    weights = fixed.dirichlet(np.ones(12))
    tables = [fixed.dirichlet(np.full(width, 0.3), 12) for width in widths]

    def draw(m):
        component = pick(weights, m, rng)
        keys = np.stack([draw_bins(table, component, rng) for table in tables], axis=1)
        return keys, (keys,)

    joint = [
        np.einsum("r,ra,rb,rc->abc", weights, tables[left], tables[right], tables[-1])
        for left, right in itertools.combinations(range(len(widths) - 1), 2)
    ]
    return draw, joint


def test_rare_pairs_are_as_many_as_they_should_be():
    # Without a dither hardly any of those came that are expected once in ten tables.
    widths, n, calls = (6, 6, 6, 6, 10), 500, 60
    draw, joint = by_quota(widths, 1)
    found = [np.zeros(table.shape) for table in joint]
    for seed in range(calls):
        (rows,) = herded_rows(draw, widths, 4, n, np.random.default_rng(seed))
        for table, (left, right) in zip(found, itertools.combinations(range(4), 2), strict=True):
            np.add.at(table, (rows[:, left], rows[:, right], rows[:, -1]), 1)
    wanted = n * np.concatenate([table.ravel() for table in joint])
    counted = np.concatenate([table.ravel() for table in found]) / calls
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 1), (1, 3)):
        cells = (wanted >= low) & (wanted < high)
        assert counted[cells].sum() == pytest.approx(wanted[cells].sum(), rel=0.1), (low, high)


def test_a_label_of_many_values_takes_little_memory():
    herd = Herd.of([500] * 12 + [500], 6, np.random.default_rng(0))
    assert len(herd.ahead) <= herding.CELLS
    keys, _ = herded_rows(
        lambda m: (np.zeros((m, 13), np.int64), (np.zeros((m, 13)), np.arange(m))),
        [500] * 13,
        6,
        600,
        np.random.default_rng(0),
    )
    assert len(keys) == 600


def test_what_is_chosen_stays_together():
    draw, _ = drawer(2)
    drawn = {}

    def kept(m):
        drawn[m] = draw(m)
        return drawn[m]

    keys, places = herded_rows(kept, WIDTHS, PAIRED, 600, np.random.default_rng(0))
    assert len(set(places)) == 600
    np.testing.assert_array_equal(keys, drawn[2400][0][places])


@pytest.mark.parametrize("others", [0, 15])
def test_few_candidates_are_in_memory(monkeypatch, others):
    monkeypatch.setattr(herding, "AT_ONCE", 10_000)
    draw, asked = drawer(3)
    keys, _ = herded_rows(draw, WIDTHS, PAIRED, N, np.random.default_rng(0), others=others)
    assert len(keys) == N
    assert max(asked) * (len(WIDTHS) + others) <= 10_000


@pytest.mark.parametrize("n", [0, 1, 499, 60_000])
def test_many_rows_or_none_are_drawn_as_they_come(n):
    draw, asked = drawer(4)
    keys, _ = herded_rows(draw, WIDTHS, PAIRED, n, np.random.default_rng(0))
    assert len(keys) == n
    assert asked == [n]


def test_few_columns_are_drawn_as_they_come():
    draw, asked = drawer(5)
    herded_rows(draw, WIDTHS, 3, 600, np.random.default_rng(0))
    assert asked == [600]


def test_of_many_pairs_some_are_looked_at():
    herd = Herd.of([3] * 100, 99, np.random.default_rng(0))
    assert 0.9 < len(herd.left) / (herding.WORK // herding.FEWEST) <= 1
