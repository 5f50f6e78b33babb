"""What stands between the rows that people hold and the rows that functions of one row see."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.rows.source import Source, Watch
from nacre.rows.unit import Persons
from nacre.schema import Unit

if TYPE_CHECKING:
    from nacre.rows.gathering import Gathering


@final
@dataclasses.dataclass(frozen=True)
class Label:
    """A column with a public list of values, by which sums may be taken.

    Attributes:
        name: of the column.
        classes: how many values it has, 'other' and 'missing' included where there are such.
    """

    name: str
    classes: int


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Encoded rows, and whether each is to be counted (padding and bad rows are not).

    Attributes:
        rows: a named tuple of integer arrays, the first axis of each being that of rows.
        valid: bool[n].
        persons: whose they are, where a person may have several rows.
    """

    rows: Any
    valid: NDArray[np.bool_]
    persons: Persons | None = None

    def __repr__(self) -> str:
        # Without any content: messages and notebooks must not show private rows by accident.
        return f"Block({len(self.valid)} rows)"

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        own = sum(leaf.nbytes for leaf in self.rows) + self.valid.nbytes
        return own if self.persons is None else own + self.persons.nbytes

    def one_each(self) -> Block:
        """The block with one row of each person left to count: the first of a random order."""
        if self.persons is None:
            return self
        return dataclasses.replace(self, valid=self.valid & (self.persons.place == 0))


class AbstractEncoder(abc.ABC):
    """The shape of a row, its label, the way in (`encode`) and the way out (`decode`).

    Everything about an encoder is public.  `encode` gives each row a code that is a function of
    that row alone, whatever other rows stand beside it.
    """

    kind: ClassVar[str]
    """'table' or 'image': what methods say they can learn from, and how a file names it."""

    # -- what is public ------------------------------------------------------------------------

    @property
    def at_once(self) -> int:
        """How many rows are drawn at once, so that they fit into memory."""
        return 1 << 16

    @property
    @abc.abstractmethod
    def shape(self) -> Any:
        """One row, as a named tuple of `jax.ShapeDtypeStruct` of integers."""

    @property
    @abc.abstractmethod
    def label(self) -> Label | None:
        """What generators are made for each value of, if there is such a thing."""

    @property
    def unit(self) -> Unit | None:
        """Whose privacy it is, where a person may have several rows; None if a row is a person."""
        return None

    @property
    def releases(self) -> tuple[Mapping[str, Any], ...]:
        """What the public facts themselves were bought with, if they were."""
        return ()

    @property
    def protect(self) -> tuple[str, ...]:
        """The sets of columns whose joint distribution is to be hidden, if there are such."""
        return ()

    @property
    @abc.abstractmethod
    def digest(self) -> str:
        """A fingerprint of the public facts, for the certificate."""

    def require_usable(self) -> None:
        """Refuse facts that nobody has found to be public."""
        return

    # -- the way in ----------------------------------------------------------------------------

    @abc.abstractmethod
    def open(self, data: Any) -> Source:
        """A stream over `data`, refused if it lacks what the encoder needs."""

    @abc.abstractmethod
    def check(self, source: Source, watch: Watch) -> int:
        """The holder's own check: the number of rows, or an error that says what does not fit.

        The batches of the source are to be read through `watch`.
        """

    @abc.abstractmethod
    def encode(self, batch: pa.RecordBatch) -> Block:
        """One batch of the source; elementwise, so a function of each row alone.

        Where there is a unit, the column `unit.counted` says how many rows a row's person has.
        """

    @abc.abstractmethod
    def classes(self, rows: Any, label: Label) -> Any:
        """The value of a label for each row, from 0; refuses a label that there is not."""

    # -- the way out ---------------------------------------------------------------------------

    @abc.abstractmethod
    def settle(self, drawn: Any, rng: np.random.Generator) -> Any:
        """Rows as a generator draws them, as `holds` and `decode` take them.

        They have a length, `valid` (which of them can be decoded) and can be indexed by a mask.
        `rng` is for what the schema leaves open, such as the rounding of a product.
        """

    @abc.abstractmethod
    def rules(self, where: Mapping[str, Any] | None) -> tuple[Any, ...]:
        """What rows must satisfy, standing constraints included; each has a `text`."""

    @abc.abstractmethod
    def fixed(self, rules: Sequence[Any]) -> dict[Any, int]:
        """The rules that leave one value only, as `AbstractGenerator.given` takes them."""

    @abc.abstractmethod
    def holds(self, rows: Any, rules: Sequence[Any]) -> list[NDArray[np.bool_]]:
        """For each rule, which rows satisfy it."""

    def may_drop(self, rules: Sequence[Any]) -> bool:
        """Whether drawn rows may be dropped for what their columns are together."""
        return False

    def weigh(self, rows: Any, rules: Sequence[Any], held: Sequence[NDArray[np.bool_]]) -> Any:
        """Weights of candidates under which rules move no group's share; None for no weights.

        `held` says for each rule which rows satisfy it; the weights have `chances` and `moves`.
        """
        return None

    def chances(self, rows: Any, weights: Any) -> NDArray[np.float64]:
        """How likely each row is to stay under `weights`."""
        return np.ones(len(rows))

    @abc.abstractmethod
    def decode(self, rows: Any) -> pa.Table:
        """Settled rows as an Arrow table."""

    def gathering(self, rules: Sequence[Any]) -> Gathering | None:
        """What makes persons of settled rows, where a person may have several."""
        return None

    # -- files ---------------------------------------------------------------------------------

    @abc.abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""

    @classmethod
    @abc.abstractmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; raises ValueError for what does not fit together."""
