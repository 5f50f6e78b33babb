"""A study: some cases, the numbers that each gives for a seed, and the table of their means."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench import adult, versions
from nacre.methods import AbstractMethod

Numbers = dict[str, float]
OFFICIAL = ("logistic", "forest", "boosting", "tv1", "tv2", "tv3", "cpu_seconds")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Study:
    """Cases that differ in one thing.

    Attributes:
        title: what is compared.
        remark: how, and what to look at.
        cases: their names, in order.
        measure: the numbers of a case and a seed.
        columns: which numbers the table shows; none: all of them.
    """

    title: str
    remark: str
    cases: tuple[str, ...]
    measure: Callable[[str, int], Numbers]
    columns: tuple[str, ...] = ()

    def said(self, numbers: Numbers) -> str:
        """The numbers in a line."""
        return ", ".join(f"{name} {numbers[name]:.3g}" for name in self.columns or numbers)

    def render(self, kept: Mapping[str, Mapping[str, Any]]) -> str:
        """Means over seeds, and half the range of seeds behind ± where there are several."""
        runs = {
            case: [r["numbers"] for r in kept.values() if r["case"] == case] for case in self.cases
        }
        some = next((found[0] for found in runs.values() if found), {})
        columns = self.columns or tuple(some)
        lines = [f"## {self.title}", "", self.remark, ""]
        lines.append("| | " + " | ".join([*(c.replace("_", " ") for c in columns), "seeds"]) + " |")
        lines.append("| --- |" + " ---: |" * (len(columns) + 1))
        for case, found in runs.items():
            cells = [_mean([numbers[name] for numbers in found]) for name in columns]
            lines.append("| " + " | ".join([case, *cells, str(len(found))]) + " |")
        return "\n".join([*lines, "", versions.said(list(map(dict, kept.values()))), ""])


def of_methods(
    title: str, remark: str, methods: Mapping[str, Callable[[], AbstractMethod]]
) -> Study:
    """A study of methods on Adult's official split at (1, 1e-5), add-remove."""
    where = "Adult, official split, (1, 1e-5), add-remove: AUC of three models that learn from "
    where += "synthetic rows, total variation of 1, 2 and 3 columns, CPU seconds of fit and draw."
    return Study(
        title=title,
        remark=f"{remark} {where}",
        cases=tuple(methods),
        measure=lambda case, seed: adult.official(methods[case](), seed),
        columns=OFFICIAL,
    )


def _mean(found: list[float]) -> str:
    if not found:
        return "not run"
    text = f"{np.mean(found):.3f}" if abs(np.mean(found)) < 10 else f"{np.mean(found):.0f}"
    half = (max(found) - min(found)) / 2
    return text if len(found) == 1 else f"{text} ± {half:.2g}"
