"""What Mosaic counts in its second release: as fine as the first one says that noise will allow.

The bound of that release is public: so many values, and a norm.  Within it everything may follow
from the noisy histograms: which columns are joined, how many bins they have, and how much of the
norm each table gets.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.bins import bin_sums
from nacre.histograms.cells import CodeColumn, Column
from nacre.histograms.histograms import Histograms, deviation, with_whole
from nacre.methods.mosaic.learn import Labeled, Loose, Pairs
from nacre.methods.mosaic.spectrum import FAINT

Array = NDArray[np.float64]
Index = NDArray[np.int64]

COARSEST = 0.2  # the largest share that a bin has to have, however large the noise
SEEN = 0.1  # columns are joined only while bins of this share stand out of the noise
EVEN = 1 / 3  # a table's weight grows with so much power of its size: least error in all of them
CLEAR = 3.0  # noise deviations, about, that a cell of two equal bins of numbers is to hold
ALONE = 0.4  # of such a bin's share: a code that has less is counted with others of its group
SPIKE = 6.0  # noise deviations by which a single value of a number stands out to have its own bin
VALUES = 128  # of a category that are counted with a numeric label, each with RARE of the rows
RARE = 0.002
TARGET = 2.0  # weight of a table of a numeric label's classes beside that of others
LOOSE = 2.0  # weight of a loose column's bins beside that of a table of their size


@dataclasses.dataclass(frozen=True)
class Answer:
    """Released counts of all tables, (classes or 1, size).

    Those of each table are multiplied by its one of the whole `weights`, before `noise` of this
    deviation was added; tables of weight zero were not counted.
    """

    weights: NDArray[np.int64]
    values: Array
    noise: float


@dataclasses.dataclass(frozen=True)
class Counting:
    """Tables of one release: bins of the `loose` columns, then pairs of the `joined` ones.

    groups[k] is the bin of each cell of column k; weights are whole numbers, one for each table.
    commonest[k] is the bin of a loose column that is not counted: it holds the rows that no other
    bin does.  So a row contributes only where it is unusual, and a thousand columns that are
    mostly 'no' cost as little as a row's few 'yes'; the vault clips rows that have too many.
    The classes of a numeric label, the `target`, are counted with each joined column, last, and in
    bins of their own: `labeled`, which are those of the pairs or parts of them.
    """

    joined: tuple[int, ...]
    loose: tuple[int, ...]
    groups: dict[int, Index]
    commonest: dict[int, int]
    weights: NDArray[np.int64]
    target: int | None = None
    labeled: dict[int, Index] = dataclasses.field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of joined columns, in the order of their tables."""
        return list(itertools.combinations(self.joined, 2))

    def bins(self, column: int) -> int:
        """How many bins a column has."""
        return int(self.groups[column].max()) + 1

    @property
    def sizes(self) -> list[int]:
        """How many values each table has."""
        wide = {column: self.bins(column) for column in self.groups}
        classes = 0 if self.target is None else wide[self.target]
        return [
            *(wide[c] for c in self.loose),
            *(wide[i] * wide[j] for i, j in self.pairs),
            *(classes * (int(group.max()) + 1) for group in self.labeled.values()),
        ]

    def split(self, answers: Sequence[Answer]) -> tuple[Loose, Pairs]:
        """What was counted: by class the mean of all such answers by precision.

        With answers over all classes, if there are others, too, counts by class add up to what all
        say together.
        """
        most = max(len(answer.values) for answer in answers)
        own = self._mean([each for each in answers if len(each.values) == most])
        if not (whole := [each for each in answers if len(each.values) < most]):
            return self._named(*own)
        again = self._mean(whole)
        tables, sums = [], []
        for table, noise, other, noise_again in zip(*own, *again, strict=True):
            counted = math.isfinite(noise_again)
            merged = with_whole(table, other[0], noise, noise_again) if counted else None
            tables.append(table if merged is None else merged[0])
            sums.append(noise * math.sqrt(most) if merged is None else merged[1])
        loose, pairs = self._named(tables, own[1])
        first = len(self.loose)
        known = dict(zip(pairs.tables, sums[first:], strict=False))
        released = self._named(*own)[1], self._named(*again)[1]
        return loose, dataclasses.replace(pairs, summed=known, released=released)

    def _named(self, tables: list[Array], noises: list[float]) -> tuple[Loose, Pairs]:
        """Tables and their noise in the order of the release, by what they are of."""
        alone = len(self.loose)
        places = {column: place for place, column in enumerate(self.joined)}
        shaped = {
            (places[i], places[j]): table.reshape(len(table), self.bins(i), self.bins(j))
            for (i, j), table in zip(self.pairs, tables[alone:], strict=False)
        }
        groups = [self.groups[column] for column in self.joined]
        last = alone + len(shaped)
        labeled = {
            place: Labeled(group, table.reshape(-1, int(group.max()) + 1), noise)
            for place, (group, table, noise) in enumerate(
                zip(self.labeled.values(), tables[last:], noises[last:], strict=True)
            )
        }
        noise_of = dict(zip(shaped, noises[alone:last], strict=True))
        pairs = Pairs(self.joined, groups, shaped, noise_of, labeled)
        columns = {column: self.groups[column] for column in self.loose}
        return Loose(columns, self.commonest, tables[:alone], noises[:alone]), pairs

    def _mean(self, answers: Sequence[Answer]) -> tuple[list[Array], list[float]]:
        """Each table, averaged by precision, and a count's deviation; inf where none was made."""
        ends = np.cumsum(self.sizes)
        weights = np.stack([answer.weights for answer in answers]).astype(np.float64)
        variances = np.array([answer.noise**2 or 1.0 for answer in answers])[:, None]
        precision = (weights**2 / variances).sum(0)
        own = weights / variances / np.maximum(precision, 1e-300)
        shares = np.repeat(own, self.sizes, axis=1)
        parts = [answer.values[:, : ends[-1]] for answer in answers]
        values = sum(share * part for share, part in zip(shares, parts, strict=True))
        exact = not any(answer.noise for answer in answers)
        noises = [
            math.inf if not p else deviation(0.0 if exact else p**-0.5) for p in precision.tolist()
        ]
        return np.split(np.asarray(values), ends[:-1], axis=1), noises


