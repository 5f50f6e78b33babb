"""DP-auto-GAN's tables as printed: Tantipongpipat et al. (2021), Tables 2 and 3, delta = 1e-5."""

import math

from bench.tables.published.cell import STATISTICS, Cell, Table

ADULT = "adult-official"
NAME = "DP-auto-GAN"
METRICS = ("w2-pca-score", "w2-score")

_REAL = 0.8663
_ACCURACY = {math.inf: 0.7918, 1.5: 0.7786, 1.0: 0.7692, 0.8: 0.777}
# 2-way PCA score, whole-data score.
_WASSERSTEIN = {1.5: (0.4436, 0.6084), 1.0: (0.4117, 0.6053), 0.8: (0.1925, 0.6051)}

TABLES = (
    Table(
        "DP-auto-GAN, Table 2: Adult",
        "Accuracy of a random forest that predicts the income. The paper does not say how it "
        "splits Adult; ours is the official split, without fnlwgt and with one of the two columns "
        "of education. Three in four incomes are low: to guess that is right in 76%. The paper's "
        "guarantee does not hold (its encoder is trained without noise); ours at these ε do.",
        tuple(
            Cell(
                dataset=ADULT,
                row="random forest",
                score="accuracy",
                theirs={NAME: accuracy},
                epsilon=epsilon,
                real=_REAL,
                over=("random forest",),
            )
            for epsilon, accuracy in _ACCURACY.items()
        ),
    ),
    Table(
        "DP-auto-GAN, Table 3: Adult",
        "Higher is better. The printed numbers are on another scale than the paper's formula 1 - "
        "W2/(√v·largest squared distance), by which no table of 106 columns in [0, 1] could score "
        "below 77.6% as a whole; ours follow the formula. So no winner is declared.",
        tuple(
            Cell(dataset=ADULT, row=STATISTICS, score=score, theirs={NAME: number}, epsilon=epsilon)
            for epsilon, numbers in _WASSERSTEIN.items()
            for score, number in zip(METRICS, numbers, strict=True)
        ),
    ),
)
