"""Two columns of which one is never before the other: stays, waits, lags are what lies between."""

import numpy as np

from nacre.evaluate.tables.rows import Rows
from nacre.evaluate.tables.shift import Difference
from nacre.evaluate.tables.shifts import ordered_pairs
from nacre.schema import Schema
from nacre.schema.columns.timed import Timed
from nacre.schema.draft.orders import orders
from nacre.schema.draft.seen import Seen
from nacre.schema.facts.bound import Linear

MOST = 8  # differences that are looked at


def differences(real: Rows) -> list[Difference]:
    """Between columns that a constraint orders, then between dates that all real rows order.

    Not where a fact computes one from the other and a column that is what lies between: that is
    judged like any number.
    """
    pairs = dict.fromkeys((*ordered_pairs(real.schema), *_ordered_dates(real)))
    told = [pair for pair in pairs if not _is_a_column(real.schema, pair)]
    return [Difference(later, earlier) for earlier, later in told[:MOST]]


def values(rows: Rows, difference: Difference) -> np.ndarray:
    """What lies between the two in each row, NaN where one is missing."""
    return np.asarray(rows.values(difference.later) - rows.values(difference.earlier))


def _ordered_dates(real: Rows) -> list[tuple[str, str]]:
    """As a draft would suggest them; what follows from two others is left out."""
    dates = {n: column for n, column in real.schema.columns.items() if isinstance(column, Timed)}
    seen = {
        name: Seen.at(column, real.tick(name), np.isnan(real.values(name)))
        for name, column in dates.items()
    }
    return [pair for pair, _ in orders(dates, seen)]


def _is_a_column(schema: Schema, pair: tuple[str, str]) -> bool:
    facts = (fact for fact in schema.bound_facts if isinstance(fact, Linear))
    return any({*pair} <= {fact.column, *fact.sources} for fact in facts)
