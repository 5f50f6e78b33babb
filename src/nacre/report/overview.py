"""The first screen: what not to use the table for, the guarantee, and every score at a glance."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.scores.metric import Metric
from nacre.evaluate.scores.score import Score
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.markup import Markup, join, number, power, tag


def overall(evaluation: Evaluation) -> Markup:
    """Findings in words, worst first, and the guarantee."""
    parts: list[Any] = []
    for table in evaluation.tables:
        findings = evaluation.findings[table]
        if len(evaluation.tables) > 1:
            parts.append(tag("h3", f"{table}: {count(findings)}"))
        parts.append(
            tag(
                "ul",
                *(
                    tag("li", tag("b", f"{f.mark} {f.topic}"), tag("span", f.text), class_=f.level)
                    for f in findings
                ),
                class_="findings",
            )
        )
    words = "In plain words, worst first."
    if len(evaluation.tables) == 1:
        words = f"In plain words, worst first: {count(evaluation.findings[evaluation.tables[0]])}."
    return join(lede(words), *parts, _guarantees(evaluation))


def count(findings: Sequence[Finding]) -> str:
    """How many findings there are of each kind.

    Example:
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


def _guarantees(evaluation: Evaluation) -> Markup:
    if not evaluation.guarantees:
        words = (
            "None was given to this report. Publish the table only with the certificate of the "
            "model that made it; nothing on this page can stand in for one."
        )
        return tag("div", tag("h3", "Guarantee"), tag("p", words), class_="guarantee")
    several = len(evaluation.tables) > 1
    boxes = [
        _guarantee(f"Guarantee of {table}" if several else "Guarantee", found)
        for table, found in evaluation.guarantees.items()
    ]
    return grid(boxes, "two") if several else join(*boxes)


def _guarantee(title: str, found: Mapping[str, Any]) -> Markup:
    """What is guaranteed about a table, in symbols and in words."""
    if found["epsilon"] is None:
        symbols: Any = "ε = ∞"
        words: Any = (
            "This table was made without noise. It protects nobody and must not be published."
        )
    else:
        symbols = join("ε = ", number_of(found["epsilon"]), ", δ = ", power(float(found["delta"])))
        words = _in_words(found)
    return tag(
        "div",
        tag("h3", title),
        tag("p", symbols, class_="symbols"),
        tag("p", words),
        class_="guarantee",
    )


def number_of(value: float) -> str:
    """An ε as people write it.

    Example:
        >>> number_of(1.0), number_of(0.30000001)
        ('1', '0.3')
    """
    return f"{value:.4g}"


def _in_words(found: Mapping[str, Any]) -> Markup:
    unit = found.get("unit", "row")
    change = {
        "add-remove": f"Adding or removing any one {unit}",
        "replace-one": f"Replacing any one {unit} by another",
    }.get(str(found.get("adjacency", "")), f"Changing any one {unit}")
    factor = math.exp(min(found["epsilon"], 50))
    return join(
        f"Differential privacy. {change} changes the chance of any outcome at most by the factor e",
        tag("sup", "ε"),
        f"\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{factor:,.3g}, except with probability about δ. "
        "The guarantee covers the synthetic table and all that is computed from it alone; it does "
        "not cover this page.",
    )


def scorecard(evaluation: Evaluation) -> Markup:
    """One line for each metric: what it means, the tables' values, and real data's."""
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        if any(scores):
            rows.append(_line(metric, scores))
    head = [
        "Measure",
        *((table, "n") for table in evaluation.tables),
        ("real data", "n"),
        ("better", "n"),
    ]
    return join(
        lede(
            "“Real data” is about what a perfect table would reach: as many fresh real rows as the "
            "synthetic table has, or models trained on real rows."
        ),
        data_table(head, rows, "glance"),
    )


def _line(metric: Metric, scores: list[Score | None]) -> list[Any]:
    known = [score.value for score in scores if score is not None]
    # A smoke alarm has no winner: being far from every real row is not being private.
    ranked = len(scores) > 1 and metric.group != "privacy"
    best = (max if metric.goal == "higher" else min)(known) if ranked else None
    reference = next((s.reference for s in scores if s is not None), None)
    cells: list[Any] = [join(metric.title, tag("small", metric.meaning))]
    for score in scores:
        if score is None:
            cells.append(("—", "n"))
            continue
        value: Any = number(score.value)
        if score.error is not None:
            value = join(value, tag("small", f"± {score.error:.1g}"))
        cells.append((value, "n best" if score.value == best else "n"))
    return [*cells, (number(reference), "n"), (metric.goal, "n muted")]
