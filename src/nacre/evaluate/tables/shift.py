"""What may be off with a number: a statistic of a column, a difference or a group."""

import dataclasses

MEAN = None
"""In the place of a share of the rows."""


@dataclasses.dataclass(frozen=True)
class Difference:
    """What lies between two ordered columns.

    Examples:
        >>> print(Difference("discharged", "admitted"))
        discharged − admitted
    """

    later: str
    earlier: str

    def __str__(self) -> str:
        return f"{self.later} \N{MINUS SIGN} {self.earlier}"


@dataclasses.dataclass(frozen=True)
class Group:
    """A number, or what lies between two, among the rows with one value of another column.

    Examples:
        >>> print(Group("cost", "ward", "ICU"))
        cost where ward = ICU
    """

    column: str | Difference
    by: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} where {self.by} = {self.value}"


Subject = str | Difference | Group
"""A column by its name, or one of these."""


@dataclasses.dataclass(frozen=True)
class Statistic:
    """The mean of something, or its value that a share of the rows does not exceed.

    Attributes:
        of: a column, the difference of two, or a group's.
        share: of the rows; None for the mean.

    Examples:
        >>> print(Statistic("cost", MEAN), Statistic("cost", 0.99), sep="; ")
        cost: mean; cost: 99%
    """

    of: Subject
    share: float | None

    def __str__(self) -> str:
        return f"{self.of}: {'mean' if self.share is MEAN else f'{self.share:.0%}'}"


@dataclasses.dataclass(frozen=True)
class Shift:
    """A statistic in both tables.

    Attributes:
        statistic: which one.
        real: in the real table; dates in microseconds since 1970.
        synthetic: in the synthetic table.
        gap: how far apart they are beyond what chance explains, relative to the real table's own
            width: its mean distance from the median for the mean, its median distance from it for
            the median, the distance from the median to that quantile for others.
    """

    statistic: Statistic
    real: float
    synthetic: float
    gap: float

    @property
    def of(self) -> Subject:
        """What it is a statistic of."""
        return self.statistic.of
