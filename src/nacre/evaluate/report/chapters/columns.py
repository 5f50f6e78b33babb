"""The chapter of single columns."""

from collections.abc import Mapping, Sequence

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.evaluate.findings.gaps import Gap, column_gaps
from nacre.evaluate.findings.numbers import AVOID_SHIFT, CARE_SHIFT, fact
from nacre.evaluate.findings.words import percent
from nacre.evaluate.report.chapters.common import Context, level, shades
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.clock import draw_clock
from nacre.evaluate.report.figures.columns import draw_column, draw_difference, missing_shares
from nacre.evaluate.tables.clock import Clock
from nacre.evaluate.tables.shift import Difference, Shift, Subject
from nacre.evaluate.tables.shifts import ordered_pairs
from nacre.evaluate.tables.watch import is_wide
from nacre.report.builder import Series, series_of
from nacre.report.builder.parts import REAL
from nacre.schema import Column, Datetime, Time

MOST_FIGURES = 60
FEW_FIGURES = 12
"""Of a wide table, where the figure of all values says more than the thirteenth column does."""
MOST_DIFFERENCES = 12
UNITS: dict[type[Column], str] = {Datetime: "days", Time: "minutes"}
"""What differences are drawn in."""
WORDS = (
    "Worst first. The percentage is that of the verdicts: the share of rows with the wrong "
    "value, beyond what as many fresh real rows would show. An axis of a number with a long "
    "tail is stretched where most rows are."
)


def columns(evaluation: Evaluation) -> Context:
    """Every column, the worst first."""
    tables = series_of(evaluation.tables)
    gaps = {table: column_gaps(evaluation.results, table) for table in tables}
    shifts = {table: _shifts(evaluation, table) for table in tables}
    names = sorted(
        evaluation.schema.names,
        key=lambda name: -max(_badness(name, gaps[t], shifts[t]) for t in tables),
    )
    most = FEW_FIGURES if is_wide(len(names)) else MOST_FIGURES
    rest = len(names[most:])
    every = [gap.excess for found in gaps.values() for gap in found.values()]
    return {
        "several": len(tables) > 1,
        "words": WORDS + (f" The {rest:,} best columns are not drawn." if rest else ""),
        "shades": shades(every, "more than {} of the rows", (AVOID_TV, CARE_TV), "{:.0%}"),
        "tables": tables.values(),
        "columns": [
            {
                "name": name,
                "drawing": drawn(
                    draw_column(name, evaluation.comparisons),
                    f"Column {name}, real and synthetic",
                ),
                "gaps": _gaps(name, tables, gaps),
                "facts": _facts(evaluation, name, shifts),
                "missing": _missing(evaluation, name, tables),
            }
            for name in names[:most]
        ],
        "differences": _differences(evaluation, shifts),
        "clocks": _clocks(evaluation),
    }


def _clocks(evaluation: Evaluation) -> list[Context]:
    """Dates and times by the hour of the day and the day of the week, the worst first."""
    found: dict[tuple[str, str], dict[str, Clock]] = {}
    for table, comparison in evaluation.comparisons.items():
        for clock in comparison.clocks:
            found.setdefault((clock.column, clock.by), {})[table] = clock
    worst = sorted(found.items(), key=lambda item: -max(c.excess for c in item[1].values()))
    tables = series_of(evaluation.tables)
    return [
        {
            "name": f"{name}, {by}",
            "drawing": drawn(draw_clock(tuple(clocks.values())), f"{name} by {by}"),
            "gaps": [
                {
                    "table": tables[table],
                    "text": percent(max(clock.excess, 0.0)),
                    "level": level(clock.excess),
                }
                for table, clock in clocks.items()
            ],
        }
        for (name, by), clocks in worst[:MOST_DIFFERENCES]
    ]


def _differences(evaluation: Evaluation, shifts: Mapping[str, Sequence[Shift]]) -> list[Context]:
    """How far columns are apart that a constraint orders."""
    found = []
    for earlier, later in ordered_pairs(evaluation.schema)[:MOST_DIFFERENCES]:
        difference = Difference(later, earlier)
        figure = draw_difference(earlier, later, evaluation.comparisons)
        found.append(
            {
                "name": str(difference),
                "unit": UNITS.get(type(evaluation.schema.columns[later])),
                "facts": _facts(evaluation, difference, shifts),
                "drawing": drawn(figure, f"Difference {difference}, real and synthetic"),
            }
        )
    return found


def _shifts(evaluation: Evaluation, table: str) -> list[Shift]:
    """What is off with the mean and the tails of columns, if that was measured."""
    if evaluation.score("shifts", table) is None:
        return []
    return [shift for shift in evaluation.comparisons[table].shifts if shift.gap > CARE_SHIFT]


def _badness(name: str, gaps: Mapping[str, Gap], shifts: Sequence[Shift]) -> float:
    """How far beyond what is tolerable, whatever is off with the column."""
    share = gaps[name].excess / AVOID_TV if name in gaps else 0.0
    return max([share, *(s.gap / AVOID_SHIFT for s in shifts if s.of == name)])


def _gaps(
    name: str, tables: Mapping[str, Series], gaps: Mapping[str, Mapping[str, Gap]]
) -> list[Context]:
    """How far off the column is in each table."""
    found = []
    for table, series in tables.items():
        if name in gaps[table]:
            excess = gaps[table][name].excess
            text = percent(max(excess, 0.0))
            found.append({"table": series, "text": text, "level": level(excess)})
    return found


def _missing(evaluation: Evaluation, name: str, tables: Mapping[str, Series]) -> list[Context]:
    """How many values are missing in the real table and in each other one; empty if none is."""
    shares = missing_shares(name, evaluation.comparisons)
    return [
        {"table": series, "text": f"{share:.1%}"}
        for series, share in zip((REAL, *tables.values()), shares, strict=False)
    ]


def _facts(
    evaluation: Evaluation, of: Subject, shifts: Mapping[str, Sequence[Shift]]
) -> list[Context]:
    """What is off with a number in each table, a line each."""
    return [
        {
            "table": series,
            "text": fact(shift, evaluation.schema),
            "level": level(shift.gap, AVOID_SHIFT, CARE_SHIFT),
        }
        for table, series in series_of(evaluation.tables).items()
        for shift in shifts[table]
        if shift.of == of
    ]
