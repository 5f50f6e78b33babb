"""What rules leave of each column, as far as can be seen without rows; contradictions are told.

Only sound steps are taken: a value is ruled out only if no row with it satisfies every rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, final

from nacre.errors import NacreError
from nacre.schema.columns.column import Column
from nacre.schema.columns.scale import Scale
from nacre.schema.columns.span import Spans, Value, meet, outside
from nacre.schema.constraints.condition import Among, Condition, Order
from nacre.schema.constraints.constraint import Rule
from nacre.schema.constraints.statement import MIRRORED, OPPOSITE

PASSES = 50  # over all rules; to stop early leaves more values than need be, which is sound
Duty: TypeAlias = Literal["true", "not false", "not true"]


class Contradiction(NacreError):
    """No row can satisfy these rules."""


@final
@dataclasses.dataclass(frozen=True)
class Domain:
    """The values that are left, whether a value may be missing, and the rules that did it."""

    spans: Spans
    gap: bool
    because: tuple[str, ...] = ()

    def surely(self, condition: Among, scale: Scale) -> bool:
        """Whether the condition is true of everything that is left."""
        rest = meet(self.spans, _complement(condition.spans, scale))
        return not rest and (condition.gap is True or not self.gap)

    @property
    def only(self) -> int | None:
        """The one place in a list of values that is left, -1 for 'missing'; None for several."""
        places = sum(int(last - first) + 1 for first, last in self.spans)
        if places + self.gap != 1:
            return None
        return int(self.spans[0][0]) if places else -1


def narrow(
    columns: Mapping[str, Column],
    rules: Sequence[Rule],
    more: Callable[[Known], None] | None = None,
) -> dict[str, Domain]:
    """What is left of the columns that rules speak of; raises Contradiction.

    `more` narrows further by what else is known, such as facts, in every pass.
    """
    _refuse_circles(columns, rules)
    known = Known(columns)
    for turn in range(min(len(rules) + 1 if more is None else PASSES, PASSES)):
        before = dict(known)
        # There and back: a chain is settled in two passes, whichever way it was written.
        for rule in rules if turn % 2 == 0 else reversed(rules):
            for condition, duty in _duties(rule, known):
                known.apply(condition, duty, (rule.text, *known.reasons(rule)))
        if more is not None:
            more(known)
        if known == before:
            break
    return dict(known)


class Known(dict[str, Domain]):
    """Domains by column, whole until a rule narrows them."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        super().__init__()
        self.scales = {name: Scale(column) for name, column in columns.items()}

    def __missing__(self, name: str) -> Domain:
        scale = self.scales[name]
        self[name] = Domain(((scale.low, scale.high),), scale.column.nullable)
        return self[name]

    def surely(self, condition: Condition) -> bool:
        """Whether a condition is true of every row that is left, as far as is known."""
        return isinstance(condition, Among) and self[condition.name].surely(
            condition, self.scales[condition.name]
        )

    def reasons(self, rule: Rule) -> list[str]:
        """The rules because of which this one applies."""
        when = rule.demands if rule.kind == "forbid" else rule.premise
        return [text for c in when if self.surely(c) for n in c.names for text in self[n].because]

    def apply(self, condition: Condition, duty: Duty, texts: Sequence[str]) -> None:
        """Rule out what does not do its duty."""
        if isinstance(condition, Order):
            self._order(condition, duty, texts)
            return
        spans = condition.spans
        if duty == "not true":
            spans = _complement(spans, self.scales[condition.name])
        gap = {
            "true": condition.gap is True,
            "not false": condition.gap is not False,
            "not true": condition.gap is not True,
        }[duty]
        self.keep(condition.name, spans, gap, texts)

    def _order(self, order: Order, duty: Duty, texts: Sequence[str]) -> None:
        sign = OPPOSITE[order.sign] if duty == "not true" else order.sign
        if sign == "!=" or order.places is not None:
            return
        for name, other, is_sign in (
            (order.left, order.right, sign),
            (order.right, order.left, MIRRORED[sign]),
        ):
            theirs = self[other]
            if theirs.gap or not theirs.spans:  # beside a missing value, anything goes
                continue
            low, high = self._reach(name, is_sign, theirs.spans)
            spans = ((low, high),) if low <= high else ()
            self.keep(name, spans, True, (*texts, *theirs.because))

    def _reach(self, name: str, sign: str, theirs: Spans) -> tuple[Value, Value]:
        """The span of what stands in this order to at least one of their values."""
        scale = self.scales[name]
        low = theirs[0][0] if sign in (">", ">=", "=") else min(scale.low, theirs[0][0])
        high = theirs[-1][1] if sign in ("<", "<=", "=") else max(scale.high, theirs[-1][1])
        return low, high

    def keep(self, name: str, spans: Spans, gap: bool, texts: Sequence[str]) -> None:
        """Rule out what is not in the spans, and a gap unless there may be one."""
        domain = self[name]
        left, gap = meet(domain.spans, spans), gap and domain.gap
        if (left, gap) == (domain.spans, domain.gap):
            return
        because = tuple(dict.fromkeys((*domain.because, *texts)))
        if not left and not gap:
            raise Contradiction(f"'{name}': no value is left by {listing(because)}.")
        self[name] = Domain(left, gap, because)


def _duties(rule: Rule, known: Known) -> list[tuple[Condition, Duty]]:
    """What must be so in every row, given what is left."""
    if rule.kind == "fixed":
        return [(condition, "true") for condition in rule.demands]
    when = rule.demands if rule.kind == "forbid" else rule.premise
    open_ones = [condition for condition in when if not known.surely(condition)]
    if rule.kind == "rule" and not open_ones:
        return [(condition, "not false") for condition in rule.demands]
    if rule.kind == "forbid" and len(open_ones) <= 1:
        return [(condition, "not true") for condition in open_ones or rule.demands[:1]]
    return []


def _refuse_circles(columns: Mapping[str, Column], rules: Sequence[Rule]) -> None:
    """Refuse a < b with b <= a, also by way of other columns; step by step this takes too long."""
    edges: dict[str, list[tuple[str, str]]] = {}
    strict = []
    for rule in rules:
        if rule.kind != "rule" or rule.premise:
            continue
        for order in rule.demands:
            if not isinstance(order, Order) or any(columns[n].nullable for n in order.names):
                continue
            for low, high, sign in (
                (order.left, order.right, order.sign),
                (order.right, order.left, MIRRORED[order.sign]),
            ):
                if sign in ("<", "<=", "="):
                    edges.setdefault(low, []).append((high, rule.text))
                if sign == "<":
                    strict.append((low, high, rule.text))
    for low, high, text in strict:
        if (back := _path(edges, high, low)) is not None:
            texts = tuple(dict.fromkeys((text, *back)))
            raise Contradiction(f"'{low}': no value is left by {listing(texts)}.")


def _path(edges: Mapping[str, list[tuple[str, str]]], start: str, end: str) -> list[str] | None:
    """The rules that lead from one column to another, if any do."""
    ways: dict[str, list[str]] = {start: []}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name == end:
            return ways[name]
        for other, text in edges.get(name, ()):
            if other not in ways:
                ways[other] = [*ways[name], text]
                waiting.append(other)
    return None


def _complement(spans: Spans, scale: Scale) -> Spans:
    return outside(spans, scale.low, scale.high, scale.before, scale.after)


def listing(texts: Iterable[str]) -> str:
    """Rules as a message names them."""
    return ", ".join(f"`{text}`" for text in texts)
