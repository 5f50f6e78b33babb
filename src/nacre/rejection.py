"""Draw rows that satisfy everything that is asked: what the model gives, conditioned by rejection.

A row that breaks a rule is dropped and another is drawn.  Of those that break none, some groups are
dropped less often than others (`nacre.rows.weights`), so that a rule between columns does not
shrink the groups that it speaks of.  All of it is post-processing, acceptance rates included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.nets.generator import AbstractGenerator
from nacre.rows import AbstractEncoder

CHUNK = 1 << 16
PATIENCE = 20 * CHUNK  # candidates that are drawn before giving up
PILOT = 4096, 1 << 15  # candidates, at least and at most, from which groups are weighed
RAREST = 1e-3  # the acceptance rate below which it is given up then
SHOWN = 5

Keep = Callable[[pa.Table], Any]


@final
class Rejection:
    """Rows of a generator under a schema's constraints and a caller's conditions.

    Columns with a list of values of which only one is left are fixed inside the generator, which
    conditions on it exactly and without loss; everything else is tried on each candidate.
    Columns that were fitted as `differences` are added up first; a sum out of bounds is dropped.
    """

    def __init__(
        self,
        generator: AbstractGenerator,
        encoder: AbstractEncoder,
        *,
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.encoder = encoder
        self.keep = keep
        self.rules = encoder.rules(where)
        self.generator = self._given(generator, encoder.fixed(self.rules))
        self.drawn = self.kept = self.tried = self.good = self.inside = 0
        self.passed = dict.fromkeys(self.rules, 0)
        self.weights: Any = None
        self.gathering = encoder.gathering(self.rules)

    @staticmethod
    def _given(generator: AbstractGenerator, fixed: dict[Any, int]) -> AbstractGenerator:
        """The generator that keeps to what is fixed, if it can; rejection does it otherwise."""
        return generator if not fixed else generator.given(fixed) or generator

    def none(self) -> pa.Table:
        """A table without rows."""
        rng = np.random.default_rng(0)
        drawn = self.encoder.settle(self.generator.sample(1, rng), rng)
        return self._table(drawn[np.zeros(1, bool)], rng)

    def batches(self, n: int, rng: np.random.Generator) -> Iterator[pa.Table]:
        """n rows in all, as a stream of tables; the last person may lack some."""
        while self.kept < n:
            # Where rows are dropped, as many more are drawn as the past suggests.
            lost = (self.drawn + 1) / (self.kept + 1)
            size = max(1, math.ceil((n - self.kept) * lost))
            if not self.drawn and (self.demanding or self.gathering is not None):
                size = min(max(PILOT[0], 2 * size), PILOT[1])
            elif self.gathering is not None:  # among few rows, persons of many are rarely whole
                size = max(PILOT[0], size)
            rows = self._candidates(min(CHUNK, self.encoder.at_once, size), rng)
            part = self._table(rows, rng).slice(0, n - self.kept)
            self.kept += part.num_rows
            if self.good < self.drawn * RAREST and self.drawn > PATIENCE:
                raise NacreError(self._too_rare())
            yield part

    def counts(self) -> dict[str, Any]:
        """What became of the candidates so far."""
        names = ("drawn", "kept", "tried", "good", "inside")
        passed = {rule.text: many for rule, many in self.passed.items()}
        return {**{name: getattr(self, name) for name in names}, "passed": passed}

    def include_counts(self, counts: Mapping[str, Any]) -> None:
        """Add what became of other candidates under the same rules."""
        for name in ("drawn", "kept", "tried", "good", "inside"):
            setattr(self, name, getattr(self, name) + counts[name])
        for rule in self.passed:
            self.passed[rule] += counts["passed"][rule.text]

    def include(self, other: Rejection) -> None:
        """Add what became of another stream's candidates under the same rules."""
        self.include_counts(other.counts())

    @property
    def demanding(self) -> bool:
        """Whether candidates may be dropped for what their columns are together."""
        return self.encoder.may_drop(self.rules)

    def _table(self, rows: Any, rng: np.random.Generator) -> pa.Table:
        """Settled rows as people hold them, whole persons if a person may have several rows."""
        if self.gathering is None:
            return self.encoder.decode(rows)
        rows, ids = self.gathering(rows, rng)
        return self.gathering.label(self.encoder.decode(rows), ids)

    def _candidates(self, size: int, rng: np.random.Generator) -> Any:
        """What is left of so many candidates."""
        rows = self.encoder.settle(self._draw(size, rng), rng)
        good = rows.valid.copy()
        self.inside += int(np.count_nonzero(good))
        held = self.encoder.holds(rows, self.rules)
        for rule, holds in zip(self.rules, held, strict=True):
            self.passed[rule] += int(np.count_nonzero(holds))
            good &= holds
        if not self.drawn and self.demanding:
            self.weights = self.encoder.weigh(rows, self.rules, held)
        self.drawn += size
        if not good.all():
            rows = rows[good]
        kept = np.ones(len(rows), bool)
        if self.weights is not None:
            kept = rng.random(len(rows)) < self.encoder.chances(rows, self.weights)
        if self.gathering is not None:
            kept &= rng.random(len(rows)) < self.gathering.chances(rows)
        self.tried += len(rows)
        asked = np.ones(len(rows), bool)
        if self.keep is not None:
            said = self.keep(self.encoder.decode(rows))
            asked = np.asarray(pa.array(said, pa.bool_()).fill_null(False))
        self.good += int(np.count_nonzero(asked))
        kept &= asked
        return rows if kept.all() else rows[kept]

    def _draw(self, size: int, rng: np.random.Generator) -> Any:
        try:
            return self.generator.sample(size, rng)
        except ValueError as error:
            if not self.rules:
                raise
            asked = ", ".join(f"`{rule.text}`" for rule in self.rules[-SHOWN:])
            raise NacreError(f"{error} Asked for by constraints or `where`: {asked}.") from None

    def _too_rare(self) -> str:
        """Which rules almost no row satisfies, with their rates."""
        rates = self._rates()
        if self.keep is not None and self.tried:
            rates.append((self.good / self.tried, "`keep`, of the rows that satisfy the rest"))
        lines = [f"  {what}: {_percent(rate)}" for rate, what in sorted(rates)[:SHOWN]]
        more = len(rates) - SHOWN
        return "\n".join(
            [
                f"Only {self.good:,} of {self.drawn:,} candidate rows ({_percent(self.rate)}) "
                "satisfy everything asked for: the model hardly ever makes such rows. Share of "
                "candidates that satisfy",
                *lines,
                *([f"  and {more} more"] if more > 0 else []),
                "Relax the rarest one, ask for fewer rows, or fix values with `where`, which "
                "drops no rows for columns with a list of values.",
            ]
        )

    def _rates(self) -> list[tuple[float, str]]:
        """The share of candidates that satisfy each rule, and that stay within the bounds."""
        drawn = max(self.drawn, 1)
        rates = [(passed / drawn, f"`{rule.text}`") for rule, passed in self.passed.items()]
        differences = [each.column for each in getattr(self.encoder, "differences", ())]
        sums = differences if self.inside == self.drawn else getattr(self.encoder, "sums", ())
        if names := [f"'{name}'" for name in sums]:
            rates.append((self.inside / drawn, f"the bounds of {', '.join(names)}"))
        return rates

    def describe(self) -> str:
        """What share of the candidates was kept, and what most of the others broke."""
        rate, what = min(self._rates(), default=(self.rate, "`keep`"))
        return (
            f"{_percent(self.rate)} of the candidate rows were kept; the others do not satisfy "
            f"everything asked for. The rarest is {what}, with {_percent(rate)}."
            f"{self._moved()}"
        )

    @property
    def moved(self) -> Sequence[Any]:
        """The groups that dropping alone would have moved, the farthest first."""
        return () if self.weights is None else self.weights.moves

    def _moved(self) -> str:
        """Groups that are smaller or larger now, by how much; the others only by name."""
        moves = [move for move in self.moved if not move.restored]
        lines = [
            f"  {move.group}: {_percent(move.wanted)} of the candidates, {_percent(move.dropped)} "
            f"of those that break nothing, {_percent(move.kept)} of what was drawn"
            for move in moves[:SHOWN]
        ]
        more = f"\n  and {len(moves) - SHOWN} more" if len(moves) > SHOWN else ""
        head = "\nGroups that constraints move:\n" if moves else ""
        return head + "\n".join(lines) + more + self._restored() + self._lost() + self._beyond()

    def _restored(self) -> str:
        """The groups that keep their shares, though other parts of their rows are dropped."""
        names = [f"{m.group} ({_percent(m.wanted)})" for m in self.moved if m.restored]
        if not names:
            return ""
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return (
            "\nThese break constraints more or less often than others, and keep their shares: "
            f"{', '.join(names[:SHOWN])}{more}."
        )

    def _beyond(self) -> str:
        """What lies beyond the bounds of columns that are added up, which is no group of rows."""
        said = ""
        for each in () if self.weights is None else self.weights.beyond:
            where, do = ("above", "Raise") if each.end == "high" else ("below", "Lower")
            said += (
                f"\nIn {_percent(each.share)} of the candidates '{each.column}', a sum of another "
                f"column and the distance from it, lay {where} its bound {each.bound}. These are "
                f"no group of rows: they are drawn again. {do} `{each.end}`, and fit again, if "
                "rows may lie there; if none can, it is as it should be."
            )
        return said

    def _lost(self) -> str:
        """The groups of which nothing is left, as no candidate row of theirs keeps the rules."""
        lost = [move.group for move in self.moved if move.wanted and not move.kept]
        if not lost:
            return ""
        return (
            f"\nNothing is left of {', '.join(lost[:SHOWN])}: no such candidate satisfies all "
            "constraints. If such rows should be there, noise hides what a constraint demands of "
            "them: leave it out, or fit with a larger ε."
        )

    @property
    def rate(self) -> float:
        """The share of candidates that satisfy everything asked for."""
        return self.good / max(self.drawn, 1)


def _percent(rate: float) -> str:
    return f"{rate:.0%}" if rate >= 0.1 else f"{100 * rate:.2g}%"
