"""The vault: the only code that computes with private rows for a release.

Every door charges the accountant (and the ledger, if one is open) before noise is drawn.
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nacre.errors import BudgetExceeded, NacreError
from nacre.rows.differences import Difference, Differences
from nacre.rows.source import Source, open_source
from nacre.schema import Encoded, Schema
from nacre.vault.accountant import (
    Release,
    calibrate,
    epsilon_of,
    gaussian_epsilon,
    subsampled_guess,
    total_mu,
)
from nacre.vault.bound import Adjacency, Bound
from nacre.vault.guarantee import Guarantee
from nacre.vault.noise import LARGEST, add_discrete_gaussian, system_key
from nacre.vault.planning import (
    FACTOR_ONE,
    check_budget,
    grid_places,
    plan_choice,
    plan_sum,
    remaining_mu,
)
from nacre.vault.rows import Block, Row, blocks

if TYPE_CHECKING:
    from nacre.vault.doors.choose import Choices
    from nacre.vault.doors.sum import ExactSum

SUBSAMPLED = "Poisson-subsampled Gaussian, privacy-loss distribution (Koskela et al. 2020)"
THRESHOLD = "Laplace noise with a threshold (Rogers 2023; OpenDP make_laplace_threshold)"
MEMORY_LIMIT = 8 << 30


class Charge(Protocol):
    """Where charges are written down before noise is drawn; `nacre.fit` passes a ledger's."""

    def __call__(self, release: Release, /) -> None:
        """Write the release down, or raise: then no noise is drawn."""


@dataclasses.dataclass(frozen=True)
class Sums:
    """A noisy sum: `values` (classes, size), and `counts` by class if the bound asked for them.

    noise        the standard deviation of each value, by segment, in the units of the features
                 (times one over the label's weight, where the sum was weighted)
    count_noise  the standard deviation of each count
    """

    values: NDArray[np.float64]
    noise: tuple[float, ...]
    counts: NDArray[np.float64] | None = None
    count_noise: float = 0.0

    @property
    def total(self) -> float:
        """The noisy number of rows."""
        if self.counts is None:
            raise NacreError("The bound of this sum asked for no count.")
        return float(self.counts.sum())


