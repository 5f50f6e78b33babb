"""Scores of a classifier from noisy counts, and the classifier itself."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from tests.publish.people import SCHEMA, encoded, people

from nacre.embed.marginals import cell_places
from nacre.publish import predictor
from nacre.publish.scores import binary_scores, class_scores


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    truth = rng.random(3000) < 0.3
    step = np.clip(np.rint(rng.normal(5 + 3 * truth, 2)), 0, 11).astype(int)
    counts = np.stack([np.bincount(step[truth == c], minlength=12) for c in (False, True)])
    auc, accuracy = binary_scores(counts * 1.0, 1e-9, counts * 1.0, positive=1, cut=7)
    assert auc.value == pytest.approx(roc_auc_score(truth, step))
    assert accuracy.value == pytest.approx(accuracy_score(truth, step >= 7))
    flipped, _ = binary_scores(counts[::-1] * 1.0, 1e-9, counts[::-1] * 1.0, positive=0, cut=7)
    assert flipped.value == auc.value
    guess = rng.integers(0, 3, 500)
    real = np.where(rng.random(500) < 0.5, guess, rng.integers(0, 3, 500))
    table = np.zeros((3, 3))
    np.add.at(table, (real, guess), 1)
    accuracy, balanced = class_scores(table, 1e-9, table)
    assert accuracy.value == pytest.approx(accuracy_score(real, guess))
    assert balanced.value == pytest.approx(balanced_accuracy_score(real, guess))


@pytest.mark.parametrize("classes", [2, 3])
def test_error_bars_are_as_wide_as_the_noise_makes_them(classes):
    rng = np.random.default_rng(4)
    counts = rng.integers(200, 2000, (classes, 20 if classes == 2 else classes)).astype(np.float64)
    counts[0] = np.sort(counts[0])[::-1]

    def scored(table):
        if classes == 2:
            return binary_scores(table, 15.0, counts, positive=1, cut=10)
        return class_scores(table, 15.0, counts)

    truth = scored(counts)
    drawn = [scored(counts + rng.normal(0, 15, counts.shape)) for _ in range(800)]
    for place, exact in enumerate(truth):
        inside = [abs(each[place].value - exact.value) <= each[place].error for each in drawn]
        assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_more_noise_than_rows_gives_no_score():
    counts = np.ones((2, 20))
    auc, accuracy = binary_scores(counts, 50.0, counts, positive=1, cut=10)
    assert (auc.value, auc.error, accuracy.value) == (None, None, None)


def test_the_classifier_in_whole_numbers_is_as_good_as_one_in_fractions():
    rows = encoded(people(6000))
    found = predictor.train(rows)
    assert found.table.dtype == np.int32 and found.positive == 1
    assert 0 in found.edges and 19 <= len(found.edges) <= 20
    counts = found.synthetic
    auc, accuracy = binary_scores(counts, 1e-9, counts, positive=1, cut=found.cut)

    places = cell_places(SCHEMA.layout, found.columns)
    cells = predictor._mapped(places, predictor._grid(rows))
    hot = np.eye(len(found.table))[cells].sum(1)
    truth, kept = rows.codes[found.label], 4800
    fractions = LogisticRegression(max_iter=300).fit(hot[:kept], truth[:kept])
    score = fractions.decision_function(hot[kept:])
    assert auc.value == pytest.approx(roc_auc_score(truth[kept:], score), abs=0.005)
    assert accuracy.value == pytest.approx(accuracy_score(truth[kept:], score > 0), abs=0.005)
