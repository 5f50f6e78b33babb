"""The numbers of the papers' tables, as printed; all DP numbers are at (1, 1e-5).

DP-MERF: Harder, Adamczewski and Park (2021), Tables 2 and 5-8.  PEARL: Liew, Takahashi and Ueno
(2022), Tables 2 and 3.  DP-CGAN's numbers are those that DP-MERF's authors measured.
"""

import dataclasses
from collections.abc import Mapping

from nacre.evaluate.tables.classifiers import PEARL, PUBLISHED

AVERAGE = "average"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One number to compare with.

    Attributes:
        dataset: which table.
        row: a classifier, or `AVERAGE` over those in `over`, or "statistics".
        score: "roc", "prc", "f1", or the name of a statistic.
        dp: the differentially private numbers of the row, by method.
        real: the same with real data to learn from, if the paper says.
        over: the classifiers that an average is over.
        best: whether the paper shows the best of its runs instead of their mean.
        lower: whether lower is better.
    """

    dataset: str
    row: str
    score: str
    dp: Mapping[str, float]
    real: float | None = None
    over: tuple[str, ...] = PUBLISHED
    best: bool = False
    lower: bool = False

    @property
    def to_beat(self) -> float:
        """The best differentially private number of the row."""
        return min(self.dp.values()) if self.lower else max(self.dp.values())


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of a paper."""

    title: str
    remark: str
    cells: tuple[Cell, ...]


# Real, DP-CGAN, DP-MERF; ROC then PRC.
_MERF_2 = {
    "adult": ((0.730, 0.509, 0.650), (0.639, 0.444, 0.564)),
    "census": ((0.747, 0.655, 0.686), (0.415, 0.216, 0.358)),
    "cervical": ((0.786, 0.519, 0.545), (0.493, 0.200, 0.184)),
    "credit": ((0.923, 0.664, 0.772), (0.874, 0.356, 0.637)),
    "epileptic": ((0.797, 0.578, 0.611), (0.617, 0.241, 0.340)),
    "isolet": ((0.893, 0.511, 0.547), (0.728, 0.198, 0.404)),
}
_MERF_2_F1 = {"covtype": (0.643, 0.285, 0.467), "intrusion": (0.959, 0.302, 0.850)}

# Real, DP-CGAN, DP-MERF (best of five); then DP-MERF (mean of five); ROC and PRC of each.
_CREDIT = (
    ((0.95, 0.91), (0.74, 0.52), (0.78, 0.61), (0.796, 0.665)),
    ((0.90, 0.80), (0.80, 0.55), (0.65, 0.48), (0.729, 0.582)),
    ((0.89, 0.84), (0.67, 0.42), (0.90, 0.74), (0.752, 0.586)),
    ((0.92, 0.89), (0.78, 0.45), (0.64, 0.38), (0.742, 0.549)),
    ((0.91, 0.82), (0.58, 0.22), (0.72, 0.58), (0.775, 0.650)),
    ((0.87, 0.82), (0.58, 0.24), (0.69, 0.51), (0.725, 0.544)),
    ((0.94, 0.89), (0.62, 0.32), (0.75, 0.63), (0.787, 0.689)),
    ((0.91, 0.84), (0.57, 0.21), (0.74, 0.61), (0.811, 0.709)),
    ((0.93, 0.90), (0.63, 0.31), (0.75, 0.62), (0.786, 0.686)),
    ((0.94, 0.89), (0.58, 0.22), (0.74, 0.61), (0.807, 0.707)),
    ((0.92, 0.89), (0.78, 0.55), (0.66, 0.44), (0.747, 0.570)),
    ((0.94, 0.91), (0.70, 0.53), (0.72, 0.59), (0.812, 0.716)),
)
# Real, DP-CGAN, DP-MERF (best of five); DP-MERF (mean of five).
_INTRUSION = (
    (0.948, 0.567, 0.940, 0.928),
    (0.757, 0.215, 0.736, 0.792),
    (0.927, 0.475, 0.755, 0.508),
    (0.983, 0.915, 0.937, 0.917),
    (0.999, 0.153, 0.952, 0.907),
    (0.990, 0.652, 0.950, 0.925),
    (0.947, 0.398, 0.503, 0.592),
    (1.000, 0.519, 0.956, 0.922),
    (1.000, 0.676, 0.943, 0.923),
    (0.999, 0.255, 0.933, 0.926),
    (0.997, 0.733, 0.957, 0.941),
    (0.999, 0.751, 0.933, 0.921),
)
# Real, DP-MERF, PEARL; ROC and PRC of each.
_PEARL_2 = (
    ((0.788, 0.681), (0.661, 0.542), (0.752, 0.641)),
    ((0.629, 0.511), (0.587, 0.491), (0.661, 0.537)),
    ((0.769, 0.651), (0.588, 0.488), (0.763, 0.644)),
    ((0.781, 0.671), (0.568, 0.489), (0.752, 0.640)),
    ((0.759, 0.646), (0.696, 0.576), (0.675, 0.582)),
    ((0.782, 0.670), (0.634, 0.541), (0.755, 0.640)),
    ((0.789, 0.682), (0.642, 0.546), (0.709, 0.628)),
    ((0.772, 0.667), (0.659, 0.538), (0.687, 0.601)),
    ((0.800, 0.695), (0.706, 0.586), (0.709, 0.635)),
    ((0.776, 0.660), (0.667, 0.558), (0.744, 0.635)),
)
_PEARL_2_AVERAGE = ((0.765, 0.654), (0.641, 0.536), (0.721, 0.618))
# DP-MERF, PEARL.
_PEARL_3 = {
    "adult": {
        "roc": (0.64, 0.72),
        "prc": (0.54, 0.62),
        "range-queries": (0.10, 0.06),
        "marginal-l1": (1.37, 0.71),
        "mmd": (2e-3, 1e-7),
    },
    "credit": {
        "roc": (0.66, 0.84),
        "prc": (0.26, 0.68),
        "range-queries": (0.049, 0.026),
        "marginal-l1": (0.95, 0.72),
        "mmd": (2e-5, 1e-8),
    },
}
SCORES = ("roc", "prc")
STATISTICS = ("range-queries", "marginal-l1", "mmd")


