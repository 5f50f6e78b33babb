"""What is said of persons who have several rows."""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed, percent
from nacre.evaluate.tables.persons import Whose
from nacre.schema import Unit

AVOID, CARE = 0.20, 0.05  # of the persons that have another number of rows than they should
UNLIKE = 0.15  # by so much more or less often two rows of a person agree
SHOWN = 4


def person_findings(real: Whose, synthetic: Whose, unit: Unit) -> Iterator[Finding]:
    """How many rows persons have, what does not change within them, and how alike rows are."""
    yield _numbers(real, synthetic, unit)
    yield from _constants(real, synthetic, unit)
    yield from _courses(real, synthetic, unit)


def _numbers(real: Whose, synthetic: Whose, unit: Unit) -> Finding:
    off = float(np.abs(real.many - synthetic.many).sum() / 2)
    level = "avoid" if off > AVOID else "care" if off > CARE else "good"
    said = {
        "avoid": "Do not study how many rows a person has",
        "care": "Take care with how many rows a person has",
        "good": "Persons have as many rows as they should",
    }[level]
    cut = ""
    if real.beyond:
        cut = (
            f" {real.beyond:,} of the {real.persons:,} real persons have more than {unit.rows} "
            f"rows, of which {unit.rows} count in a fit; the other figures here compare with all "
            f"of them, and {percent(real.uncounted / real.rows)} of the real rows are beyond that."
        )
    return Finding(
        level,  # type: ignore[arg-type]
        "Persons",
        f"{said}: {real.mean:.2f} rows a person in the real table, of which at most {unit.rows} "
        f"count, {synthetic.mean:.2f} here; {percent(off)} of the persons would need another "
        f"number.{cut}",
        off,
    )


def _constants(real: Whose, synthetic: Whose, unit: Unit) -> Iterator[Finding]:
    """Columns said to be constant, if they are not: in the real table, or in this one."""
    for table, said in ((real, "the real table"), (synthetic, "this table")):
        found = {n: 1 - table.alike[n] for n in unit.constant if table.alike.get(n, 1.0) < 1}
        if found:
            text = ", ".join(f"{name} ({percent(share)})" for name, share in found.items())
            yield Finding(
                "care",
                "Persons",
                f"Columns that should not change within a person do in {said}, between the first "
                f"two rows of so many persons: {text}.",
                max(found.values()),
            )


def _courses(real: Whose, synthetic: Whose, unit: Unit) -> Iterator[Finding]:
    """Columns in which two rows of a person agree more often, or less, than they should."""
    gaps = {
        name: share - synthetic.alike[name]
        for name, share in real.alike.items()
        if name in synthetic.alike and name not in unit.constant
    }
    unlike = sorted((n for n in gaps if abs(gaps[n]) > UNLIKE), key=lambda n: -abs(gaps[n]))
    if not unlike:
        return
    said = [
        f"{name} ({percent(real.alike[name])} of the real persons, "
        f"{percent(synthetic.alike[name])} here)"
        for name in unlike
    ]
    columns = listed(said, SHOWN)
    yield Finding(
        "avoid",
        "Persons",
        "Do not follow one person from row to row: rows of a person are drawn independently of "
        f"each other. Two of them agree more or less often than they should in {columns.text}.",
        max(map(abs, gaps.values())),
        columns.rest,
    )
