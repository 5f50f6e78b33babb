"""MMD, Wasserstein and closest records against other computations."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance
from sklearn.metrics.pairwise import rbf_kernel

from nacre.evaluate.metrics import METRICS
from nacre.evaluate.metrics.copies import row_hashes
from nacre.evaluate.metrics.mmd import squared_mmd
from nacre.evaluate.metrics.wasserstein import principal_plane, wasserstein2
from nacre.evaluate.tables.features import Features


def value(name, comparison):
    return next(iter(METRICS[name].compute(comparison)))


def test_mmd_is_sklearns_kernel():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), rng.normal(0.3, 1, size=(40, 3))
    k = [rbf_kernel(a, b, gamma=1 / (2 * 1.5**2)) for a, b in ((x, x), (y, y), (x, y))]
    off = [m[~np.eye(len(m), dtype=bool)].mean() for m in k[:2]]
    assert squared_mmd(x, y, 1.5) == pytest.approx(sum(off) - 2 * k[2].mean())


def test_mmd_tells_tables_apart(compare, real, good, broken):
    real, good, broken = (table.head(600) for table in (real, good, broken))
    same, other = (value("mmd", compare(real, t)) for t in (good, broken))
    assert abs(same.value) < 0.002
    assert other.value > 5 * abs(same.value)


def test_w2_is_the_best_of_all_matchings():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    best = min(((x - y[list(p)]) ** 2).sum(1).mean() for p in itertools.permutations(range(6)))
    assert wasserstein2(x, y) == pytest.approx(np.sqrt(best))


def test_w2_in_one_dimension_is_sorting():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(50, 1)), rng.normal(1, 1, size=(50, 1))
    expected = np.sqrt(((np.sort(x[:, 0]) - np.sort(y[:, 0])) ** 2).mean())
    assert wasserstein2(x, y) == pytest.approx(expected)
    assert wasserstein2(x, y) >= wasserstein_distance(x[:, 0], y[:, 0])


def test_wasserstein_score_is_the_papers(comparison):
    w2, score = value("w2", comparison).value, value("w2-score", comparison).value
    # Numbers age, wage, size, seen; the indicator of a missing wage; five categories.
    largest = 4 + 1 + 2 * 5
    assert score == pytest.approx(1 - w2 / largest)
    w2, score = value("w2-pca", comparison).value, value("w2-pca-score", comparison).value
    explained = principal_plane(comparison)[1]
    assert score == pytest.approx(1 - w2 / (np.sqrt(explained) * largest))


def test_largest_distance_is_reached(comparison):
    matrix = np.unique(comparison.features.matrix(comparison.real), axis=0)
    largest = comparison.features.largest_distance(comparison.real)
    assert cdist(matrix[:500], matrix[:500], "sqeuclidean").max() <= largest + 1e-4


def test_principal_plane_explains_what_numpy_says(comparison):
    matrix = comparison.features.matrix(comparison.real).astype(float)
    variances = np.linalg.eigvalsh(np.cov(matrix.T))[::-1]
    assert principal_plane(comparison)[1] == pytest.approx(
        variances[:2].sum() / variances.sum(), rel=1e-4
    )


def test_closest_record_is_scipys_median(compare, real, good):
    comparison = compare(real.head(300), good.head(200))
    one = np.sqrt(0.5)
    matrices = [
        comparison.features.matrix(rows, one).astype(float)
        for rows in (comparison.synthetic, comparison.train)
    ]
    nearest = cdist(*matrices).min(axis=1)
    found = {str(v.part): v.value for v in METRICS["closest-record"].compute(comparison)}
    assert found[""] == pytest.approx(np.median(nearest), abs=1e-4)
    assert found["closest 5%"] == pytest.approx(np.quantile(nearest, 0.05), abs=1e-4)


def test_closer_to_training_is_scipys(compare, real, good, held):
    comparison = compare(real.head(200), good.head(150), test=held.head(200))
    synthetic, train, test = (
        comparison.features.matrix(rows, np.sqrt(0.5)).astype(float)
        for rows in (comparison.synthetic, comparison.train, comparison.test)
    )
    to_train, to_test = (cdist(synthetic, m).min(axis=1) for m in (train, test))
    assert value("closer-to-training", comparison).value == pytest.approx(
        np.mean(to_train < to_test)
    )


def test_two_values_lie_at_distance_one(compare, real):
    one, other = real.head(20).assign(sex="Male"), real.head(20).assign(sex="Female")
    comparison = compare(one, other)
    features = Features.of(comparison.real)
    first = features.matrix(comparison.real, np.sqrt(0.5))[0]
    second = features.matrix(comparison.synthetic, np.sqrt(0.5))[0]
    assert np.linalg.norm(first - second) == pytest.approx(1)


def test_copies_are_counted(compare, real, good):
    mixed = good.copy()
    mixed.iloc[:250] = real.iloc[:250]
    assert value("copies", compare(real, good)).value == 0
    assert value("copies", compare(real, mixed)).value == pytest.approx(0.1)


def test_hashes_differ_in_every_column(compare, real):
    comparison = compare(real, real)
    base = row_hashes(comparison.real)
    assert len(np.unique(base)) == len(real.drop_duplicates())
    swapped = real.assign(sex=np.where(real["sex"] == "Male", "Female", "Male"))
    assert not np.isin(row_hashes(compare(swapped, real).real), base).any()


def test_closer_to_training_flags_memorized_rows(compare, real, good, held):
    rng = np.random.default_rng(0)
    memorized = real.sample(2000, replace=True, random_state=0)
    memorized = memorized.assign(size=np.clip(memorized["size"] + rng.normal(0, 0.01, 2000), -1, 1))
    honest = value("closer-to-training", compare(real, good))
    caught = value("closer-to-training", compare(real, memorized))
    assert abs(honest.value - 0.5) < 4 * honest.error
    assert caught.value > 0.7
