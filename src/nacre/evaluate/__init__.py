"""How good is a synthetic table, or are synthetic images? For the data holder's eyes only.

An evaluation against private rows is not private: keep it with the rows.
"""

import sys
from types import ModuleType
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.images import ImageEvaluation
from nacre.evaluate.lmdp.report import LmdpReport, LmdpTest, lmdp_report
from nacre.evaluate.metrics import METRICS
from nacre.evaluate.run import evaluate
from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.scores.score import Score

__all__ = [
    "METRICS",
    "Evaluation",
    "Finding",
    "ImageEvaluation",
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

    def __call__(self, *args: Any, **settings: Any) -> Evaluation | ImageEvaluation:
        return evaluate(*args, **settings)


sys.modules[__name__].__class__ = _Callable
