"""What holds in every real row, or nearly every one, and how often it holds in synthetic rows.

Formulas, gaps and orders are looked for as a draft does, where all real rows keep them; sums,
products, look-ups and common gaps also where 99% do.  The search is bounded: few columns, some rows
to find a candidate, and more to count it.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from nacre.evaluate.tables.identity import Identity
from nacre.evaluate.tables.look_ups import look_ups
from nacre.evaluate.tables.nearly import nearly_formulas
from nacre.evaluate.tables.rows import Rows
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.constraint import Constraint
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.gaps import Nested, nested_gaps, told_gaps
from nacre.schema.draft.orders import Pair, orders, statement
from nacre.schema.draft.seen import Seen
from nacre.schema.draft.suggest import compatible, formulas, telling, unsaid_gaps
from nacre.schema.facts.bound import Absence, BoundFact
from nacre.schema.facts.statement import Fact, Together
from nacre.schema.facts.understand import understand_facts

SOME, ALL = 500, 50_000  # rows in which candidates are found, and in which they are counted
MOST_GAPS = 80  # columns that are missing in some rows
NEARLY = 0.99  # of the real rows
ENOUGH = 20  # rows that tell something: gaps


def find_identities(real: Rows, synthetic: Rows, rng: np.random.Generator) -> tuple[Identity, ...]:
    """Formulas, then look-ups, gaps, gaps within gaps and orders."""
    if len(real) < 5 * ENOUGH or len(synthetic) < ENOUGH:
        return ()
    real, synthetic = real.sample(ALL, rng), synthetic.sample(ALL, rng)
    columns, some = real.schema.columns, real.sample(SOME, rng)
    seen = {name: Seen.at(columns[name], *_places(real, name)) for name in real.names}
    # What all rows keep comes first: of facts that cannot stand together the first one is kept.
    exact = _holding([*formulas(columns, seen), *told_gaps(columns, seen)], real, 1.0)
    facts = compatible([*exact, *_holding(nearly_formulas(some), real, NEARLY)], columns, None)
    found = [_counted(fact, real, synthetic) for fact in facts]
    ordered = telling(orders(columns, seen), facts, columns, None)
    nested = unsaid_gaps(nested_gaps(seen), facts, columns, None)
    return (
        *(each for each in found if " is missing " not in each.fact),
        *look_ups(real, synthetic, some),
        *_common_gaps(real, synthetic),
        *(each for each in found if " is missing " in each.fact),
        *(_gap_within(each, synthetic) for each in nested),
        *(_order(pair, sign, synthetic) for pair, sign in ordered),
    )


def _places(rows: Rows, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The ticks or codes of a column, and where it is missing."""
    gone = _missing(rows, name)
    gone = np.zeros(len(rows), bool) if gone is None else gone
    return (rows.tick(name) if rows.is_number(name) else rows.bin(name).codes), gone


def _missing(rows: Rows, name: str) -> np.ndarray | None:
    if rows.is_number(name):
        return rows.missing(name)
    found = rows.bin(name)
    return found.codes == found.size - 1 if rows.schema.columns[name].nullable else None


def _view(rows: Rows) -> ColumnValues:
    """The rows as facts and constraints see them."""
    columns = rows.schema.columns
    return ColumnValues(columns, len(rows), lambda name: _places(rows, name))


# ----- facts and orders


def _bound(fact: Fact, rows: Rows) -> BoundFact | None:
    _, bound, problems = understand_facts([fact], rows.schema.columns, None, known=True)
    return None if problems else bound[0]


def _holding(facts: Iterable[Fact], rows: Rows, share: float) -> Iterator[Fact]:
    """The facts that so many of the rows keep."""
    for fact in facts:
        bound = _bound(fact, rows)
        if bound is not None and _shares(bound, _view(rows))[0] >= share:
            yield fact


def _counted(fact: Fact, real: Rows, synthetic: Rows) -> Identity:
    bound = _bound(fact, real)
    if bound is None:
        raise ValueError(f"`{fact}` does not fit the schema.")
    (kept, _), (here, breaks) = (_shares(bound, _view(rows)) for rows in (real, synthetic))
    return Identity(str(fact), (bound.column, *sorted(bound.sources)), kept, here, breaks)


def _shares(fact: BoundFact, view: ColumnValues) -> tuple[float, np.ndarray]:
    """Of the rows that a fact speaks of the share that keeps it, and which rows break it.

    It says little of a row in which what it tells is missing, as it should be: these do not count.
    """
    holds, gone = fact.holds(view), view[fact.column][1]
    spoken = ~holds | (gone if isinstance(fact, Absence) else ~gone)
    return (float(holds[spoken].mean()) if spoken.any() else 0.0), ~holds


def _order(pair: Pair, sign: str, synthetic: Rows) -> Identity:
    """An order that all real rows keep."""
    rule = Constraint.of(statement(pair, sign), synthetic.schema.columns)
    view = _view(synthetic)
    breaks = ~rule.bind(synthetic.schema.columns).holds(view)
    both = len(breaks) - int((view[pair[0]][1] | view[pair[1]][1]).sum())
    here = 1 - float(breaks.sum() / max(both, 1))
    return Identity(statement(pair, sign), pair, 1.0, here, breaks, order=True)


# ----- gaps in common, and within others


def _gap_within(gap: Nested, synthetic: Rows) -> Identity:
    """That a column is missing wherever another one is, in all real rows."""
    rule = Constraint.of(gap.said, synthetic.schema.columns)
    breaks = ~rule.bind(synthetic.schema.columns).holds(_view(synthetic))
    spoken = _places(synthetic, gap.by)[1].sum()
    here = 1 - float(breaks.sum() / max(spoken, 1))
    return Identity(gap.said, (gap.name, gap.by), 1.0, here, breaks, order=True)


def _common_gaps(real: Rows, synthetic: Rows) -> Iterator[Identity]:
    gaps = {name: gap for name in real.names if (gap := _missing(real, name)) is not None}
    gaps = {n: g for n, g in gaps.items() if ENOUGH <= g.sum() <= len(g) - ENOUGH}
    groups: list[list[str]] = []
    for name in list(gaps)[:MOST_GAPS]:
        for group in groups:
            if _together(gaps[group[0]], gaps[name]) >= NEARLY:
                group.append(name)
                break
        else:
            groups.append([name])
    for group in groups:
        if len(group) > 1:
            fact = str(Together(tuple(map(Word.of_column, group))))
            here = [gap for name in group if (gap := _missing(synthetic, name)) is not None]
            yield Identity(
                fact,
                tuple(group),
                _together(*(gaps[name] for name in group)),
                _together(*here),
                np.any(here, axis=0) & ~np.all(here, axis=0),
            )


def _together(*gaps: np.ndarray) -> float:
    """Of the rows in which one is missing, those in which all are; 1 if there are none."""
    some, every = np.any(gaps, axis=0), np.all(gaps, axis=0)
    return float(every.sum() / some.sum()) if some.any() else 1.0
