"""Draw rows that satisfy everything that is asked: what the model gives, conditioned by rejection.

A row that breaks a rule is dropped and another is drawn, so what is kept follows the model's own
distribution given the rules. All of it is post-processing, acceptance rates included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.nets.generator import AbstractGenerator
from nacre.rows.differences import Difference, Differences
from nacre.schema import Encoded, Schema
from nacre.schema.condition import View
from nacre.schema.constraint import Rule
from nacre.schema.domain import Contradiction, narrow
from nacre.schema.given import given

CHUNK = 1 << 16
PATIENCE = 20 * CHUNK  # candidates that are drawn before giving up
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
        schema: Schema,
        decode: Callable[[Encoded], pa.Table],
        *,
        differences: Sequence[Difference] = (),
        where: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> None:
        self.generator = generator
        self.schema = schema
        self.differences = Differences(schema, differences)
        self.decode = decode
        self.keep = keep
        asked = given(where or {}, schema.columns)
        self.rules = tuple(dict.fromkeys((*schema.rules, *asked)))
        self.fixed = _fixed(schema, self.rules)
        self.drawn = self.kept = self.tried = self.good = self.inside = 0
        self.passed = dict.fromkeys(self.rules, 0)

    def batches(self, n: int, rng: np.random.Generator) -> Iterator[pa.Table]:
        """n rows in all, as a stream of tables."""
        while self.kept < n:
            # Where rows are dropped, as many more are drawn as the past suggests.
            lost = (self.drawn + 1) / (self.kept + 1)
            size = min(CHUNK, max(1, math.ceil((n - self.kept) * lost)))
            part = self._candidates(size, rng)
            self.drawn += size
            self.good += part.num_rows
            part = part.slice(0, n - self.kept)
            self.kept += part.num_rows
            if self.kept < self.drawn * RAREST and self.drawn > PATIENCE:
                raise NacreError(self._too_rare())
            yield part

    def _candidates(self, size: int, rng: np.random.Generator) -> pa.Table:
        """What is left of so many candidates."""
        rows = self.differences.add(self._draw(size, rng))
        if self.rules or self.differences.stated:
            view = View.of(self.schema.columns, rows)
            good = rows.valid.copy()
            self.inside += int(np.count_nonzero(good))
            for rule in self.rules:
                holds = rule.holds(view)
                self.passed[rule] += int(np.count_nonzero(holds))
                good &= holds
            rows = rows[good]
        self.tried += len(rows)
        table = self.decode(rows)
        if self.keep is None or not len(rows):
            return table
        return table.filter(pa.array(self.keep(table), pa.bool_()))

    def _draw(self, size: int, rng: np.random.Generator) -> Encoded:
        try:
            layout = self.differences.modeled.layout
            return self.generator.sample(size, layout, rng, self.fixed)
        except ValueError as error:
            if not self.fixed:
                raise
            names = ", ".join(f"'{self.schema.layout.codes[place].name}'" for place in self.fixed)
            raise NacreError(f"{error} Asked for by constraints or `where`: {names}.") from None

    def _too_rare(self) -> str:
        """Which rules almost no row satisfies, with their rates."""
        rates = self._rates()
        if self.keep is not None and self.tried:
            rates.append((self.kept / self.tried, "`keep`, of the rows that satisfy the rest"))
        lines = [f"  {what}: {_percent(rate)}" for rate, what in sorted(rates)[:SHOWN]]
        more = len(rates) - SHOWN
        return "\n".join(
            [
                f"Only {self.kept:,} of {self.drawn:,} candidate rows ({_percent(self.rate)}) "
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
        if names := [f"'{each.column}'" for each in self.differences.stated]:
            rates.append((self.inside / drawn, f"the bounds of {', '.join(names)}"))
        return rates

    def describe(self) -> str:
        """What share of the candidates was kept, and what most of the others broke."""
        rate, what = min(self._rates(), default=(self.rate, "`keep`"))
        return (
            f"{_percent(self.rate)} of the candidate rows were kept; the others do not satisfy "
            f"everything asked for. The rarest is {what}, with {_percent(rate)}."
        )

    @property
    def rate(self) -> float:
        """The share of candidates that satisfy everything asked for."""
        return self.good / max(self.drawn, 1)


def _fixed(schema: Schema, rules: tuple[Rule, ...]) -> dict[int, int]:
    """Codes of which one is left, by place among the layout's codes."""
    try:
        domains = narrow(schema.columns, rules)
    except Contradiction as error:
        raise NacreError(f"No row can be drawn. {error}") from None
    found = {}
    for name, domain in domains.items():
        size = schema.columns[name].size
        if size is not None and domain.only is not None:
            found[schema.layout.code(name)] = domain.only if domain.only >= 0 else size - 1
    return found


def _percent(rate: float) -> str:
    return f"{rate:.0%}" if rate >= 0.1 else f"{100 * rate:.2g}%"
