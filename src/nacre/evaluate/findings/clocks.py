"""What is said of hours of the day and of days of the week."""

from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import more, percent
from nacre.evaluate.tables.clock import Clock


def clock_findings(clocks: Sequence[Clock]) -> Iterator[Finding]:
    """Cycles at whose places too many rows are wrong, the worst first."""
    found = sorted(clocks, key=lambda clock: -clock.excess)
    bad = [clock for clock in found if clock.excess > AVOID_TV]
    doubtful = [clock for clock in found if CARE_TV < clock.excess <= AVOID_TV]
    if bad:
        yield Finding(
            "avoid", "Times", f"Do not use it for {_shown(bad)}, beyond chance.", 8 * bad[0].excess
        )
    if doubtful:
        yield Finding("care", "Times", f"Take care with {_shown(doubtful)}, beyond chance.", 1.0)


def _shown(clocks: Sequence[Clock]) -> str:
    said = [
        f"the {clock.by} of {clock.column} ({percent(clock.excess)} of the rows at a wrong one)"
        for clock in clocks[:4]
    ]
    return ", ".join(said) + more(clocks, 4)
