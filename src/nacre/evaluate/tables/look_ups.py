"""Columns that another one determines in nearly every real row, and how often they do here.

Also where that one may be missing, and then tells nothing.
"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.tables.identity import Identity
from nacre.evaluate.tables.rows import Coded, Rows
from nacre.schema.columns.numeric import Integer
from nacre.schema.constraints.statement import Word
from nacre.schema.facts.statement import Determined

MOST_LISTS = 40  # columns
MOST_VALUES = 1_000  # of a list, or of whole numbers
NEARLY = 0.99  # of the real rows
ENOUGH = 20  # rows to a key


def look_ups(real: Rows, synthetic: Rows, some: Rows) -> Iterator[Identity]:
    """Each column that one determines, by the one with the fewest values; lists before numbers."""
    lists = [name for name in real.names if not real.is_number(name)]
    lists = [name for name in lists if 1 < real.bin(name).size <= MOST_VALUES][:MOST_LISTS]
    short = [name for name in real.names if real.is_number(name) and _short(real, name)]
    order = {name: place for place, name in enumerate(real.names)}
    codes = {name: _codes(some, name) for name in (*lists, *short[:MOST_LISTS])}
    every = {name: _codes(real, name) for name in codes}
    held = {name: len(np.unique(each.codes)) for name, each in every.items()}
    for name in codes:
        found: list[tuple[bool, bool, int, str, float]] = []
        for by in codes:
            # Of two that determine each other the later one follows.
            tells = (held[by], order[name]) > (held[name], order[by])
            if by == name or not tells:
                continue
            for gaps in (False, True) if _may_be_missing(real, by) else (False,):
                if _right(*_known(codes[by], codes[name], gaps)) < NEARLY:
                    continue
                if share := _determines(*_known(every[by], every[name], gaps)):
                    found.append((gaps, real.is_number(by), held[by], by, share))
                    break
        if found:
            gaps, *_, by, share = min(found)
            table = _commonest(*_known(every[by], every[name], gaps))
            meant = table[_codes(synthetic, by).codes]
            breaks = (meant >= 0) & (meant != _codes(synthetic, name).codes)
            words = (Word.of_column(name), Word.of_column(by))
            fact = str(Determined(*words, (), known=gaps))
            here = 1 - float(breaks.sum() / max((meant >= 0).sum(), 1))
            yield Identity(fact, (name, by), share, here, breaks)


def _may_be_missing(rows: Rows, name: str) -> bool:
    """Whether it is a list with gaps, of which a look-up table may say nothing."""
    column = rows.schema.columns[name]
    return column.size is not None and column.nullable


def _known(keys: Coded, values: Coded, gaps: bool) -> tuple[Coded, Coded]:
    """Of a key with `gaps`, the last code, the rows that have one."""
    there = keys.codes < keys.size - 1 if gaps else slice(None)
    return Coded(keys.codes[there], keys.size), Coded(values.codes[there], values.size)


def _short(rows: Rows, name: str) -> bool:
    column = rows.schema.columns[name]
    return isinstance(column, Integer) and column.ticks <= MOST_VALUES


def _codes(rows: Rows, name: str) -> Coded:
    """A list's codes, or the ticks of a short range of whole numbers; one more where missing."""
    ticks = rows.schema.columns[name].ticks
    found = rows.bin(name) if ticks is None else rows.bin(name, ticks + 1)
    return Coded(found.codes.astype(np.int64), found.size)


def _commonest(keys: Coded, values: Coded) -> np.ndarray:
    """The value that goes with each key most often; -1 for a key that no row has."""
    both = np.bincount(
        keys.codes * values.size + values.codes, minlength=keys.size * values.size
    ).reshape(keys.size, values.size)
    return np.where(both.sum(axis=1) > 0, both.argmax(axis=1), -1)


def _determines(keys: Coded, values: Coded) -> float:
    """The share of the rows that a look-up table gets right; 0 if it tells next to nothing.

    It must be right far more often than the commonest value is, with keys of enough rows each: by
    keys of a row or two everything is determined.
    """
    rows = len(keys.codes)
    held = np.bincount(keys.codes, minlength=keys.size)
    if rows < ENOUGH * np.count_nonzero(held) or np.count_nonzero(held) < 2:
        return 0.0
    share = _right(keys, values)
    base = float(np.bincount(values.codes).max() / rows)
    return share if share >= NEARLY and 1 - share <= 0.05 * (1 - base) and base < 1 else 0.0


def _right(keys: Coded, values: Coded) -> float:
    """The share of the rows whose value is the one that goes with their key most often."""
    if not len(keys.codes):
        return 0.0
    return float((_commonest(keys, values)[keys.codes] == values.codes).mean())
