"""Networks along a junction tree, against the whole joint distribution written out."""

import numpy as np
import pytest

from nacre.methods.graphical.tree import Network, Tree, align, onto

SIZES = (3, 4, 2, 5, 3, 2)
EVERY = tuple(range(len(SIZES)))
CLASSES = 2
# A cycle 0-1-2-3 made into triangles, a pair and a loner.
TREE = Tree.of([(0, 1, 2), (0, 2, 3), (4,), (3, 5)], [((0, 1, 2), (0, 2, 3)), ((0, 2, 3), (3, 5))])


def shape(clique):
    return [CLASSES, *(SIZES[column] for column in clique)]


@pytest.fixture
def both():
    """A network and its joint distribution over class and all columns."""
    rng = np.random.default_rng(5)
    logs = [2 * rng.normal(size=shape(clique)) for clique in TREE.cliques]
    joint = sum(align(table, c, EVERY) for table, c in zip(logs, TREE.cliques, strict=True))
    joint = np.exp(joint)
    return Network.of(TREE, logs), joint / joint.sum()


def test_each_clique_meets_those_before_it_in_its_parent():
    done = set()
    assert TREE.parents[0] is None
    assert {column for clique in TREE.cliques for column in clique} == set(EVERY)
    for place, clique in enumerate(TREE.cliques):
        assert set(clique) & done == set(TREE.separator(place))
        assert clique == TREE.separator(place) + TREE.new(place)
        done |= set(clique)
    with pytest.raises(ValueError, match="No clique"):
        TREE.home((1, 3))


def test_marginals_and_all_pairs_are_those_of_the_joint(both):
    network, joint = both
    np.testing.assert_allclose(network.weights, joint.reshape(CLASSES, -1).sum(1))
    for clique, table in zip(TREE.cliques, network.marginals(), strict=True):
        np.testing.assert_allclose(table, onto(joint, EVERY, clique), atol=1e-14)
    pairs = network.pairs()
    assert len(pairs) == len(SIZES) * (len(SIZES) - 1) // 2
    for pair, table in pairs.items():
        np.testing.assert_allclose(table, onto(joint, EVERY, pair), atol=1e-14)


def test_evidence_acts_by_bayes_rule(both):
    network, joint = both
    rng = np.random.default_rng(6)
    only = np.array([[0.0, 1.0]] * CLASSES)
    evidence = {3: rng.random((CLASSES, 5)), 5: only, 4: rng.random((CLASSES, 3))}
    for column, likelihood in evidence.items():
        joint = joint * align(likelihood, (column,), EVERY)
    joint = joint / joint.sum()
    for pair, table in network.given(evidence).pairs().items():
        np.testing.assert_allclose(table, onto(joint, EVERY, pair), atol=1e-14)


def test_what_is_impossible_has_no_weight(both):
    network, _ = both
    assert network.given({5: np.zeros((CLASSES, 2))}).weights.sum() == 0
    first_only = network.given({5: np.array([[1.0, 1.0], [0.0, 0.0]])})
    np.testing.assert_allclose(first_only.weights, [1, 0])
    assert all(np.isfinite(table).all() for table in first_only.tables)
