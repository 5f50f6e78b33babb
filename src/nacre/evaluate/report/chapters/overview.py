"""The first screen: what not to use the table for, the guarantee, and every score at a glance."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.images.metric import ImageMetric
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.scores.score import Score
from nacre.report.builder import Cell, DataTable, right
from nacre.report.builder.text import number, significant

MANY = 3  # tables from which on verdicts would be a wall before the scores


def overall(evaluation: Evaluation | ImageEvaluation) -> Context:
    """Findings in words, worst first, and the guarantee."""
    several, many = len(evaluation.tables) > 1, len(evaluation.tables) >= MANY
    tables = [
        {"name": name, "count": count(found)} | (_told(found) if many else {"findings": found})
        for name, found in evaluation.findings.items()
    ]
    words = "In plain words, worst first"
    return {
        "several": several,
        "images": isinstance(evaluation, ImageEvaluation),
        "words": f"{words}." if several else f"{words}: {tables[0]['count']}.",
        "tables": tables,
        "guarantees": [
            _guarantee(f"Guarantee of {table}" if several else "Guarantee", found)
            for table, found in evaluation.guarantees.items()
        ],
    }


def _told(findings: Sequence[Finding]) -> Context:
    """What is wrong in sentences, and the topics of all that is fine in one."""
    fine = [found.topic for found in findings if found.level == "good"]
    wrong = [found for found in findings if found.level != "good"]
    if fine:
        wrong.append(Finding("good", "Fine", f"{', '.join(dict.fromkeys(fine))}."))
    return {"findings": wrong}


def count(findings: Sequence[Finding]) -> str:
    """How many findings there are of each kind.

    Examples:
        >>> count([Finding("avoid", "Pairs", "x"), Finding("good", "Columns", "y")])
        '1 use to avoid, 1 that is fine'
    """
    of = {level: sum(f.level == level for f in findings) for level in ("avoid", "care", "good")}
    said = [
        f"{of['avoid']} use{'s' * (of['avoid'] != 1)} to avoid" if of["avoid"] else "",
        f"{of['care']} to take care with" if of["care"] else "",
        f"{of['good']} that {'is' if of['good'] == 1 else 'are'} fine" if of["good"] else "",
    ]
    return ", ".join(part for part in said if part) or "nothing to report"


def _guarantee(title: str, found: Mapping[str, Any]) -> Context:
    """What is guaranteed about a table, in symbols and in words."""
    if found["epsilon"] is None:
        return {"title": title, "epsilon": None, "delta": None, "source": found["source"]}
    unit = found.get("unit", "row")
    change = {
        "add-remove": f"Adding or removing any one {unit}",
        "replace-one": f"Replacing any one {unit} by another",
    }.get(str(found.get("adjacency", "")), f"Changing any one {unit}")
    return {
        "title": title,
        "epsilon": significant(found["epsilon"]),
        "delta": float(found["delta"]),
        "source": found["source"],
        "change": change,
        "factor": f"{math.exp(min(found['epsilon'], 50)):,.3g}",
    }


def scores(evaluation: Evaluation | ImageEvaluation) -> Context:
    """One line for each metric: what it means, the tables' values, and real data's."""
    rows = []
    for metric in evaluation.metrics:
        found = [evaluation.score(metric.name, table) for table in evaluation.tables]
        if any(found):
            rows.append(_line(metric, found))
    head = [Cell("Measure"), *(right(name) for name in (*evaluation.tables, "real data", "better"))]
    return {"table": DataTable(head, rows)}


def _line(metric: Metric | ImageMetric, scores: list[Score | None]) -> list[Cell]:
    known = [score.value for score in scores if score is not None]
    # A smoke alarm has no winner: being far from every real row is not being private.
    ranked = len(scores) > 1 and metric.group != "privacy"
    best = (max if metric.goal == "higher" else min)(known) if ranked else None
    reference = next((s.reference for s in scores if s is not None), None)
    cells = [Cell(metric.title, small=metric.meaning)]
    for score in scores:
        if score is None:
            cells.append(right("—"))
            continue
        error = "" if score.error is None else f"± {score.error:.1g}"
        cells.append(Cell(number(score.value), "n best" if score.value == best else "n", error))
    return [*cells, right(number(reference)), Cell(metric.goal, "n muted")]
