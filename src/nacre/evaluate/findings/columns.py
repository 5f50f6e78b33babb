"""What is said of single columns."""

from collections.abc import Container, Iterator, Mapping, Sequence

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.gaps import Gap
from nacre.evaluate.findings.words import Listed, listed, percent

# Shares of rows in excess of what held-out real rows give. A tenth of the rows in the wrong place
# changes a table's message; a twentieth is seen by a careful reader.
AVOID_TV, CARE_TV = 0.10, 0.05


def column_findings(gaps: Mapping[str, Gap], numbers: Container[str]) -> Iterator[Finding]:
    """Columns that are wrong, columns to take care with, or that all are right.

    Only of `numbers` there are averages.
    """
    # The verdict rests on what chance does not explain, so that is what is printed.
    wrong = [(gap.excess, name) for name, gap in gaps.items()]
    bad = [(gap, name) for gap, name in wrong if gap > AVOID_TV]
    doubtful = [(gap, name) for gap, name in wrong if CARE_TV < gap <= AVOID_TV]

    def shown(some: Sequence[tuple[float, str]], most: int) -> Listed:
        return listed([f"{name} ({percent(gap)})" for gap, name in some], most)

    if bad:
        columns = shown(bad, 5)
        averages = all(name in numbers for _, name in bad[:5])
        uses = "counts, averages or shares" if averages else "counts or shares"
        yield Finding(
            "avoid",
            "Columns",
            f"Do not use it for {uses} of {columns.text}: this share of the rows has the wrong "
            "value, beyond what chance explains.",
            10 * bad[0][0] + len(bad),
            columns.rest,
        )
    if doubtful:
        columns = shown(doubtful, 6)
        yield Finding(
            "care",
            "Columns",
            f"Take care with single columns such as {columns.text}: more than 1 row in 20 has the "
            "wrong value, beyond what chance explains.",
            float(len(doubtful)),
            columns.rest,
        )
    if wrong and not bad and not doubtful:
        gap, worst = wrong[0]
        yield Finding(
            "good",
            "Columns",
            f"Single columns are about as right as fresh real rows would be: at worst "
            f"{percent(max(gap, 0.0))} more of the rows have the wrong value ({worst}).",
        )
