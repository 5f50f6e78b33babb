"""The first screen: what not to use the table for, the guarantee, and every score at a glance."""

from collections.abc import Mapping
from typing import Any

from nacre.evaluate.evaluation import Evaluation, Score
from nacre.evaluate.metric import Metric
from nacre.report.markup import Markup, join, number, tag

_WORDS = {"avoid": "Do not", "care": "Take care", "good": "Fine", "note": "Note"}


def overall(evaluation: Evaluation) -> Markup:
    """Findings in words, worst first, and the guarantee."""
    parts: list[Any] = []
    for table in evaluation.tables:
        if len(evaluation.tables) > 1:
            parts.append(tag("h3", table))
        parts.append(
            tag(
                "ul",
                *(
                    tag("li", tag("b", _WORDS[f.level]), tag("span", f.text), class_=f.level)
                    for f in evaluation.findings[table]
                ),
                class_="findings",
            )
        )
    parts += [guarantee(table, evaluation) for table in evaluation.tables]
    return join(tag("p", "In plain words, worst first.", class_="section-lede"), *parts)


def guarantee(table: str, evaluation: Evaluation) -> Markup:
    """What is guaranteed about the table, in symbols and in words."""
    name = f"Guarantee of {table}" if len(evaluation.tables) > 1 else "Guarantee"
    found = evaluation.guarantees.get(table)
    if found is None:
        return tag(
            "div",
            tag("h3", name),
            tag(
                "p",
                "None was given to this report. Publish the table only with the certificate of "
                "the model that made it; nothing on this page can stand in for one.",
            ),
            class_="guarantee",
        )
    if found["epsilon"] is None:
        words = "This table was made without noise. It protects nobody and must not be published."
        symbols = "ε = ∞"
    else:
        symbols = f"ε = {found['epsilon']:.4g},  δ = {found['delta']:.3g}"
        words = _in_words(found)
    return tag(
        "div",
        tag("h3", name),
        tag("p", symbols, class_="symbols"),
        tag("p", words),
        class_="guarantee",
    )


def _in_words(found: Mapping[str, Any]) -> str:
    unit = found.get("unit", "row")
    change = {
        "add-remove": f"adding or removing any one {unit}",
        "replace-one": f"replacing any one {unit} by another",
    }.get(str(found.get("adjacency", "")), f"changing any one {unit}")
    factor = 2.718281828459045 ** min(found["epsilon"], 50)
    return (
        f"Differential privacy: {change} changes the chance of any outcome at most by the factor "
        f"e^ε = {factor:,.3g}, except with probability about δ. The guarantee covers the synthetic "
        f"table and everything computed from it, not this page."
    )


def scorecard(evaluation: Evaluation) -> Markup:
    """One line for each metric: what it means, the tables' values, and real data's."""
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        if any(scores):
            rows.append(_line(metric, scores))
    heads = [
        tag("th", "Measure"),
        *(tag("th", table, class_="n") for table in evaluation.tables),
        tag("th", "Real data", class_="n"),
        tag("th", "Better", class_="n"),
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="glance")
    return join(
        tag(
            "p",
            "“Real data” is what held-out real rows score in the place of synthetic ones, or a "
            "model trained on real rows: nothing can be expected to do better.",
            class_="section-lede",
        ),
        tag("div", table, class_="scroll"),
    )


def _line(metric: Metric, scores: list[Score | None]) -> Markup:
    reference = next(
        (s.reference for s in scores if s is not None and s.reference is not None), None
    )
    return tag(
        "tr",
        tag("td", metric.title, tag("small", metric.meaning)),
        *(tag("td", *_cell(score), class_="n") for score in scores),
        tag("td", number(reference), class_="n"),
        tag("td", metric.goal, class_="n muted"),
    )


def _cell(score: Score | None) -> tuple[Any, ...]:
    if score is None:
        return ("—",)
    if score.error is None:
        return (number(score.value),)
    return (number(score.value), tag("small", f"± {number(score.error)}"))
