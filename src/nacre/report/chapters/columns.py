"""The chapter of single columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.amounts import difference_name
from nacre.evaluate.findings.find import AVOID_TV
from nacre.evaluate.findings.gaps import Gap, column_gaps
from nacre.evaluate.findings.numbers import AVOID_SHIFT, CARE_SHIFT, fact
from nacre.evaluate.findings.words import percent
from nacre.evaluate.tables.shifts import Shift, ordered_pairs
from nacre.report.chapters.common import grid, key, lede, level, of_table, shades
from nacre.report.figures.canvas import plate
from nacre.report.figures.columns import draw_column, draw_difference, missing_shares
from nacre.report.markup import Markup, join, tag
from nacre.schema import Datetime

MOST_FIGURES = 60
MOST_DIFFERENCES = 12


def columns(evaluation: Evaluation) -> Markup:
    """Every column, the worst first."""
    gaps = {table: column_gaps(evaluation.results, table) for table in evaluation.tables}
    shifts = {table: _shifts(evaluation, table) for table in evaluation.tables}
    names = sorted(
        evaluation.schema.names,
        key=lambda name: -max(_badness(name, gaps[t], shifts[t]) for t in evaluation.tables),
    )
    figures = [
        plate(
            draw_column(name, evaluation.comparisons),
            _caption(evaluation, name, gaps, shifts),
            f"Column {name}, real and synthetic",
        )
        for name in names[:MOST_FIGURES]
    ]
    rest = len(names) - len(figures)
    words = (
        "Worst first. The percentage is that of the verdicts: the share of rows with the wrong "
        "value, beyond what as many fresh real rows would show. An axis of a number with a long "
        "tail is stretched where most rows are."
    )
    more = f" The {rest} best columns are not drawn." if rest else ""
    return join(
        lede(words + more),
        shades(
            [gap.excess for found in gaps.values() for gap in found.values()],
            "more than % of the rows",
        ),
        key(evaluation),
        grid(figures),
        _differences(evaluation, shifts),
    )


def _differences(evaluation: Evaluation, shifts: Mapping[str, Sequence[Shift]]) -> Markup:
    """How far columns are apart that a constraint orders."""
    figures = []
    for earlier, later in ordered_pairs(evaluation.schema)[:MOST_DIFFERENCES]:
        name = difference_name(later, earlier)
        days = isinstance(evaluation.schema.columns[later], Datetime)
        caption = [tag("b", name), ", days" if days else "", *_facts(evaluation, name, shifts)]
        figure = draw_difference(earlier, later, evaluation.comparisons)
        figures.append(plate(figure, join(*caption), f"Difference {name}, real and synthetic"))
    if not figures:
        return Markup("")
    return join(tag("h3", "How far apart, where a constraint orders two columns"), grid(figures))


def _shifts(evaluation: Evaluation, table: str) -> list[Shift]:
    """What is off with the mean and the tails of columns, if that was measured."""
    if evaluation.score("shifts", table) is None:
        return []
    return [shift for shift in evaluation.comparisons[table].shifts if shift.gap > CARE_SHIFT]


def _badness(name: str, gaps: Mapping[str, Gap], shifts: Sequence[Shift]) -> float:
    """How far beyond what is tolerable, whatever is off with the column."""
    share = gaps[name].excess / AVOID_TV if name in gaps else 0.0
    return max([share, *(s.gap / AVOID_SHIFT for s in shifts if s.name == name)])


def _caption(
    evaluation: Evaluation,
    name: str,
    gaps: Mapping[str, Mapping[str, Gap]],
    shifts: Mapping[str, Sequence[Shift]],
) -> Markup:
    """The column's name, how far off each table is, and how many values are missing."""
    parts: list[Any] = [tag("b", name)]
    for table in evaluation.tables:
        if name in gaps[table]:
            excess = gaps[table][name].excess
            text = tag("span", percent(max(excess, 0.0)), class_=level(excess))
            parts += [" ", of_table(evaluation, table, text)]
    parts += _facts(evaluation, name, shifts)
    missing = missing_shares(name, evaluation.comparisons)
    if missing:
        names = (None, *evaluation.tables)
        shares = (
            of_table(evaluation, table, f"{share:.1%}", mark=True)
            for table, share in zip(names, missing, strict=True)
        )
        parts.append(
            tag("span", "missing ", *(join(" ", share) for share in shares), class_="gaps")
        )
    return join(*parts)


def _facts(evaluation: Evaluation, name: str, shifts: Mapping[str, Sequence[Shift]]) -> list[Any]:
    """What is off with a number in each table, a line each."""
    found: list[Any] = []
    for table in evaluation.tables:
        for shift in shifts[table]:
            if shift.name == name:
                text = tag("span", fact(shift), class_=level(shift.gap, AVOID_SHIFT, CARE_SHIFT))
                found.append(tag("span", of_table(evaluation, table, text), class_="shift"))
    return found
