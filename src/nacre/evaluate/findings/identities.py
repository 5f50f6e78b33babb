"""What is said of facts that nearly every real row keeps, and the synthetic rows do not."""

from collections.abc import Iterator

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.words import more
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.identities import Identity

AVOID, CARE = 0.10, 0.02  # of the rows, which break it here though not there
SHOWN = 5


def broken_identities(comparison: TableComparison) -> list[Identity]:
    """Those that the real table keeps and the synthetic one breaks, worst first."""
    found = [each for each in comparison.identities if each.real - each.synthetic > CARE]
    return sorted(found, key=lambda each: each.synthetic - each.real)


def identity_findings(comparison: TableComparison) -> Iterator[Finding]:
    """One sentence of all of them, with what to write into the schema."""
    broken = broken_identities(comparison)
    if not broken:
        return
    worst = broken[0].real - broken[0].synthetic
    said = "; ".join(_said(each) for each in broken[:SHOWN])
    asked, them = "If that is public, declare it as a fact", "it"
    if len(broken) > 1:
        asked, them = "Declare those that are public as facts", "them"
    some = any(each.real < 1 for each in broken[:SHOWN])
    except_for = " Rows that break a fact do not fit such a schema." if some else ""
    yield Finding(
        "avoid" if worst > AVOID else "care",
        "Facts",
        f"{said}{more(broken, SHOWN)}. {asked} in the schema: a fit then computes {them}, exactly, "
        f"in every row and at no cost.{except_for}",
        20 * worst,
    )


def _said(identity: Identity) -> str:
    if identity.fact.endswith("missing together"):
        return (
            f"`{identity.fact}` holds in {_share(identity.real)} of the real rows in which one of "
            f"them is missing and {_share(identity.synthetic)} of the synthetic ones"
        )
    return (
        f"`{identity.fact}` holds in {_share(identity.real)} of the real rows and "
        f"{_share(identity.synthetic)} of the synthetic ones"
    )


def _share(share: float) -> str:
    """A share near 1 in enough digits to tell it from all.

    Examples:
        >>> _share(1.0), _share(0.9991), _share(0.99999), _share(0.031)
        ('100%', '99.9%', '>99.9%', '3%')
    """
    if 0.99 <= share < 1:
        return f"{100 * share:.1f}%" if share < 0.9995 else ">99.9%"
    return f"{100 * share:.0f}%" if share >= 0.01 or share == 0 else "<1%"