def _merf_2() -> tuple[Cell, ...]:
    numbers = [
        (name, score, row)
        for name, rows in _MERF_2.items()
        for score, row in zip(SCORES, rows, strict=True)
    ]
    numbers += [(name, "f1", row) for name, row in _MERF_2_F1.items()]
    return tuple(
        Cell(
            dataset=name,
            row=AVERAGE,
            score=score,
            dp={"DP-CGAN": cgan, "DP-MERF": merf},
            real=real,
        )
        for name, score, (real, cgan, merf) in numbers
    )


def _by_classifier(best: bool) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """Credit and Intrusion by classifier: the best of five runs, or their mean."""
    credit, intrusion = [], []
    for name, (real, cgan, merf, mean) in zip(PUBLISHED, _CREDIT, strict=True):
        for place, score in enumerate(SCORES):
            dp = {"DP-CGAN": cgan[place], "DP-MERF": merf[place]}
            found = dp if best else {"DP-MERF": mean[place]}
            credit.append(
                Cell(
                    dataset="credit",
                    row=name,
                    score=score,
                    dp=found,
                    real=real[place] if best else None,
                    best=best,
                )
            )
    for name, (real_f1, cgan_f1, merf_f1, mean_f1) in zip(PUBLISHED, _INTRUSION, strict=True):
        found = {"DP-CGAN": cgan_f1, "DP-MERF": merf_f1} if best else {"DP-MERF": mean_f1}
        intrusion.append(
            Cell(
                dataset="intrusion",
                row=name,
                score="f1",
                dp=found,
                real=real_f1 if best else None,
                best=best,
            )
        )
    return tuple(credit), tuple(intrusion)


def _pearl_2() -> tuple[Cell, ...]:
    rows = [*zip(PEARL, _PEARL_2, strict=True), (AVERAGE, _PEARL_2_AVERAGE)]
    return tuple(
        Cell(
            dataset="adult",
            row=name,
            score=score,
            dp={"DP-MERF": merf[place], "PEARL": pearl[place]},
            real=real[place],
            over=PEARL,
        )
        for name, (real, merf, pearl) in rows
        for place, score in enumerate(SCORES)
    )


def _pearl_3() -> tuple[Cell, ...]:
    return tuple(
        Cell(
            dataset=name,
            row="statistics" if score in STATISTICS else AVERAGE,
            score=score,
            dp={"DP-MERF": merf, "PEARL": pearl},
            over=PEARL,
            lower=score in STATISTICS,
        )
        for name, rows in _PEARL_3.items()
        for score, (merf, pearl) in rows.items()
    )


_CREDIT_BEST, _INTRUSION_BEST = _by_classifier(best=True)
_CREDIT_MEAN, _INTRUSION_MEAN = _by_classifier(best=False)

TABLES = (
    Table("DP-MERF, Table 2", "Averages over twelve classifiers, mean of the runs.", _merf_2()),
    Table("PEARL, Table 2: Adult", "Averages over ten classifiers, mean of the runs.", _pearl_2()),
    Table(
        "PEARL, Table 3",
        "Lower is better for the last three. The paper does not say how its columns were binned or "
        "which bandwidth its MMD has, so those three are compared for orientation only: ours have "
        "20 bins (100 for ranges), the median bandwidth and an unbiased estimate.",
        _pearl_3(),
    ),
    Table(
        "DP-MERF, Table 5: Credit by classifier, best of the runs",
        "The paper's best of five is below its mean of five (Table 6) in several rows, so the two "
        "cannot be the same five runs.",
        _CREDIT_BEST,
    ),
    Table("DP-MERF, Table 6: Credit by classifier, mean of the runs", "", _CREDIT_MEAN),
    Table("DP-MERF, Table 7: Intrusion by classifier, best of the runs", "", _INTRUSION_BEST),
    Table("DP-MERF, Table 8: Intrusion by classifier, mean of the runs", "", _INTRUSION_MEAN),
)
