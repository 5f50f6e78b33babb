"""Harder, Adamczewski and Park (2021), DP-MERF: Tables 3, 9 and 10, at delta = 1e-5.

Accuracy and F1 of twelve classifiers of pixels, means of five runs; Table 3 has their averages.
"""

from bench.images.published.row import FASHION, MNIST, UNSOUND, Row
from nacre.evaluate.tables.classifiers import PUBLISHED

# Real images; DP-CGAN, DP-MERF with an autoencoder and DP-MERF at 9.6; DP-MERF at 2.9 and at 1.3.
COLUMNS: tuple[tuple[str, float | None], ...] = (
    ("real images", None),
    ("DP-CGAN", 9.6),
    ("DP-MERF+AE", 9.6),
    ("DP-MERF", 9.6),
    ("DP-MERF", 2.9),
    ("DP-MERF", 1.3),
)
EPSILONS = (9.6, 2.9, 1.3)

# By classifier, in the order of `PUBLISHED`: accuracy in these columns, then F1.
_TABLE_9 = (
    ((0.93, 0.60, 0.56, 0.68, 0.64, 0.61), (0.92, 0.59, 0.56, 0.67, 0.63, 0.60)),
    ((0.56, 0.31, 0.12, 0.54, 0.54, 0.42), (0.51, 0.31, 0.06, 0.55, 0.54, 0.41)),
    ((0.84, 0.61, 0.58, 0.76, 0.77, 0.72), (0.84, 0.61, 0.58, 0.76, 0.76, 0.71)),
    ((0.92, 0.55, 0.40, 0.59, 0.55, 0.48), (0.92, 0.54, 0.41, 0.59, 0.54, 0.46)),
    ((0.88, 0.34, 0.30, 0.31, 0.31, 0.23), (0.88, 0.32, 0.30, 0.30, 0.29, 0.20)),
    ((0.88, 0.59, 0.60, 0.69, 0.70, 0.66), (0.88, 0.59, 0.59, 0.69, 0.69, 0.65)),
    ((0.73, 0.25, 0.26, 0.42, 0.42, 0.37), (0.72, 0.22, 0.20, 0.41, 0.39, 0.35)),
    ((0.93, 0.43, 0.40, 0.49, 0.45, 0.31), (0.93, 0.40, 0.37, 0.47, 0.42, 0.27)),
    ((0.97, 0.64, 0.56, 0.67, 0.67, 0.58), (0.97, 0.63, 0.54, 0.65, 0.65, 0.54)),
    ((0.91, 0.46, 0.28, 0.42, 0.41, 0.29), (0.91, 0.44, 0.25, 0.40, 0.38, 0.24)),
    ((0.98, 0.56, 0.51, 0.64, 0.63, 0.53), (0.98, 0.56, 0.51, 0.64, 0.62, 0.51)),
    ((0.91, 0.61, 0.56, 0.71, 0.68, 0.60), (0.91, 0.60, 0.54, 0.70, 0.66, 0.56)),
)
_TABLE_10 = (
    ((0.84, 0.46, 0.50, 0.61, 0.57, 0.54), (0.84, 0.46, 0.50, 0.60, 0.57, 0.54)),
    ((0.59, 0.29, 0.15, 0.57, 0.55, 0.51), (0.56, 0.26, 0.07, 0.58, 0.56, 0.50)),
    ((0.65, 0.50, 0.53, 0.61, 0.60, 0.57), (0.64, 0.50, 0.53, 0.61, 0.60, 0.58)),
    ((0.84, 0.39, 0.42, 0.48, 0.45, 0.41), (0.84, 0.40, 0.42, 0.46, 0.43, 0.39)),
    ((0.79, 0.32, 0.34, 0.27, 0.26, 0.23), (0.79, 0.29, 0.32, 0.25, 0.24, 0.21)),
    ((0.80, 0.49, 0.66, 0.68, 0.68, 0.65), (0.80, 0.48, 0.64, 0.68, 0.68, 0.64)),
    ((0.56, 0.22, 0.24, 0.35, 0.34, 0.33), (0.55, 0.15, 0.18, 0.30, 0.30, 0.29)),
    ((0.84, 0.31, 0.48, 0.40, 0.36, 0.34), (0.84, 0.26, 0.44, 0.39, 0.33, 0.32)),
    ((0.88, 0.48, 0.54, 0.63, 0.60, 0.57), (0.87, 0.46, 0.50, 0.62, 0.59, 0.56)),
    ((0.83, 0.33, 0.30, 0.34, 0.33, 0.23), (0.83, 0.30, 0.27, 0.31, 0.30, 0.19)),
    ((0.88, 0.46, 0.55, 0.57, 0.57, 0.55), (0.88, 0.45, 0.55, 0.55, 0.55, 0.51)),
    ((0.83, 0.49, 0.52, 0.63, 0.62, 0.59), (0.82, 0.46, 0.46, 0.61, 0.59, 0.55)),
)
_TABLE_3 = {
    MNIST: ((0.87, 0.50, 0.43, 0.58, 0.56, 0.48), (0.86, 0.48, 0.41, 0.57, 0.55, 0.46)),
    FASHION: ((0.78, 0.39, 0.44, 0.51, 0.49, 0.46), (0.77, 0.37, 0.41, 0.50, 0.48, 0.44)),
}


def _rows(
    dataset: str, source: str, classifier: str, scores: tuple[tuple[float, ...], ...]
) -> list[Row]:
    return [
        Row(
            method=method,
            source=source,
            dataset=dataset,
            epsilon=epsilon,
            score=score,
            value=value,
            classifier=classifier,
            unsound=UNSOUND["autoencoder"] if method == "DP-MERF+AE" else "",
        )
        for score, values in zip(("accuracy", "f1"), scores, strict=True)
        for (method, epsilon), value in zip(COLUMNS, values, strict=True)
    ]


ROWS = tuple(
    row
    for dataset, source, table in (
        (MNIST, "DP-MERF, Table 9", _TABLE_9),
        (FASHION, "DP-MERF, Table 10", _TABLE_10),
    )
    for part in (
        *(_rows(dataset, source, *each) for each in zip(PUBLISHED, table, strict=True)),
        _rows(dataset, "DP-MERF, Table 3", "", _TABLE_3[dataset]),
    )
    for row in part
)
