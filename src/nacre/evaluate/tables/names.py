"""What codes and scaled numbers are called on axes."""

from nacre.evaluate.tables.rows import Rows
from nacre.schema.written import MISSING, value_at, value_names


def bin_names(rows: Rows, name: str, size: int) -> list[str]:
    """The names of a column's codes as `Rows.bin` makes them; a number's bins by their start."""
    if not rows.is_number(name):
        return value_names(rows.schema, name)
    bins = size - (rows.missing(name) is not None)
    column = rows.schema.columns[name]
    top = column.ticks or 0
    # The first tick of each bin; where every tick has a code of its own, that tick.
    first = range(bins) if top < bins else [-(-k * top // bins) for k in range(bins)]
    names = [value_at(column, tick / max(top, 1)) for tick in first]
    return names + [MISSING] * (size - bins)
