"""DP-MERF's tables as printed: Harder, Adamczewski and Park (2021), Tables 2 and 5-8.

Private numbers are at (1, 1e-5); the others have no noise.
"""

import math

from bench.tables.published.cell import AVERAGE, SCORES, Cell, Table
from nacre.evaluate.tables.classifiers import PUBLISHED

METHODS = ("DP-CGAN", "DP-MERF")

# Real; then DP-CGAN and DP-MERF without privacy; then both with it.  ROC first, PRC below it.
_TABLE_2 = {
    "adult": ((0.730, 0.519, 0.653, 0.509, 0.650), (0.639, 0.451, 0.570, 0.444, 0.564)),
    "census": ((0.747, 0.646, 0.692, 0.655, 0.686), (0.415, 0.200, 0.369, 0.216, 0.358)),
    "cervical": ((0.786, 0.587, 0.896, 0.519, 0.545), (0.493, 0.251, 0.737, 0.200, 0.184)),
    "credit": ((0.923, 0.801, 0.898, 0.664, 0.772), (0.874, 0.432, 0.774, 0.356, 0.637)),
    "epileptic": ((0.797, 0.490, 0.616, 0.578, 0.611), (0.617, 0.190, 0.335, 0.241, 0.340)),
    "isolet": ((0.893, 0.622, 0.733, 0.511, 0.547), (0.728, 0.264, 0.424, 0.198, 0.404)),
}
_TABLE_2_F1 = {
    "covtype": (0.643, 0.236, 0.513, 0.285, 0.467),
    "intrusion": (0.959, 0.43, 0.856, 0.302, 0.85),
}

# Best of five, in the same order; ROC, PRC of each.
_TABLE_5 = (
    ((0.95, 0.91), (0.83, 0.37), (0.92, 0.79), (0.74, 0.52), (0.78, 0.61)),
    ((0.90, 0.80), (0.85, 0.39), (0.92, 0.76), (0.80, 0.55), (0.65, 0.48)),
    ((0.89, 0.84), (0.58, 0.19), (0.89, 0.82), (0.67, 0.42), (0.90, 0.74)),
    ((0.92, 0.89), (0.84, 0.48), (0.91, 0.65), (0.78, 0.45), (0.64, 0.38)),
    ((0.91, 0.82), (0.74, 0.32), (0.92, 0.69), (0.58, 0.22), (0.72, 0.58)),
    ((0.87, 0.82), (0.86, 0.53), (0.82, 0.68), (0.58, 0.24), (0.69, 0.51)),
    ((0.94, 0.89), (0.83, 0.51), (0.93, 0.85), (0.62, 0.32), (0.75, 0.63)),
    ((0.91, 0.84), (0.79, 0.42), (0.91, 0.79), (0.57, 0.21), (0.74, 0.61)),
    ((0.93, 0.90), (0.82, 0.54), (0.92, 0.86), (0.63, 0.31), (0.75, 0.62)),
    ((0.94, 0.89), (0.85, 0.54), (0.94, 0.85), (0.58, 0.22), (0.74, 0.61)),
    ((0.92, 0.89), (0.83, 0.47), (0.91, 0.74), (0.78, 0.55), (0.66, 0.44)),
    ((0.94, 0.91), (0.81, 0.49), (0.94, 0.87), (0.70, 0.53), (0.72, 0.59)),
)
# Mean of five: DP-MERF without privacy, with it; ROC, PRC of each.
_TABLE_6 = (
    ((0.919, 0.808), (0.796, 0.665)),
    ((0.898, 0.725), (0.729, 0.582)),
    ((0.879, 0.791), (0.752, 0.586)),
    ((0.876, 0.667), (0.742, 0.549)),
    ((0.901, 0.700), (0.775, 0.650)),
    ((0.838, 0.697), (0.725, 0.544)),
    ((0.912, 0.828), (0.787, 0.689)),
    ((0.909, 0.805), (0.811, 0.709)),
    ((0.911, 0.840), (0.786, 0.686)),
    ((0.917, 0.812), (0.807, 0.707)),
    ((0.905, 0.777), (0.747, 0.570)),
    ((0.915, 0.837), (0.812, 0.716)),
)
# F1: best of five, in the order of Table 2; then DP-MERF's mean of five without privacy, with it.
_TABLES_7_8 = (
    ((0.948, 0.710, 0.926, 0.567, 0.940), (0.891, 0.928)),
    ((0.757, 0.503, 0.804, 0.215, 0.736), (0.845, 0.792)),
    ((0.927, 0.693, 0.822, 0.475, 0.755), (0.454, 0.508)),
    ((0.983, 0.639, 0.922, 0.915, 0.937), (0.890, 0.917)),
    ((0.999, 0.496, 0.862, 0.153, 0.952), (0.911, 0.907)),
    ((0.990, 0.224, 0.910, 0.652, 0.950), (0.859, 0.925)),
    ((0.947, 0.898, 0.924, 0.398, 0.503), (0.899, 0.592)),
    ((1.000, 0.499, 0.914, 0.519, 0.956), (0.926, 0.922)),
    ((1.000, 0.497, 0.941, 0.676, 0.943), (0.904, 0.923)),
    ((0.999, 0.501, 0.924, 0.255, 0.933), (0.901, 0.926)),
    ((0.997, 0.923, 0.933, 0.733, 0.957), (0.898, 0.941)),
    ((0.999, 0.886, 0.921, 0.751, 0.933), (0.891, 0.921)),
)
EPSILONS = (math.inf, 1.0)


