"""How good is a synthetic table? Metrics, pure functions of two tables; for the data holder only.

An evaluation against private rows is not private: keep it with the rows.
"""

import sys
from types import ModuleType
from typing import Any

from nacre.evaluate.evaluation import Evaluation, Score
from nacre.evaluate.findings import Finding
from nacre.evaluate.marginal_privacy import LmdpReport, LmdpTest, lmdp_report
from nacre.evaluate.metric import Metric, Value
from nacre.evaluate.metrics import METRICS
from nacre.evaluate.run import evaluate

__all__ = [
    "METRICS",
    "Evaluation",
    "Finding",
    "LmdpReport",
    "LmdpTest",
    "Metric",
    "Score",
    "Value",
    "evaluate",
    "lmdp_report",
]


class _Callable(ModuleType):
    """`nacre.evaluate` is both this room and the verb; importing one must not hide the other."""

    def __call__(self, *args: Any, **settings: Any) -> Evaluation:
        return evaluate(*args, **settings)


sys.modules[__name__].__class__ = _Callable
