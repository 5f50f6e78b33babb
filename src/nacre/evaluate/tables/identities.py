"""What holds in nearly every real row, sums of numbers and dates, look-ups, common gaps, and here.

The search is bounded: few columns, some rows to find a candidate, and more to count it.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nacre.evaluate.tables.rows import Coded, Rows
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.products import common_factor
from nacre.schema.facts.amounts import adds_up, amounts, half_step, line
from nacre.schema.facts.formula import rounded
from nacre.schema.facts.statement import Term, Together

SOME, ALL = 500, 50_000  # rows in which candidates are found, and in which they are counted
MOST_NUMBERS, MOST_LISTS = 30, 40  # columns
MOST_VALUES = 1_000  # of a list; of whole numbers that a look-up may tell, a tenth
NEARLY = 0.99  # of the real rows
ENOUGH = 20  # rows that tell something: parts that are not 0, gaps, rows to a key
SLACK = 1e-6  # of half a step, which is what rounding leaves


@dataclasses.dataclass(frozen=True)
class Identity:
    """A fact of nearly every real row.

    Attributes:
        fact: as a schema says it; a look-up without its table.
        columns: that it is about, the one that it tells first.
        real: the share of the real rows in which it holds, of those that it speaks of.
        synthetic: likewise.
    """

    fact: str
    columns: tuple[str, ...]
    real: float
    synthetic: float


def find_identities(real: Rows, synthetic: Rows, rng: np.random.Generator) -> tuple[Identity, ...]:
    """Sums, products and multiples, then look-ups, then common gaps."""
    if len(real) < 5 * ENOUGH or len(synthetic) < ENOUGH:
        return ()
    real, synthetic = real.sample(ALL, rng), synthetic.sample(ALL, rng)
    some = real.sample(SOME, rng)
    return (
        *_formulas(real, synthetic, some),
        *_look_ups(real, synthetic, some),
        *_gaps(real, synthetic),
    )


# ----- sums and products


def _formulas(real: Rows, synthetic: Rows, some: Rows) -> Iterator[Identity]:
    columns = real.schema.columns
    names = [name for name in real.names if adds_up(columns[name]) and line(columns[name])]
    values = {name: _amounts(some, name) for name in names[:MOST_NUMBERS]}
    names = [name for name, each in values.items() if len(np.unique(each[~np.isnan(each)])) > 2]
    if len(names) < 2:
        return
    told: dict[str, set[str]] = {}
    for total, terms in _candidates(names, values, columns):
        used = {factor.text for term in terms for factor in term.factors} & set(names)
        if total in told or total in _sources(used, told):
            continue
        found = [_share(rows, total, terms) for rows in (real, synthetic)]
        if found[0] >= NEARLY:
            told[total] = used
            fact = str(rounded(total, terms, columns))
            yield Identity(fact, (total, *sorted(used)), found[0], found[1])


def _sources(names: set[str], told: Mapping[str, set[str]]) -> set[str]:
    """These columns, and all that they follow from."""
    found, waiting = set[str](), set(names)
    while waiting:
        found |= waiting
        waiting = {each for name in waiting for each in told.get(name, ())} - found
    return found


def _candidates(
    names: Sequence[str], values: dict[str, np.ndarray], columns: Mapping[str, Column]
) -> Iterator[tuple[str, list[Term]]]:
    """Totals and terms that hold in nearly all of some rows."""
    table = np.stack([values[name] for name in names], axis=1)
    reach = np.array([float(half_step(columns[name])) * (1 + SLACK) for name in names])
    dates = np.array([isinstance(columns[name], Datetime) for name in names])
    word = [Word.of_column(name) for name in names]
    for one, other in itertools.combinations(range(len(names)), 2):
        parts = table[:, [one, other]]
        if not dates[[one, other]].all() and _tell(parts[:, ~dates[[one, other]]], (0,)):
            terms = [
                Term((word[place],)) for place in sorted((one, other), key=lambda i: ~dates[i])
            ]
            alike = dates == dates[[one, other]].any()
            for total in _near(table, parts.sum(axis=1), reach, alike, (one, other)):
                yield names[total], terms
        if not dates[[one, other]].any() and _tell(parts, (0, 1)):
            for total in _near(table, parts.prod(axis=1), reach, ~dates, (one, other)):
                yield names[total], [Term((word[one], word[other]))]
    for one, total in itertools.permutations(np.flatnonzero(~dates).tolist(), 2):
        there = ~np.isnan(table[:, [one, total]]).any(axis=1)
        factor = common_factor(table[there, total], table[there, one], float(reach[total]))
        if factor is not None:
            times = () if factor == 1 else (Word(f"{factor:g}"),)
            yield names[total], [Term((*times, word[one]))]


def _tell(parts: np.ndarray, nothing: Sequence[float]) -> bool:
    """Whether in enough rows no part is one that leaves the other as it is."""
    return int((~np.isin(parts, nothing) & ~np.isnan(parts)).all(axis=1).sum()) >= ENOUGH


def _near(
    table: np.ndarray, meant: np.ndarray, reach: np.ndarray, able: np.ndarray, parts: Sequence[int]
) -> list[int]:
    """Other columns that are what is meant in nearly all rows that have both."""
    apart = np.abs(table - meant[:, None])
    there = ~np.isnan(apart)
    holds = ((apart <= reach) & there).sum(axis=0)
    enough = (there.sum(axis=0) >= ENOUGH) & (holds >= NEARLY * there.sum(axis=0)) & able
    return [place for place in np.flatnonzero(enough).tolist() if place not in parts]


def _amounts(rows: Rows, name: str) -> np.ndarray:
    """Numbers, or days since 1970; NaN where missing."""
    return amounts(rows.schema.columns[name], rows.values(name))


def _share(rows: Rows, total: str, terms: Sequence[Term]) -> float:
    """Of the rows in which something is there, those in which it holds; gaps must agree, too."""
    meant = np.zeros(len(rows))
    for term in terms:
        product = np.ones(len(rows))
        for word in term.factors:
            known = word.text in rows.schema.columns
            product = product * (_amounts(rows, word.text) if known else float(word.text))
        meant += product
    values = _amounts(rows, total)
    there = ~(np.isnan(values) & np.isnan(meant))
    reach = float(half_step(rows.schema.columns[total])) * (1 + SLACK)
    return float((np.abs(values - meant)[there] <= reach).mean()) if there.any() else 0.0


# ----- columns that another one determines


def _look_ups(real: Rows, synthetic: Rows, some: Rows) -> Iterator[Identity]:
    lists = [name for name in real.names if not real.is_number(name)]
    lists = [name for name in lists if 1 < real.bin(name).size <= MOST_VALUES][:MOST_LISTS]
    told = [name for name in real.names if real.is_number(name) and _short(real, name)]
    codes = {name: _codes(some, name) for name in (*lists, *told[:MOST_LISTS])}
    done: set[tuple[str, str]] = set()
    for name in codes:
        found: list[tuple[int, str, float, np.ndarray]] = []
        for by in lists:
            if by == name or (by, name) in done or not _determines(codes[by], codes[name]):
                continue
            keys, values = _codes(real, by), _codes(real, name)
            if share := _determines(keys, values):
                found.append((keys.size, by, share, _commonest(keys, values)))
        if found:
            _, by, share, table = min(found, key=lambda each: each[:2])
            done.add((name, by))
            keys, values = _codes(synthetic, by), _codes(synthetic, name)
            known = table[keys.codes] >= 0
            agree = (table[keys.codes] == values.codes)[known]
            fact = f"{Word.of_column(name)} determined by {Word.of_column(by)}"
            yield Identity(fact, (name, by), share, float(agree.mean()) if len(agree) else 0.0)


def _short(rows: Rows, name: str) -> bool:
    column = rows.schema.columns[name]
    return isinstance(column, Integer) and column.ticks <= MOST_VALUES // 10


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
    share = float((_commonest(keys, values)[keys.codes] == values.codes).mean())
    base = float(np.bincount(values.codes).max() / rows)
    return share if share >= NEARLY and 1 - share <= 0.05 * (1 - base) and base < 1 else 0.0


# ----- gaps in common


def _gaps(real: Rows, synthetic: Rows) -> Iterator[Identity]:
    gaps = {name: gap for name in real.names if (gap := _missing(real, name)) is not None}
    gaps = {n: g for n, g in gaps.items() if ENOUGH <= g.sum() <= len(g) - ENOUGH}
    groups: list[list[str]] = []
    for name in list(gaps)[: 2 * MOST_LISTS]:
        for group in groups:
            if _together(gaps[group[0]], gaps[name]) >= NEARLY:
                group.append(name)
                break
        else:
            groups.append([name])
    for group in groups:
        if len(group) > 1:
            fact = str(Together(tuple(map(Word.of_column, group))))
            here = [_missing(synthetic, name) for name in group]
            yield Identity(
                fact,
                tuple(group),
                _together(*(gaps[name] for name in group)),
                _together(*(gap for gap in here if gap is not None)),
            )


def _missing(rows: Rows, name: str) -> np.ndarray | None:
    if rows.is_number(name):
        return rows.missing(name)
    found = rows.bin(name)
    return found.codes == found.size - 1 if rows.schema.columns[name].nullable else None


def _together(*gaps: np.ndarray) -> float:
    """Of the rows in which one is missing, those in which all are; 1 if there are none."""
    some, every = np.any(gaps, axis=0), np.all(gaps, axis=0)
    return float(every.sum() / some.sum()) if some.any() else 1.0