class Vault:
    """Private rows behind doors that answer with noise, up to (`epsilon`, `delta`).

    Adjacency:  `adjacency`, for one row.  Under replace-one the number of rows is public.
    Public:     the schema, `rows` if given, and every argument of every door.

    With `differences` the doors see some columns as distances from others: `schema` and `layout`
    are those of the rows as functions of one row see them.  Each row is mapped by itself.
    """

    def __init__(
        self,
        data: Any,
        schema: Schema,
        *,
        epsilon: float,
        delta: float,
        adjacency: Adjacency | str = Adjacency.ADD_REMOVE,
        rows: int | None = None,
        differences: Sequence[Difference] = (),
        charge: Charge | None = None,
        on_progress: Callable[[str, float | None], None] | None = None,
    ):
        check_budget(epsilon, delta)
        self._differences = Differences(schema, differences)
        self.schema = self._differences.modeled
        self.layout = self.schema.layout
        self.epsilon, self.delta = float(epsilon), float(delta)
        self.adjacency = Adjacency(adjacency)
        self._source: Source = open_source(data, schema)
        self._charge_to = charge
        self.report = on_progress or (lambda stage, done: None)
        self._rows = rows
        self._lock = threading.Lock()
        self._memory: tuple[Row, NDArray[np.bool_]] | None = None
        self.releases: tuple[Release, ...] = tuple(Release.from_dict(r) for r in schema.releases)
        self._prior = self.releases
        # What is left for new releases, as one Gaussian: shares are fractions of its mu^2.
        self.mu = remaining_mu(self.releases, self.epsilon, self.delta, self.adjacency)

    # -- the doors -----------------------------------------------------------------------------

    def sum(
        self,
        features: Callable[[Row], Any],
        bound: Bound,
        *,
        share: float,
        name: str,
        weight: Sequence[float] | None = None,
    ) -> Sums:
        """The noisy sum of `features(row)` over all rows, by label if the bound says so.

        Releases:     sum_i weight_j f_j(x_i) per segment and class, and c times the count.
        Adjacency:    the vault's.
        Sensitivity:  `Bound.sensitivity`, enforced on the integers that are summed; `weight`
                      (a public factor in (0, 1] for each label) only shrinks contributions.
        Guarantee:    mu-Gaussian DP with mu = sqrt(share) * self.mu, by adding discrete Gaussian
                      noise of scale sensitivity / mu; the discretization's slack is charged.
        Public:       features, bound, share, weight, and so the noise.
        """
        from nacre.vault.doors.sum import BLOCK

        label, classes = self._label(bound.by)
        factors = self._weights(bound, weight, classes)
        exact = self._exact_sum(features, bound, label)
        release = plan_sum(bound, classes, share, self.mu, self.adjacency, name)
        self._affordable(release)
        places = grid_places(release, bound, exact.units)
        sums, counts = exact(self._blocks(BLOCK, name), classes)
        columns, steps = [], []
        for j, segment in enumerate(bound.segments):
            step = math.floor(segment.weight * exact.units[j] * 2.0**places)
            part = sums[:, bound.offsets[j] : bound.offsets[j + 1]]
            columns.append(_scaled(part, factors[:, None] * step))
            steps.append(step / exact.units[j])
        count_step = math.floor(bound.count * 2.0**places)
        if bound.count:
            columns.append(_scaled(counts[:, None], factors[:, None] * count_step))
        self._charge(release)
        scale = release.noise * 2.0**places * FACTOR_ONE
        noisy = add_discrete_gaussian(np.concatenate(columns, axis=1), scale).astype(np.float64)
        self.report(name, 1.0)
        undo = (np.array(factors, np.float64))[:, None]
        values = np.concatenate(
            [
                noisy[:, bound.offsets[j] : bound.offsets[j + 1]] / (steps[j] * undo)
                for j in range(len(steps))
            ]
            or [np.zeros((classes, 0))],
            axis=1,
        )
        return Sums(
            values=values,
            noise=tuple(scale / (step * FACTOR_ONE) for step in steps),
            counts=noisy[:, -1] / (count_step * undo[:, 0]) if bound.count else None,
            count_noise=scale / (count_step * FACTOR_ONE) if bound.count else 0.0,
        )

    def count(self, *, share: float) -> float:
        """The number of rows: the public one where there is one, otherwise a noisy count."""
        if self._rows is not None:
            return float(self._rows)
        if self.adjacency is Adjacency.REPLACE_ONE:
            self._rows = sum(batch.num_rows for batch in self._source.batches())
            return float(self._rows)
        sums = self.sum(_nothing, COUNT_ONLY, share=share, name="number of rows")
        self._rows = max(1, round(sums.total))
        return float(self._rows)

    def choose(
        self,
        features: Callable[[Row], Any],
        bound: Bound,
        *,
        count: int,
        share: float,
        name: str,
    ) -> Choices:
        """Up to `count` private choices among the bound's segments, from one pass over the rows.

        Releases:     the segments chosen, one for each call of what is returned (`Choices`).
        Adjacency:    the vault's.
        Sensitivity:  2 * `Bound.block_change`, enforced on the integers that are summed.
        Guarantee:    together mu-Gaussian DP with mu = sqrt(share) * self.mu: every choice gets
                      an equal part of it (`choice_mu`); all are charged before the first is made.
        Public:       features, bound, count, share, and so the noise.
        """
        from nacre.vault.doors.choose import Choices
        from nacre.vault.doors.sum import BLOCK

        label, classes = self._label(bound.by)
        exact = self._exact_sum(features, bound, label)
        if not exact.integer:
            raise NacreError("Choices need features that are integers, such as one-hot counts.")
        release = plan_choice(bound, classes, count, share, self.mu, self.adjacency, name)
        self._affordable(release)
        sums, _ = exact(self._blocks(BLOCK, name), classes)
        choices = Choices(sums, bound, release)
        self._charge(release)
        return choices

    def train(
        self,
        *,
        prepare: Callable[[Any, Any], Any],
        stages: Sequence[Any],
        update: Callable[[Any, tuple[Any, ...], Any], Any],
        state: Any,
        steps: int,
        batch: int,
        rows: float,
        share: float,
        name: str,
        key: Any,
        chunk: int = 64,
        exact: bool = False,
        report_every: int = 50,
    ) -> Any:
        """Run `steps` noisy updates on Poisson batches of expected size `batch`; the last state.

        Releases:     every noisy sum of every stage and step (`Loop` in steps.py).
        Adjacency:    add-remove; under replace-one by the generic conversion
                      (e, d) -> (2e, (1 + exp(e)) d).  There it should be the last release:
                      an earlier one is calibrated as if it had all of delta, and may be refused.
        Sensitivity:  one event per step with noise multiplier 1 / sqrt(sum (clip / noise)^2).
        Guarantee:    privacy-loss distribution of the Poisson-subsampled Gaussian, composed.
        Public:       all arguments; `rows` is a public or bought number of rows, so that neither
                      the rate nor any constant depends on how many rows there really are.
        """
        import jax
        import jax.numpy as jnp

        from nacre.vault.doors.steps import Loop
        from nacre.vault.doors.sum import row_shape

        if steps < 1 or batch < 1:
            raise NacreError(f"steps and batch must be at least 1, got {steps} and {batch}.")
        if not math.isclose(math.fsum(stage.share for stage in stages), 1.0):
            raise NacreError("The shares of a step's stages must add up to 1.")
        threshold = min(2**32 - 1, math.ceil(batch / max(rows, batch) * 2**32))
        release = self._calibrated(threshold / 2**32, steps, share, name)
        self._affordable(release)
        loop = Loop(
            prepare=prepare,
            stages=tuple(stages),
            update=update,
            threshold=threshold,
            multiplier=release.noise,
            chunk=chunk,
            exact=exact,
        ).checked(state, row_shape(len(self.layout.numbers), len(self.layout.codes)), key)
        table, valid = self._in_memory()
        self._charge(release)
        secret = system_key()
        run = loop.compiled()
        for start in range(0, steps, report_every):
            # int32 step numbers: fold_in is the same in 32- and 64-bit mode.
            numbers = jnp.arange(start, min(steps, start + report_every), dtype=jnp.int32)
            state = run(state, table, valid, secret, key, numbers)
            jax.block_until_ready(state)
            self.report(name, min(1.0, (start + len(numbers)) / steps))
        return state

    def keys(self, column: str, *, epsilon: float, delta: float) -> tuple[str, ...]:
        """The values of a column that are held by many rows.

        Releases:     the set of values whose count plus Laplace noise passes a threshold.
        Sensitivity:  a row holds one value; add-remove changes one count by one, replace-one two.
        Guarantee:    (epsilon, delta), OpenDP's `make_laplace_threshold`, the scale and the
                      threshold being the smallest that its own privacy map accepts.
        Public:       the column's name, epsilon, delta.
        """
        from nacre.vault.doors.keys import stable_keys

        release = Release(
            name=f"values of {column}",
            mechanism="approximate",
            theorem=THRESHOLD,
            adjacency=self.adjacency,
            size=1,
            epsilon=epsilon,
            delta=delta,
        )
        self._affordable(release)
        return stable_keys(
            self._source.batches(), column, release, self.adjacency, lambda: self._charge(release)
        )

    # -- what it cost --------------------------------------------------------------------------

    def guarantee(self) -> Guarantee:
        """What has been promised so far, from all releases, at the vault's delta."""
        if not self.releases:
            raise NacreError("Nothing has been released yet, so there is nothing to guarantee.")
        epsilon = epsilon_of(self.releases, self.delta, self.adjacency)
        return Guarantee(
            epsilon=epsilon, delta=self.delta, adjacency=self.adjacency, releases=self.releases
        )

    def _affordable(self, release: Release) -> None:
        cost = epsilon_of([*self.releases, release], self.delta, self.adjacency)
        new = [r for r in (*self.releases[len(self._prior) :], release) if r.noise]
        one_shot = [r for r in new if r.one_shot]
        within = total_mu(one_shot) <= self.mu * (1 + 1e-9)
        if not (within and cost <= self.epsilon * (1 + 1e-9)):
            raise BudgetExceeded(
                f"'{release.name}' would bring epsilon to {cost:.4g} at delta={self.delta:g}, "
                f"above the {self.epsilon:g} that was asked for. The shares of all releases "
                "must not add up to more than 1."
            )

    def _charge(self, release: Release) -> None:
        # One step for all threads: two that each fit the budget alone must not both pass.
        with self._lock:
            self._affordable(release)
            if self._charge_to is not None:
                self._charge_to(release)
            self.releases = (*self.releases, release)

    def _calibrated(self, rate: float, steps: int, share: float, name: str) -> Release:
        """A subsampled release whose cost is `share` of what is left of the budget.

        A share that completes the budget gets all that is left, found with the releases before it
        composed exactly; a smaller one gets the epsilon of a Gaussian with that share of mu^2.
        """

        def candidate(multiplier: float) -> Release:
            return Release(
                name=name,
                mechanism="subsampled-gaussian",
                theorem=SUBSAMPLED,
                adjacency=self.adjacency,
                size=1,
                sensitivity=1.0,
                noise=multiplier,
                rate=rate,
                steps=steps,
            )

        new = self.releases[len(self._prior) :]
        spent = total_mu([r for r in new if r.one_shot])
        last = share >= 1 - (spent / self.mu) ** 2 - 1e-9
        before = list(self.releases) if last else []
        target = self.epsilon
        if not last:
            target = gaussian_epsilon(self.mu * math.sqrt(share), self.delta)
        multiplier = calibrate(
            lambda m: epsilon_of([*before, candidate(m)], self.delta, self.adjacency),
            target,
            guess=subsampled_guess(self.mu * math.sqrt(share), rate, steps),
        )
        return candidate(multiplier)

    # -- the rows ------------------------------------------------------------------------------

    def _encoded(self, stage: str) -> Iterator[Encoded]:
        self.report(stage, None)
        for batch in self._source.batches():
            if batch.num_rows:
                yield self._differences.subtract(self._differences.schema.encode(batch))

    def _blocks(self, size: int, stage: str) -> Iterator[Block]:
        return blocks(self._encoded(stage), self.layout, size)

    def _in_memory(self) -> tuple[Row, NDArray[np.bool_]]:
        """All encoded rows, for the step-wise door; the number of bytes is the holder's to know."""
        if self._memory is None:
            parts, size = [], 0
            for block in self._blocks(1 << 14, "reading rows"):
                parts.append(block)
                size += block.rows.numbers.nbytes + block.rows.codes.nbytes
                if size > MEMORY_LIMIT:
                    raise NacreError(
                        f"Step-wise training needs all encoded rows in memory: more than "
                        f"{MEMORY_LIMIT >> 30} GiB here. Use a one-release method (MERF, PEARL)."
                    )
            rows = Row(
                *(np.concatenate(part) for part in zip(*(p.rows for p in parts), strict=True))
            )
            self._memory = rows, np.concatenate([p.valid for p in parts])
        return self._memory

    def _exact_sum(
        self, features: Callable[[Row], Any], bound: Bound, label: int | None
    ) -> ExactSum:
        from nacre.vault.doors.sum import ExactSum, row_shape

        shape = row_shape(len(self.layout.numbers), len(self.layout.codes))
        return ExactSum(features, bound, shape, label=label)

    def _label(self, by: str | None) -> tuple[int | None, int]:
        if by is None:
            return None, 1
        for place, code in enumerate(self.layout.codes):
            if code.name == by and code.role == "value":
                return place, code.size
        raise NacreError(f"'{by}' is not a column with a list of values, so it cannot be a label.")

    def _weights(
        self, bound: Bound, weight: Sequence[float] | None, classes: int
    ) -> NDArray[np.int64]:
        """Public weights by class as whole multiples of 2^-8."""
        if weight is None:
            return np.full(classes, FACTOR_ONE, np.int64)
        if bound.by is None or len(weight) != classes or not all(0 < w <= 1 for w in weight):
            raise NacreError(
                f"`weight` must give each of the {classes} labels a number in (0, 1], "
                "and the bound must name the label in `by`."
            )
        return np.array([max(1, math.floor(w * FACTOR_ONE)) for w in weight], np.int64)


COUNT_ONLY = Bound(segments=(), count=1.0)


def _nothing(row: Row) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(0, jnp.int32)


def _scaled(sums: NDArray[np.int64], steps: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """sums * steps, clamped before 64 bits end: a clamp never moves two tables further apart.

    A product that wrapped around would; `grid_places` keeps the steps themselves far below that.
    """
    most = LARGEST // np.asarray(steps, np.int64)
    return np.clip(sums, -most, most) * np.asarray(steps, np.int64)
