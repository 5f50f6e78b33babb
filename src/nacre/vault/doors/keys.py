"""The door `keys`: which values of a column many rows hold, by noise with a threshold."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any, final

import pyarrow.compute as pc

from nacre.errors import NacreError
from nacre.rows.encoder import AbstractEncoder
from nacre.rows.parts import AbstractWork
from nacre.rows.source import Source
from nacre.rows.stream import Stream
from nacre.schema.columns.names import cell_names
from nacre.vault.bound import Adjacency
from nacre.vault.question import AbstractQuestion, Expected
from nacre.vault.release import Release

THEOREM = "Laplace noise with a threshold (Rogers 2023; OpenDP make_laplace_threshold)"


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Keys(AbstractQuestion):
    """The values of a column that are held by many rows.

    Releases:
        the set of values whose count plus Laplace noise passes a threshold.

    Sensitivity:
        a row holds one value; add-remove changes one count by one, replace-one two.  Of a person
        with several rows one counts, drawn at random.

    Guarantee:
        (epsilon, delta), OpenDP's `make_laplace_threshold`, the scale and the threshold being the
        smallest that its own privacy map accepts.

    Without noise:
        the values whose count passes the same threshold.

    Public:
        the column's name, epsilon, delta.

    Attributes:
        column: whose values.
        epsilon: of this release, whatever the others cost.
        delta: likewise.
    """

    column: str
    epsilon: float
    delta: float
    share: float = 0.0

    def release(self, scale: float, adjacency: Adjacency) -> Release:
        """The same at any scale."""
        return Release(
            name=self.name,
            mechanism="approximate",
            theorem=THEOREM,
            adjacency=adjacency,
            size=1,
            epsilon=self.epsilon,
            delta=self.delta,
        )

    def expected(self, release: Release, rows: int | None) -> Expected:
        """How many rows must hold a value for it to be found."""
        return Expected(words="values that only a few rows hold are not found")


def answer(
    question: Keys, release: Release, stream: Stream, charge: Callable[[], None]
) -> tuple[str, ...]:
    """Values (as text) whose noisy count passes the threshold; `charge` runs before the noise.

    A row holds one value, whose text (`cell_names`) is a function of its cell alone: so one row
    changes one count by one, two if it is replaced.
    """
    if stream.apart:
        counts = stream.reduce(Holders(stream.encoder, question.column))
    else:
        counts = holders(stream, question.column)
    cost = release if release.private else question
    measurement = _calibrated(cost.epsilon, cost.delta, release.adjacency, noisy=release.private)
    charge()
    return tuple(sorted(measurement(dict(counts))))


@final
@dataclasses.dataclass(frozen=True)
class Holders(AbstractWork):
    """How many rows hold each value of a column, one row a person.  NOT private."""

    encoder: AbstractEncoder
    column: str

    def __call__(self, source: Source) -> Counter[str]:
        """See `AbstractWork`."""
        return holders(Stream(self.encoder, source), self.column)

    def add(self, one: Counter[str], other: Counter[str]) -> Counter[str]:
        """See `AbstractWork`."""
        return one + other


def holders(stream: Stream, column: str) -> Counter[str]:
    """How many rows of a stream hold each value of a column.  NOT private."""
    counts: Counter[str] = Counter()
    for batch in stream.one_row_each():
        found = pc.value_counts(cell_names(batch.column(column)))
        for value, count in zip(*(found.field(part).to_pylist() for part in (0, 1)), strict=True):
            if _is_key(value):
                counts[value] += count
    return counts


def _is_key(value: str | None) -> bool:
    """Whether a cell of this text is counted; a function of that cell alone.

    OpenDP takes keys as C strings: a text that went on behind a zero byte would be taken for
    another value and replace its count.
    """
    return value is not None and "\0" not in value


def _calibrated(epsilon: float, delta: float, adjacency: Adjacency, *, noisy: bool = True) -> Any:
    """The least noise and then the lowest threshold that OpenDP's privacy map accepts.

    If it is not to be noisy, the threshold stays.
    """
    from opendp.domains import atom_domain, map_domain
    from opendp.measurements import make_laplace_threshold
    from opendp.metrics import absolute_distance, l01inf_distance
    from opendp.mod import binary_search, enable_features

    enable_features("contrib")
    domain = map_domain(atom_domain(T="String"), atom_domain(T="i64"))
    metric = l01inf_distance(absolute_distance(T="i64"))
    changed = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    distance = (changed, changed, 1)  # how many counts change, by how much in all, at most each

    def make(scale: float, threshold: int) -> Any:
        return make_laplace_threshold(domain, metric, scale=scale, threshold=threshold)

    # A hair of slack: the map rounds up in the last digit.
    scale = changed / (epsilon * (1 - 1e-9))
    threshold = binary_search(
        lambda t: make(scale, int(t)).map(distance)[1] <= delta, bounds=(1, (1 << 31) - 1)
    )
    measurement = make(scale, int(threshold))
    spent = measurement.map(distance)
    if not (spent[0] <= epsilon and spent[1] <= delta):
        raise NacreError(f"epsilon={epsilon:g}, delta={delta:g} is too small to find values with.")
    return measurement if noisy else make(0.0, int(threshold))
