"""What cannot be is not drawn, and everything else stays as it was."""

import numpy as np
import pytest

from nacre.methods.mosaic.learn import Pairs
from nacre.methods.mosaic.sparse import Link, Sparse, find_links, relink

BLOCKS = ((0, 4), (4, 8), (8, 10))
TRUTH = {
    (0, 1): np.diag([4000.0, 3000, 2000, 1000]),
    (0, 2): np.array([[4000.0, 0], [0, 3000], [1000, 1000], [500, 500]]),
    (1, 2): np.array([[4000.0, 0], [0, 3000], [1000, 1000], [500, 500]]),
}


def known(noise=30.0, seed=0):
    rng = np.random.default_rng(seed)
    tables = {
        pair: np.stack([table / 2, table / 2]) + rng.normal(0, noise, (2, *table.shape))
        for pair, table in TRUTH.items()
    }
    return Sparse.of(Pairs((), [], tables, dict.fromkeys(tables, noise)), BLOCKS, 10_000.0)


def smeared(part=0.1):
    """Moments of a model that puts `part` of its rows anywhere."""
    moments = np.zeros((10, 10))
    for (i, j), table in TRUTH.items():
        share = table / table.sum()
        flat = share.sum(1, keepdims=True) * share.sum(0, keepdims=True)
        left, right = slice(*BLOCKS[i]), slice(*BLOCKS[j])
        moments[left, right] = (1 - part) * share + part * flat
        moments[right, left] = moments[left, right].T
    return moments


def test_empty_cells_are_found_with_what_they_hold_at_most():
    found = known()
    assert (found.cells[0:4, 4:8] == 1 - np.eye(4)).all()
    assert (found.cells == found.cells.T).all()
    assert found.cells[0:4, 8:10].tolist() == [[0, 1], [1, 0], [0, 0], [0, 0]]
    # Twelve empty cells, but four filled ones: their complement in two classes has less noise.
    assert found.precision[0, 1] ** -0.5 == pytest.approx(30 * np.sqrt(2 * 4) / 10_000)
    assert found.precision[0, 2] ** -0.5 == pytest.approx(30 * np.sqrt(2 * 2) / 10_000)
    assert found.most[0, 1] < 0.03
    assert found.precision[0, 0] == 0


def test_tables_of_few_sure_cells_are_left_alone():
    flat = {(0, 1): np.full((1, 4, 4), 50.0)}
    found = Sparse.of(Pairs((), [], flat, {(0, 1): 100.0}), BLOCKS[:2], 800.0)
    assert not found.cells.any() and not found.precision.any()


def test_links_keep_the_margins_and_empty_the_cells():
    sparse, moments = known(), smeared()
    links = find_links(moments, sparse, BLOCKS)
    assert len(links) == 2
    children = [link.child for link in links]
    assert len(set(children)) == 2
    for place, link in enumerate(links):
        assert link.parent not in children[place:], "parents come first"
        left, right = slice(*BLOCKS[link.parent]), slice(*BLOCKS[link.child])
        model = moments[left, right]
        assert link.table.sum(0) == pytest.approx(model.sum(0), abs=1e-3)
        assert link.table.sum(1) == pytest.approx(model.sum(1), abs=1e-3)
        empty = sparse.cells[left, right] > 0
        assert link.table[empty].sum() < 0.5 * model[empty].sum()


def test_a_model_without_rows_in_empty_cells_gets_no_links():
    assert find_links(smeared(0.0), known(), BLOCKS) == []


def test_relinked_rows_are_as_wanted_and_few_are_drawn_again():
    rng = np.random.default_rng(3)
    model = smeared()[0:4, 4:8]
    (link,) = [k for k in find_links(smeared(), known(), BLOCKS) if {k.parent, k.child} == {0, 1}]
    assert isinstance(link, Link)
    model = model if link.parent == 0 else model.T
    pair = rng.choice(16, 200_000, p=model.ravel() / model.sum())
    parent, child = np.divmod(pair, 4)
    again = relink(parent, child, model, link.table, rng)
    found = np.bincount(parent * 4 + again, minlength=16).reshape(4, 4) / len(pair)
    assert found == pytest.approx(link.table / link.table.sum(), abs=3e-3)
    least = 0.5 * np.abs(link.table / link.table.sum() - model / model.sum()).sum()
    assert (again != child).mean() < least + 5e-3