def _pair(row: tuple[float, ...], epsilon: float) -> dict[str, float]:
    """Both methods' numbers of a row that begins with real data."""
    first = 1 + 2 * EPSILONS.index(epsilon)
    return dict(zip(METHODS, row[first : first + 2], strict=True))


def _averages(epsilon: float) -> tuple[Cell, ...]:
    """Table 2."""
    numbers = [
        (name, score, row)
        for name, rows in _TABLE_2.items()
        for score, row in zip(SCORES, rows, strict=True)
    ]
    numbers += [(name, "f1", row) for name, row in _TABLE_2_F1.items()]
    return tuple(
        Cell(
            dataset=name,
            row=AVERAGE,
            score=score,
            theirs=_pair(row, epsilon),
            epsilon=epsilon,
            real=row[0],
        )
        for name, score, row in numbers
    )


def _best(epsilon: float) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """Tables 5 (Credit) and 7 (Intrusion): the best of five runs."""
    rows = [
        ("credit", name, score, tuple(column[place] for column in row))
        for name, row in zip(PUBLISHED, _TABLE_5, strict=True)
        for place, score in enumerate(SCORES)
    ]
    rows += [
        ("intrusion", name, "f1", row)
        for name, (row, _) in zip(PUBLISHED, _TABLES_7_8, strict=True)
    ]
    cells = [
        Cell(
            dataset=dataset,
            row=name,
            score=score,
            theirs=_pair(row, epsilon),
            epsilon=epsilon,
            real=row[0],
            best=True,
        )
        for dataset, name, score, row in rows
    ]
    return _split(cells)


def _mean(epsilon: float) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """Tables 6 (Credit) and 8 (Intrusion): the mean of five runs of DP-MERF."""
    which = EPSILONS.index(epsilon)
    rows = [
        ("credit", name, score, row[which][place])
        for name, row in zip(PUBLISHED, _TABLE_6, strict=True)
        for place, score in enumerate(SCORES)
    ]
    rows += [
        ("intrusion", name, "f1", row[which])
        for name, (_, row) in zip(PUBLISHED, _TABLES_7_8, strict=True)
    ]
    cells = [
        Cell(dataset=dataset, row=name, score=score, theirs={"DP-MERF": number}, epsilon=epsilon)
        for dataset, name, score, number in rows
    ]
    return _split(cells)


def _split(cells: list[Cell]) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """Those of Credit and those of Intrusion."""
    credit = tuple(cell for cell in cells if cell.dataset == "credit")
    return credit, tuple(cell for cell in cells if cell.dataset == "intrusion")


def _by_classifier(epsilon: float, how: str) -> tuple[Table, ...]:
    """Tables 5 to 8, with privacy or without."""
    (table_5, table_7), (table_6, table_8) = _best(epsilon), _mean(epsilon)
    remark = (
        "The paper's best of five is below its mean of five (Table 6) in several rows, so the two "
        "cannot be the same five runs."
    )
    return (
        Table(f"DP-MERF, Table 5{how}: Credit by classifier, best of the runs", remark, table_5),
        Table(f"DP-MERF, Table 6{how}: Credit by classifier, mean of the runs", "", table_6),
        Table(f"DP-MERF, Table 7{how}: Intrusion by classifier, best of the runs", "", table_7),
        Table(f"DP-MERF, Table 8{how}: Intrusion by classifier, mean of the runs", "", table_8),
    )


_OVER = "Averages over twelve classifiers, mean of the runs."
_WITHOUT = ", without privacy"
TABLES = (
    Table("DP-MERF, Table 2", _OVER, _averages(1.0), counted=True),
    Table(f"DP-MERF, Table 2{_WITHOUT}", _OVER, _averages(math.inf)),
    *_by_classifier(1.0, ""),
    *_by_classifier(math.inf, _WITHOUT),
)
