"""Train on synthetic, test on real: every score is scikit-learn's own."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.ensemble import RandomForestClassifier

from nacre.evaluate.metrics import METRICS, dimension_prediction
from nacre.evaluate.metrics.auc import area, one_against_rest
from nacre.evaluate.metrics.ranking import agreement
from nacre.evaluate.tables.classifiers import (
    PEARL,
    PUBLISHED,
    QUICK,
    REGRESSORS,
    Prediction,
    available,
    make,
    predict,
    predict_all,
)
from nacre.evaluate.tables.features import MOST_VALUES, Features
from nacre.evaluate.tables.reading import read
from nacre.schema import Categorical, Schema


def values(name, comparison):
    return {v.part: v.value for v in METRICS[name].compute(comparison)}


def test_the_papers_lists():
    assert len(PUBLISHED) == 12
    assert len(PEARL) == 10
    assert set(PEARL) == set(PUBLISHED) - {"random forest", "XGBoost"}
    assert set(QUICK).isdisjoint(REGRESSORS)


def test_published_classifiers_have_default_parameters():
    for name in PUBLISHED:
        if name == "XGBoost":
            continue
        model = make(name, seed=3)
        changed = {
            key
            for key, value in model.get_params(deep=False).items()
            if value is not type(model)().get_params(deep=False)[key]
            and value != type(model)().get_params(deep=False)[key]
        }
        assert changed <= {"random_state", "max_iter"}, name


def test_unknown_classifier_lists_the_known():
    with pytest.raises(ValueError, match="No such classifier.*There are: logistic regression"):
        available(["forest of trees"])


def test_scores_are_sklearns(comparison):
    prediction = comparison.predictions[0]
    truth = prediction.truth == 1
    expected = {
        "auc": sk.roc_auc_score(truth, prediction.scores[:, 1]),
        "average-precision": sk.average_precision_score(truth, prediction.scores[:, 1]),
        "hard-roc": sk.balanced_accuracy_score(truth, prediction.hard == 1),
        "hard-prc": sk.average_precision_score(truth, prediction.hard == 1),
        "accuracy": sk.accuracy_score(truth, prediction.hard == 1),
        "f1-weighted": sk.f1_score(truth, prediction.hard == 1, average="weighted"),
        "f1-macro": sk.f1_score(truth, prediction.hard == 1, average="macro"),
    }
    for name, value in expected.items():
        found = values(name, comparison)
        assert found[prediction.model] == pytest.approx(value), name
        assert found[""] == pytest.approx(np.mean([found[p.model] for p in comparison.predictions]))


def test_learning_from_good_rows_is_nearly_as_good(compare, real, good, broken):
    good_auc = values("auc", compare(real, good))["logistic regression"]
    comparison = compare(real, broken)
    real_auc = values("auc", comparison.real_trained)["logistic regression"]
    assert real_auc > 0.85
    assert abs(good_auc - real_auc) < 0.02
    assert values("auc", comparison)["logistic regression"] < 0.7


def test_several_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    scores = rng.random((200, 3)) + np.eye(3)[truth]
    scores /= scores.sum(1, keepdims=True)
    prediction = Prediction("m", truth, scores.argmax(1), scores)
    expected = sk.roc_auc_score(truth, scores, multi_class="ovr", average="macro")
    assert one_against_rest(prediction, 1, area) == pytest.approx(expected)


def test_the_rarer_class_is_positive(compare, real, good):
    assert compare(real, good).positive == 1
    flipped = real.assign(income=np.where(real["income"] == ">50K", "<=50K", ">50K"))
    assert compare(flipped, good).positive == 0


@pytest.mark.parametrize("lacking", ["<=50K", ">50K"])
def test_a_table_with_one_class_is_guessing(compare, real, lacking):
    synthetic = real[real["income"] != lacking]
    comparison = compare(real, synthetic)
    assert values("auc", comparison)[""] == 0.5
    assert all("single class" in p.problem for p in comparison.predictions)


def test_a_missing_class_keeps_the_others_in_place():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2)).astype(np.float32)
    y = np.where(x[:, 0] > 0, 2, 0)
    truth = np.where(x[:, 0] > 0.5, 2, np.where(x[:, 0] > -0.5, 1, 0))
    for name in ("logistic regression", "linear SVM", "boosting"):
        prediction = predict(name, (x, y), (x, truth), classes=3, seed=0)
        assert set(prediction.hard) == {0, 2}, name
        assert (prediction.scores[:, 1] < prediction.scores[:, [0, 2]].min(1)).all()


def test_every_model_learns():
    rng = np.random.default_rng(0)
    x = rng.random((400, 4)).astype(np.float32)
    y = (x[:, 0] + 0.2 * x[:, 1] > 0.6).astype(int)
    # Bernoulli naive Bayes asks only whether a feature is above 0.
    x[:, 3] = y
    for name in available((*PUBLISHED, "boosting")):
        prediction = predict(name, (x, y), (x, y), classes=2, seed=0)
        assert not prediction.problem
        assert area(y == 1, prediction.scores[:, 1]) > 0.9, name
    for name in REGRESSORS:
        target = x[:, 0].astype(float)
        prediction = predict(name, (x, target), (x, target), classes=None, seed=0)
        assert sk.r2_score(target, prediction.hard) > 0.9, name


def test_processes_give_the_same_as_one():
    rng = np.random.default_rng(0)
    x = rng.random((300, 3)).astype(np.float32)
    y = (x[:, 0] > 0.5).astype(int)
    names = ("logistic regression", "random forest", "boosting")
    one, two = (
        list(predict_all(names, (x, y), (x, y), classes=2, seed=1, jobs=jobs)) for jobs in (1, 2)
    )
    assert [p.model for p in two] == list(names)
    for a, b in zip(one, two, strict=True):
        assert a.scores == pytest.approx(b.scores)


def test_regression_of_a_number(compare, real, good, broken):
    real, good, broken = (table.head(800) for table in (real, good, broken))
    comparison = compare(real, good, label="wage")
    found = values("r2", comparison)
    assert set(found) == {"", *REGRESSORS}
    prediction = comparison.predictions[0]
    assert len(prediction.truth) < 1500  # rows whose wage is missing cannot be scored
    assert found[prediction.model] == pytest.approx(sk.r2_score(prediction.truth, prediction.hard))
    assert found[""] > 0.4
    assert values("r2", compare(real, broken, label="wage"))[""] < 0.1


def test_ranking(comparison):
    assert agreement([3, 2, 1], [30, 20, 10]) == 1
    assert agreement([3, 2, 1], [10, 20, 30]) == 0
    assert agreement([1, 1], [1, 1]) == 1
    assert values("ranking", comparison)[""] in {0.0, 1.0}


def test_features_are_scaled_and_one_hot(real, schema):
    rows = read(real, schema, "t")
    matrix = Features.of(rows, without="income").matrix(rows)
    assert matrix.dtype == np.float32
    # 4 numbers, 1 indicator, sex 2, job 4 + other + missing, degree 3, member 2.
    assert matrix.shape == (len(real), 4 + 1 + 2 + 6 + 3 + 2)
    assert matrix.min() == 0
    assert matrix.max() == 1
    assert matrix[:, 0] == pytest.approx((real["age"].to_numpy() - 17) / 73)


def test_many_values_share_a_column():
    names = [f"v{i}" for i in range(500)]
    schema = Schema({"many": Categorical(values=names)})
    import pyarrow as pa

    rows = read(pa.table({"many": names + names[:50] * 3}), schema, "t")
    matrix = Features.of(rows).matrix(rows)
    assert matrix.shape[1] == MOST_VALUES + 1
    assert (matrix.sum(1) == 1).all()
    # The fifty frequent ones are kept apart.
    assert len(np.unique(matrix[:50].argmax(1))) == 50


def test_dimension_prediction(compare, real, good, broken):
    columns = ["age", "wage", "degree", "income"]
    schema = compare(real, good).real.schema.select(columns)
    kept, lost = (
        values(
            "dimension-prediction",
            compare(real[columns].head(600), t[columns].head(600), schema=schema),
        )
        for t in (good, broken)
    )
    assert kept["income"] > 0.85 > lost["income"]
    assert kept["wage"] > 0.4 > lost["wage"]
    assert set(kept) == {"", *columns}


def test_dimension_prediction_is_a_forest_of_sklearns(compare, real, good, held):
    columns = ["age", "sex", "income"]
    schema = Schema({c: compare(real, good).real.schema.columns[c] for c in columns})
    comparison = compare(
        real[columns], good[columns].head(500), test=held[columns], schema=schema, label=None
    )

    def features(frame):
        age = (frame["age"].to_numpy() - 17) / 73
        hot = [frame["sex"] == value for value in ("Female", "Male")]
        return np.column_stack([age, *hot]).astype(np.float32)

    forest = RandomForestClassifier(n_estimators=50, max_depth=14, random_state=0)
    forest.fit(features(good.head(500)), good["income"].head(500) == ">50K")
    chance = forest.predict_proba(features(held))[:, 1]
    found = dimension_prediction.goodness(comparison.synthetic, comparison.test, "income", 0)
    assert found == pytest.approx(sk.roc_auc_score(held["income"] == ">50K", chance), abs=0.01)


def test_dimension_probability(compare, real):
    changed = real.assign(sex="Male")
    found = values("dimension-probability", compare(real, changed))[""]
    gap = (real["sex"] == "Female").mean()
    # One-hot columns: sex 1 (two values), job 6, degree 3, member 1, income 1.
    assert found == pytest.approx(gap / 12)
