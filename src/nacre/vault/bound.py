"""What one row may contribute to a sum, and from it the sensitivity under each adjacency."""

from __future__ import annotations

import dataclasses
import enum
import math

from nacre.errors import NacreError
from nacre.rows.encoder import Label


class Adjacency(enum.StrEnum):
    """Which pairs of tables must be hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Segment:
    """A stretch of the feature vector whose L2 norm the vault clips to `norm`.

    `weight` scales the stretch before noise is added, so that one release can measure some
    things more finely than others; the vault divides it out again afterwards.
    """

    size: int
    norm: float
    signed: bool = True
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise NacreError(f"A segment needs at least one value, got size={self.size}.")
        for name in ("norm", "weight"):
            value = getattr(self, name)
            if not 1e-15 < value < 1e15:
                raise NacreError(
                    f"A segment's {name} must lie between 1e-15 and 1e15, got {value}."
                )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bound:
    """What one row may contribute to `Vault.sum`.

    A row's contribution is the concatenation of its segments f_1, f_2, ... with ||f_j|| <= B_j,
    placed in the block of the row's label if `by` names a label column, and the number `count`
    (in the units of the features) in that block's last place.  A bad row contributes nothing.

    Sensitivity, with b_j = weight_j * B_j and c = `count`:
      add-remove   D^2 = sum b_j^2 + c^2:  one row's contribution comes or goes.
      replace-one  D^2 = the largest of
        same block        sum (4 if signed else 2) b_j^2:  ||f - g||^2 <= (||f|| + ||g||)^2 <= 4B^2,
                          and for f, g >= 0 the inner product is not negative, so <= 2B^2; the
                          count does not move;
        different blocks  2 sum b_j^2 + 2c^2 (only with `by`):  one block loses f, another gains g;
        good and bad      sum b_j^2 + c^2:  a row that counts as zero becomes one that does not.
    """

    segments: tuple[Segment, ...]
    by: Label | None = None
    count: float = 0.0

    def __post_init__(self) -> None:
        if not self.segments and not self.count:
            raise NacreError("A bound needs at least one segment or a count.")
        if not (math.isfinite(self.count) and self.count >= 0):
            raise NacreError(f"count must be finite and not negative, got {self.count}.")

    @property
    def classes(self) -> int:
        """How many blocks there are: one for each value of the label, or one."""
        return 1 if self.by is None else self.by.classes

    @property
    def size(self) -> int:
        """The length of one row's feature vector (without the count)."""
        return sum(segment.size for segment in self.segments)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each segment starts, and the end of the last."""
        ends = [0]
        for segment in self.segments:
            ends.append(ends[-1] + segment.size)
        return tuple(ends)

    def sensitivity(self, adjacency: Adjacency | str) -> float:
        """The largest L2 change of the weighted sum between neighboring tables."""
        squares = [(segment.weight * segment.norm) ** 2 for segment in self.segments]
        one_row = math.fsum(squares) + self.count**2
        if Adjacency(adjacency) is Adjacency.ADD_REMOVE:
            return math.sqrt(one_row)
        factors = [4 if segment.signed else 2 for segment in self.segments]
        same = math.fsum(f * s for f, s in zip(factors, squares, strict=True))
        different = 2 * one_row if self.by is not None else 0.0
        return math.sqrt(max(same, different, one_row))

    def block_change(self, adjacency: Adjacency | str) -> int:
        """The largest L1 change of one segment's sum, for integer features of weight 1.

        A clipped contribution x has ||x||_2^2 <= B^2 in integers, and |x_i| <= x_i^2, so
        ||x||_1 <= B^2; under replace-one a segment loses one contribution and gains another.
        """
        limits = [math.floor(segment.norm**2 * (1 + 1e-12)) for segment in self.segments]
        if self.count or any(segment.weight != 1 for segment in self.segments):
            raise NacreError("To choose among segments, they need weight 1 and the bound no count.")
        if not limits or not 1 <= min(limits) <= max(limits) <= 1 << 20:
            raise NacreError("To choose among segments, their norms must lie between 1 and 1,024.")
        return max(limits) * (1 if Adjacency(adjacency) is Adjacency.ADD_REMOVE else 2)