def plan_counting(
    histograms: Histograms,
    *,
    order: Sequence[int],
    most: int,
    bins: int,
    size: int,
    norm: int,
    noise: float,
    by_class: bool,
    target: tuple[int, Index] | None = None,
    apart: Sequence[int] = (),
) -> Counting:
    """The finest counting of at most `most` joined columns that noise and `size` allow.

    `order` lists the columns, those first that should be joined; `noise` is the deviation of a
    release in which a row's norm is `norm`.  Columns are joined only while bins of `SEEN` are
    three noise deviations above zero.  The `target` is a numeric label and the class of each of its
    cells; columns `apart` are counted in pairs or not at all.
    """
    own = {} if target is None else {target[0]: target[1]}
    unusual = np.array([1 - table.sum(0).max() / histograms.total for table in histograms.cleaned])
    for count in _counts(min(most, len(order))):
        joined = tuple(sorted(order[:count]))
        loose = tuple(sorted({*order[count:]}.difference(apart))) if by_class else ()
        crowd = _crowd(np.full(len(loose), LOOSE), unusual[list(loose)])
        tables = count * (count - 1) / 2 + TARGET**2 * count * len(own)
        weight = norm / math.sqrt(tables + crowd + 1e-9)
        error = noise / weight / histograms.total
        if 3 * error > SEEN and count > 2:
            continue
        # Four bins of each last: the public bound has room for those, whatever is joined.
        for fine in sorted({max(bins * part // 4, 4) for part in range(5)}, reverse=True):
            groups = _groups(histograms, (*joined, *loose), fine, error)
            masses = {c: bin_sums(groups[c], histograms.cleaned[c]).sum(0) for c in loose}
            commonest = {column: int(mass.argmax()) for column, mass in masses.items()}
            labeled = {c: _labeled(histograms, c, groups[c]) for c in joined} if own else {}
            found = Counting(
                joined,
                loose,
                groups | own,
                commonest,
                np.zeros(0, np.int64),
                None if target is None else target[0],
                labeled,
            )
            if sum(found.sizes) <= size:
                rest = np.array([1 - mass.max() / mass.sum() for mass in masses.values()])
                return dataclasses.replace(found, weights=_weights(found, rest, norm))
    raise NacreError(f"Not even two columns can be joined within {size} values.")


def _labeled(histograms: Histograms, column: int, group: Index) -> Index:
    """The bins in which a column is counted with a numeric label: more of a category's values.

    Those of the pairs, if others would not be parts of these.
    """
    if not isinstance(histograms.columns[column], CodeColumn):
        return group
    fine = histograms.group(column, most=VALUES, floor=RARE, rare=RARE, slots=VALUES)
    whole = np.zeros(int(fine.max()) + 1, np.int64)
    whole[fine] = group
    return fine if (whole[fine] == group).all() else group


def labeled_bins(columns: Sequence[Column], bins: int) -> list[int]:
    """How many bins each column can have where it is counted with a numeric label."""
    most = [VALUES if isinstance(c, CodeColumn) else bins + bins // 2 + 1 for c in columns]
    return [min(column.size, own) for column, own in zip(columns, most, strict=True)]


def _counts(most: int) -> list[int]:
    """Numbers of columns to try, the largest first."""
    found = [most]
    while found[-1] > 2:
        found.append(max(2, found[-1] - max(1, found[-1] // 8)))
    return found


def _groups(
    histograms: Histograms, columns: Sequence[int], bins: int, error: float
) -> dict[int, Index]:
    # A pair of bins that hold this share each holds its square of all rows.
    equal = math.sqrt(CLEAR * error)
    clear = equal if error > FAINT else 0.0
    return {
        column: histograms.group(
            column,
            most=bins,
            floor=min(max(0.01, 3 * error, clear), COARSEST),
            rare=max(0.005, 2 * error),
            slots=bins + bins // 2 + histograms.columns[column].nullable,
            alone=ALONE * equal,
            spike=SPIKE * error,
        )
        for column in columns
    }


def _weights(counting: Counting, unusual: Array, norm: int) -> NDArray[np.int64]:
    """Whole weights of the tables: hardly a row's contribution is longer than `norm`."""
    raw, alone = np.array(counting.sizes, np.float64) ** EVEN, len(counting.loose)
    raw[:alone] *= LOOSE
    raw[alone + len(counting.pairs) :] *= TARGET
    square = (raw[alone:] ** 2).sum() + _crowd(raw[:alone], unusual)
    return np.maximum(np.floor(raw * norm / np.sqrt(square)), 1).astype(np.int64)


def _crowd(weights: Array, chance: Array) -> float:
    """A row's squared weights where it is unusual: a quarter and four deviations above average."""
    squares, chance = weights**2, np.clip(chance, 0.0, 1.0)  # rounding may leave -1e-16
    mean = float((squares * chance).sum())
    spread = math.sqrt(float((squares**2 * chance * (1 - chance)).sum()))
    return min(float(squares.sum()), 1.25 * mean + 4 * spread)
