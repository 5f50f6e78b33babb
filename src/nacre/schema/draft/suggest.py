"""Which facts the rows seem to keep: found in a sample, then held against every row.

Whether they are public, only a person can know: a draft lists them as comments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from nacre.schema.check import examine
from nacre.schema.columns.column import Column
from nacre.schema.columns.listed import as_integer, type_text
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.constraints.constraint import understand
from nacre.schema.constraints.statement import NotUnderstood
from nacre.schema.draft.constants import Constant, constants, merged
from nacre.schema.draft.gaps import Nested, common_gaps, nested_gaps, told_gaps
from nacre.schema.draft.guess import ENOUGH
from nacre.schema.draft.limits import EVERY, Limits
from nacre.schema.draft.orders import Pair, orders, statement
from nacre.schema.draft.products import products
from nacre.schema.draft.ranges import Range, ranges, strongest
from nacre.schema.draft.sample import Sample
from nacre.schema.draft.seen import Numbers, Seen
from nacre.schema.draft.stays import stays
from nacre.schema.draft.suggested import Suggested
from nacre.schema.draft.sums import sums
from nacre.schema.draft.tables import completed, determined
from nacre.schema.facts.binding import in_order
from nacre.schema.facts.bound import Absence, Belonging, BoundFact
from nacre.schema.facts.narrowing import surely_ordered
from nacre.schema.facts.statement import Fact, Formula
from nacre.schema.facts.understand import settled, understand_facts
from nacre.schema.schema import Schema
from nacre.schema.table import Batches

Told = TypeVar("Told", Constant, Range, Constant | Range)


def suggestions(
    schema: Schema, sample: Sample, again: Callable[[], Batches] | None, limits: Limits
) -> Suggested:
    """What the sampled rows keep and, where they can be read again, every other row too."""
    rows = sample.rows
    if rows is None or rows.num_rows < ENOUGH:
        return Suggested()
    columns, label = schema.columns, schema.label
    seen = {name: Seen.of(column, sample.column(name)) for name, column in columns.items()}
    pass_over = again if again is not None else lambda: rows
    tables = completed(columns, list(determined(columns, seen, label)), pass_over())
    facts = [*formulas(columns, seen), *tables, *common_gaps(seen), *told_gaps(columns, seen)]
    facts = compatible(facts, columns, label)
    ordered, more_orders = _few_orders(columns, seen, limits.orders)
    nested = unsaid_gaps(nested_gaps(seen, EVERY.gaps), facts, columns, label)
    fixed, more_constants = constants(columns, seen, limits)
    narrow = ranges(columns, seen, persons=schema.unit is not None)
    narrow, more_ranges = strongest(_unsaid(narrow, facts, columns, label), limits)
    left = {
        "orders of numbers": more_orders,
        "gaps within gaps": len(nested[limits.gaps :]),
        "values that are always the same": more_constants,
        "bounds by group": more_ranges,
    }
    nested = nested[: limits.gaps]
    said = [statement(*each) for each in ordered]
    said += [gap.said for gap in nested] + [each.said for each in narrow]
    parts = [each.single for each in fixed]
    said += [part.said for single in parts for part in single]
    broken = _broken(schema, facts, said, pass_over)
    facts = [fact for fact in facts if not broken.get(str(fact))]
    kept = [each for each in ordered if not broken.get(statement(*each))]
    unbroken = ([part for part in single if not broken.get(part.said)] for single in parts)
    told: list[Constant | Range] = [merged(columns, single) for single in unbroken if single]
    told += narrow
    some = again is None and sample.stride > 1
    return Suggested(
        tuple(fact.plain() for fact in facts),
        (
            *(statement(*each) for each in telling(kept, facts, columns, label)),
            *(
                each.said
                for each in (
                    *unsaid_gaps(nested, facts, columns, label),
                    *_unsaid(told, facts, columns, label),
                )
                if not broken.get(each.said)
            ),
        ),
        rows=rows.num_rows if some else sample.seen,
        some=some,
        remarks={str(fact): said for fact, said in tables.items() if said},
        left={kind: more for kind, more in left.items() if more},
        perhaps=_if_integers(schema, sample, pass_over),
    )


def _if_integers(
    schema: Schema, sample: Sample, rows: Callable[[], Batches]
) -> dict[str, tuple[str, ...]]:
    """Orders of lists of whole numbers, by what these columns would have to be.

    Not where persons are counted: of a bound it is not known how many hold it.
    """
    if schema.unit is not None:
        return {}
    lists = {n: as_integer(c) for n, c in schema.columns.items() if n != schema.label}
    whole = {n: column for n, column in lists.items() if column is not None and column.ticks > 1}
    numbers = {n: c for n, c in schema.columns.items() if isinstance(c, Integer | Real)}
    columns: dict[str, Column] = {**numbers, **whole}
    if not whole or len(columns) < 2:
        return {}
    seen = {name: Seen.of(column, sample.column(name)) for name, column in columns.items()}
    every = telling(orders(columns, seen, EVERY.orders), (), columns, None)
    pairs = [each for each in every if {*each[0]} & whole.keys()][: Limits.orders]
    said = {statement(*each): each[0] for each in pairs}
    broken = _broken(Schema(columns), (), [*said], rows)
    found: dict[str, tuple[str, ...]] = {}
    for text, pair in said.items():
        if not broken.get(text):
            types = (f"{name}: {type_text(whole[name])}" for name in pair if name in whole)
            key = ", ".join(types)
            found[key] = (*found.get(key, ()), text)
    return found


def _few_orders(
    columns: Mapping[str, Column], seen: Mapping[str, Seen], most: int
) -> tuple[list[tuple[Pair, str]], int]:
    """All orders of dates, the boldest of numbers, and how many pairs of these are left out."""
    every = orders(columns, seen, EVERY.orders)
    sure = {pair for pair, _ in every if surely_ordered(columns, (), *pair)}
    pairs = dict.fromkeys(pair for pair, _ in every if pair not in sure)
    numbers = [pair for pair in pairs if isinstance(columns[pair[0]], Integer | Real)]
    left = set(numbers[most:])
    return [each for each in every if each[0] not in left], len(left)


def formulas(columns: Mapping[str, Column], seen: Mapping[str, Seen]) -> list[Formula]:
    """Dates and times between them, sums, products and multiples."""
    numbers = Numbers.of(columns, seen)
    return [*stays(numbers), *sums(numbers), *products(numbers)]


def compatible(
    facts: Sequence[Fact], columns: Mapping[str, Column], label: str | None
) -> list[Fact]:
    """The facts that may stand together: each column follows from one, and none in a circle."""
    found: list[Fact] = []
    bound: list[BoundFact] = []
    taken: set[tuple[str, bool]] = set()
    for fact in facts:
        _, its, problems = understand_facts([fact], columns, label, known=True)
        own = {part for each in its for part in settled(each)}
        if problems or own & taken:
            continue
        try:
            in_order([*bound, *its])
        except NotUnderstood:
            continue
        found.append(fact)
        bound += its
        taken |= own
    return found


def telling(
    ordered: Sequence[tuple[Pair, str]],
    facts: Sequence[Fact],
    columns: Mapping[str, Column],
    label: str | None,
) -> list[tuple[Pair, str]]:
    """The orders, each with its stronger sign, that do not follow from bounds and sums anyway."""
    _, bound, _ = understand_facts(facts, columns, label, known=True)
    found: dict[Pair, str] = {}
    for pair, sign in ordered:
        if pair not in found and not surely_ordered(columns, bound, *pair):
            found[pair] = sign
    return list(found.items())


def unsaid_gaps(
    nested: Sequence[Nested],
    facts: Sequence[Fact],
    columns: Mapping[str, Column],
    label: str | None,
) -> list[Nested]:
    """Gaps within gaps, but for those that facts say anyway.

    A column is missing where one is that it is computed from; and of two gaps that are told by the
    values of the same column, these say which lies within the other.
    """
    _, bound, _ = understand_facts(facts, columns, label, known=True)
    bound = tuple(each for each in bound if not isinstance(each, Belonging))
    told = {each.column: each.sources for each in bound if isinstance(each, Absence)}
    return [
        each
        for each in nested
        if each.by not in _origins(each.name, bound)
        and not told.get(each.name, frozenset()) & told.get(each.by, frozenset())
    ]


def _unsaid(
    told: Sequence[Told],
    facts: Sequence[Fact],
    columns: Mapping[str, Column],
    label: str | None,
) -> list[Told]:
    """Constants and ranges, but for those that a fact says anyway.

    That of a number which a fact computes, that of two lists of which the one determines the other
    (where a group has one code only, the look-up table says which), and the range of a band.  Where
    values of a list are missing says nothing of those that are there.
    """
    _, bound, _ = understand_facts(facts, columns, label, known=True)
    bound = tuple(each for each in bound if not isinstance(each, Absence))
    computed = {each.column for each in bound}
    pairs = {frozenset((each.column, source)) for each in bound for source in each.sources}
    numbers = {name for name, column in columns.items() if column.ticks is not None}
    return [
        each
        for each in told
        if not (each.name in numbers and each.name in computed)
        and (
            each.name not in _origins(each.by, bound)
            if isinstance(each, Range)
            else each.name in numbers or frozenset((each.name, each.by)) not in pairs
        )
    ]


def _origins(name: str, bound: Sequence[BoundFact]) -> set[str]:
    """The columns that a column is computed from, and those that these are."""
    sources = {each.column: set(each.sources) for each in bound}
    found, waiting = set[str](), {name}
    while waiting:
        waiting = {source for each in waiting for source in sources.get(each, ())} - found
        found |= waiting
    return found


def _broken(
    schema: Schema, facts: Sequence[Fact], said: Sequence[str], rows: Callable[[], Batches]
) -> dict[str, int]:
    """How many rows break each of them."""
    _, bound, _ = understand_facts(facts, schema.columns, schema.label, known=True)
    constraints, _ = understand(said, schema.columns, known=True)
    rules = [each.bind(schema.columns) for each in constraints]
    names = {name for fact in bound for name in (fact.column, *fact.sources)}
    names |= {name for rule in rules for name in rule.names}
    if not names:
        return {}
    columns: dict[str, Any] = {name: schema.columns[name] for name in names}
    found = examine(columns, rows(), rules, bound)
    return {**found.facts, **found.constraints}
