"""What is said of facts that the real rows keep, and the synthetic rows do not."""

from collections.abc import Iterator, Sequence

import numpy as np

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import listed, more
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.identities import ALL
from nacre.evaluate.tables.identity import Identity

AVOID, CARE = 0.10, 0.02  # of the rows, which break it here though not there
SELDOM, BY_CHANCE = 0.001, 10  # of what all real rows keep; and rows so few of which may be chance
SHOWN = 8


def broken_identities(comparison: TableComparison) -> list[Identity]:
    """Those that the real table keeps and the synthetic one breaks, worst first."""
    seldom = max(SELDOM, BY_CHANCE / max(len(comparison.real), 1))
    found = [
        each
        for each in comparison.identities
        if each.real - each.synthetic > (min(seldom, CARE) if each.real == 1 else CARE)
    ]
    return sorted(found, key=lambda each: each.synthetic - each.real)


def identity_findings(comparison: TableComparison) -> Iterator[Finding]:
    """One sentence of all of them, with what to write into the schema."""
    broken = broken_identities(comparison)
    if not broken:
        return
    worst = broken[0].real - broken[0].synthetic
    shown = broken[:SHOWN]
    always, nearly = ([each for each in shown if (each.real == 1) is so] for so in (True, False))
    said = []
    if always:
        what = "Facts that all" if len(always) > 1 else "A fact that all"
        are = "are" if len(always) > 1 else "is"
        facts = ", ".join(
            f"{_share(each.synthetic)}{_of(each)} keep `{each.fact}`" for each in always
        )
        rest = "" if nearly else more(broken, SHOWN)
        said.append(
            f"{what} {_looked_at(comparison)} keep {are} broken here: of the synthetic rows only "
            f"{facts}{rest}."
        )
    if nearly:
        facts = ", ".join(map(_shares, nearly))
        said.append(f"Nearly all real rows keep {facts}{more(broken, SHOWN)}.")
    if len(broken) > 1:
        rows = np.any([each.breaks for each in broken], axis=0)
        said.append(f"{_share(float(rows.mean()))} of the synthetic rows break one of these.")
    yield Finding(
        "avoid" if worst > AVOID else "care",
        "Facts",
        " ".join([*said, _advice(broken)]),
        20 * worst,
        listed([*map(_shares, broken)], SHOWN).rest,
    )


def _shares(identity: Identity) -> str:
    """A fact with the share of the rows that keep it in either table."""
    real, here = _share(identity.real), _share(identity.synthetic)
    return f"`{identity.fact}` ({real}{_of(identity)}, here {here})"


def _looked_at(comparison: TableComparison) -> str:
    rows = len(comparison.real)
    return f"{rows:,} real rows" if rows <= ALL else f"{ALL:,} real rows that were looked at"


def _advice(broken: Sequence[Identity]) -> str:
    """What to write into the schema."""
    ways = []
    if any(not each.order for each in broken):
        ways.append("as `facts` (computed exactly, at no cost)")
    if any(each.order for each in broken):
        ways.append("as `constraints` (no sampled row breaks them)")
    what = "what of this is public" if len(broken) > 1 else "it, if it is public,"
    said = f"Declare {what} in the schema, {' or '.join(ways)}."
    if any(each.real < 1 for each in broken):
        said += " Rows that break a fact do not fit such a schema."
    return said


def _of(identity: Identity) -> str:
    """Of which rows a share is, where it is not all."""
    if identity.fact.endswith("missing together"):
        return " of those in which one of them is missing"
    if identity.fact.endswith(" if known"):
        return " of those in which it is known"
    if " is missing exactly when " in identity.fact:
        return " of those in which it is missing or should be"
    if " is missing if " in identity.fact:
        return " of those in which the other is missing"
    return ""


def _share(share: float) -> str:
    """A share near 1 in enough digits to tell it from all.

    Examples:
        >>> _share(1.0), _share(0.9991), _share(0.99999), _share(0.031)
        ('100%', '99.9%', '>99.9%', '3%')
    """
    if 0.99 <= share < 1:
        return f"{100 * share:.1f}%" if share < 0.9995 else ">99.9%"
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else "<1%"
