"""How many sites share one noise, how many of them may drop out, and how many may be against us."""

from __future__ import annotations

import dataclasses
from typing import Any, final

from nacre.errors import NacreError

MOST_SITES = 1000


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Parties:
    """Sites that each add a share of the noise, so that nobody has to be trusted with sums.

    Each secret of a site is divided so that any `threshold` sites can put it together.  Of each
    other site a site gives out its part of one of two secrets, once a round, and it leaves out at
    most `dropouts` sites.

    Theorem (docs/privacy.md, section 4):
        let at most c = `colluding` sites work together with whoever collects.  If 2t > n + c, both
        secrets of an honest site never come to light; and what does is at most one total, in which
        `shares` honest sites at least have their noise: of the n - c honest ones each has left out
        at most d, and to leave one out takes t - c of them.

    Attributes:
        sites: n, all that take part.
        dropouts: d, how many may be missing in a round.
        colluding: c; at least one, as every site knows its own share of the noise.
    """

    sites: int
    dropouts: int
    colluding: int

    def __post_init__(self) -> None:
        said = dataclasses.astuple(self)
        if not all(type(number) is int for number in said):
            raise NacreError("Sites, drop-outs and colluding sites are whole numbers.")
        if not 2 <= self.sites <= MOST_SITES:
            raise NacreError(f"Between 2 and {MOST_SITES:,} sites share a noise, not {self.sites}.")
        if self.dropouts < 0 or self.colluding < 1:
            raise NacreError(
                "No fewer than 0 sites drop out, and 1 at least counts as colluding: a site that "
                "sees the answer knows its own share of the noise."
            )
        if self.honest < 1 or 2 * self.threshold <= self.sites + self.colluding:
            raise NacreError(
                f"Of {self.sites} sites {self.dropouts} cannot drop out while {self.colluding} may "
                "work together: 2 (sites - drop-outs) must be more than sites + colluding. Find "
                "more sites, or expect fewer drop-outs."
            )
        if self.shares < 1:
            raise NacreError("No honest site would be left to add noise. Expect fewer drop-outs.")

    @property
    def honest(self) -> int:
        """How many sites are honest at least."""
        return self.sites - self.colluding

    @property
    def threshold(self) -> int:
        """How many sites it takes to put a secret together, and to finish a round: t = n - d."""
        return self.sites - self.dropouts

    @property
    def shares(self) -> int:
        """In how many shares of honest sites the noise of every total is, at least."""
        return self.honest - self.dropouts * self.honest // (self.threshold - self.colluding)

    def __str__(self) -> str:
        return (
            f"{self.sites} sites of which {self.dropouts} may drop out and {self.colluding} collude"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dataclasses.asdict(self)
