"""One synthetic table beside the real one, with what several metrics share computed once."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from nacre.evaluate.tables.classifiers import REGRESSORS, Prediction, available, predict_all
from nacre.evaluate.tables.clock import Clock, find_clocks
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.group_shifts import find_group_shifts
from nacre.evaluate.tables.identities import find_identities
from nacre.evaluate.tables.identity import Identity
from nacre.evaluate.tables.label_groups import LabelGroups, find_label_groups
from nacre.evaluate.tables.pairs import Pair, PairMatrices, Place, compare_pairs
from nacre.evaluate.tables.randomness import generator
from nacre.evaluate.tables.rows import Coded, Rows
from nacre.evaluate.tables.shift import Shift
from nacre.evaluate.tables.shifts import find_shifts

Result = TypeVar("Result")

CLASSIFIER_ROWS = 50_000
"""Models are trained on at most this many rows and tested on as many, a seeded sample."""
DISTANCE_ROWS = 20_000
"""Distances are measured to at most this many real rows, a seeded sample."""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TableComparison:
    """What a metric looks at.

    Attributes:
        name: of the synthetic table.
        real: all real rows; what the synthetic table should look like.
        synthetic: the synthetic rows.
        train: real rows that models are trained on for comparison; `real` itself unless rows had
            to be held out of it.
        test: real rows that models are tested on; never part of `train`.
        label: the column to predict, if any.
        models: names of the classifiers to try.
        tested: whether `test` was given, so that the synthetic table was not made from it; held
            out of the real table by us, it may have been.
        seed: of everything that is sampled.
        jobs: processes to train models in.
        real_trained: the same with `train` in the place of the synthetic table; None in itself.
        watched: the pairs of columns that get a score of their own; None for all of them.
    """

    name: str
    real: Rows
    synthetic: Rows
    train: Rows
    test: Rows
    label: str | None
    models: tuple[str, ...]
    tested: bool = True
    seed: int = 0
    jobs: int = 2
    real_trained: "TableComparison | None" = None
    watched: tuple[Place, ...] | None = None

    def rng(self, purpose: str) -> np.random.Generator:
        """Randomness of its own for each purpose, so that metrics do not disturb each other."""
        return generator(self.seed, purpose)

    @functools.cached_property
    def _found(self) -> dict[Any, Any]:
        return {}

    def once(self, key: Any, compute: Callable[[], Result]) -> Result:
        """What `compute` gives, computed once; kept here, so that it goes when the rows go."""
        if key not in self._found:
            self._found[key] = compute()
        return cast(Result, self._found[key])

    def by_quantiles(self, name: str) -> tuple[Coded, Coded]:
        """A number of both tables, in bins that hold about as many real rows each."""
        edges = self.real.quantile_edges(name)
        return self.real.bin_at(name, edges), self.synthetic.bin_at(name, edges)

    @functools.cached_property
    def shifts(self) -> tuple[Shift, ...]:
        """How far means, tails and ordered differences of numbers are off."""
        return find_shifts(self.real, self.synthetic)

    @functools.cached_property
    def group_shifts(self) -> tuple[Shift, ...]:
        """How far medians of numbers are off within groups."""
        return find_group_shifts(self.real, self.synthetic, self.rng("group-medians"))

    @functools.cached_property
    def label_groups(self) -> tuple[LabelGroups, ...]:
        """How far the label is off by group; nothing without a label."""
        if self.label is None:
            return ()
        return find_label_groups(self.real, self.synthetic, self.label)

    @functools.cached_property
    def clocks(self) -> tuple[Clock, ...]:
        """Dates and times by the hour of the day and the day of the week."""
        return find_clocks(self.real, self.synthetic)

    @functools.cached_property
    def identities(self) -> tuple[Identity, ...]:
        """Facts of nearly every real row, and how often they hold in either table."""
        return find_identities(self.real, self.synthetic, self.rng("identities"))

    @functools.cached_property
    def pairs(self) -> PairMatrices:
        """All two-way comparisons."""
        return compare_pairs(self.real, self.synthetic)

    def pair_places(self) -> dict[Pair, Place]:
        """Where the pairs that get a score of their own are in `pairs`."""
        return self.pairs.places(self.watched)

    def watching(self, watched: tuple[Place, ...]) -> "TableComparison":
        """The same with fewer pairs that get a score, and what was computed of pairs kept."""
        found = dataclasses.replace(self, watched=watched)
        found.__dict__["pairs"] = self.pairs
        return found

    @functools.cached_property
    def features(self) -> Features:
        """How rows become numbers, all columns."""
        return Features.of(self.real)

    @property
    def classes(self) -> int | None:
        """How many values the label has; None if it is a number or there is none."""
        if self.label is None or self.real.is_number(self.label):
            return None
        return self.real.bin(self.label).size

    @functools.cached_property
    def positive(self) -> int:
        """Of a label with two values, the one that is rarer in the real table."""
        if self.label is None:
            return 1
        counts = np.bincount(self.train.bin(self.label).codes, minlength=2)
        return int(np.argmin(counts[::-1]) ^ 1) if len(counts) == 2 else 1

    @functools.cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """Each model, trained on the synthetic rows and applied to the test rows."""
        if self.label is None:
            return ()
        features = Features.of(self.train, without=self.label)
        train = self.synthetic.sample(CLASSIFIER_ROWS, self.rng("training rows"))
        test = self.test.sample(CLASSIFIER_ROWS, self.rng("test rows"))
        train, test = (_with_target(rows, self.label) for rows in (train, test))
        names = available(self.models if self.classes is not None else REGRESSORS)
        return tuple(
            predict_all(
                names,
                (features.matrix(train), target(train, self.label)),
                (features.matrix(test), target(test, self.label)),
                classes=self.classes,
                seed=self.seed,
                jobs=self.jobs,
            )
        )


def target(rows: Rows, label: str) -> np.ndarray:
    """What a model should predict: class codes, or the number scaled to [0, 1]."""
    if rows.is_number(label):
        return rows.unit(label).astype(np.float64)
    return rows.bin(label).codes.astype(np.int64)


def _with_target(rows: Rows, label: str) -> Rows:
    """Without the rows whose target is a missing number: there is nothing to predict."""
    missing = rows.missing(label) if rows.is_number(label) else None
    return rows if missing is None else rows.take(np.flatnonzero(~missing))
