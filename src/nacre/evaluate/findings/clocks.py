"""What is said of hours of the day and of days of the week."""

from collections.abc import Iterator, Sequence

from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import Listed, listed, percent
from nacre.evaluate.tables.clock import Clock


def clock_findings(clocks: Sequence[Clock]) -> Iterator[Finding]:
    """Cycles at whose places too many rows are wrong, the worst first."""
    found = sorted(clocks, key=lambda clock: -clock.excess)
    bad = [clock for clock in found if clock.excess > AVOID_TV]
    doubtful = [clock for clock in found if CARE_TV < clock.excess <= AVOID_TV]
    if bad:
        cycles = _shown(bad)
        text = f"Do not use it for {cycles.text}, beyond chance."
        yield Finding("avoid", "Times", text, 8 * bad[0].excess, cycles.rest)
    if doubtful:
        cycles = _shown(doubtful)
        text = f"Take care with {cycles.text}, beyond chance."
        yield Finding("care", "Times", text, 1.0, cycles.rest)


def _shown(clocks: Sequence[Clock]) -> Listed:
    said = [
        f"the {clock.by} of {clock.column} ({percent(clock.excess)} of the rows at a wrong one)"
        for clock in clocks
    ]
    return listed(said, 4)
