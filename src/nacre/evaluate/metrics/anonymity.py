"""The three risks that European regulators ask about: singling out, linkability, inference.

Opinion 05/2014 of the Article 29 Working Party names them.  Each attack uses the synthetic table
only, and is tried on training rows and on held-out rows: what succeeds against rows that were never
there is knowledge of the population, so the score is what is left beyond it, (r - c) / (1 - c) of
the success rates r on training rows and c on the control (as Giomi et al., 2023, count it).
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import DISTANCE_ROWS, TableComparison
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.rows import Rows

TARGETS = 1_000
PREDICATES = 1_000
NEIGHBORS = 5
SECRETS = 6
"""Columns that are guessed in turn; of more, those that come first in a drawn order."""
_BLOCK = 256


def excess(train: Sequence[bool], control: Sequence[bool]) -> tuple[float, float]:
    """The success rate beyond the control's, and its standard error.

    Examples:
        >>> excess([True] * 75 + [False] * 25, [True] * 50 + [False] * 50)[0]
        0.5
    """
    r, c = float(np.mean(train)), float(np.mean(control))
    if c >= 1:
        return 0.0, 0.0
    spread = math.sqrt(r * (1 - r) / len(train) + c * (1 - c) / len(control))
    return (r - c) / (1 - c), spread / (1 - c)


def singled_out(comparison: TableComparison) -> Iterator[Value]:
    """Of predicates made from synthetic rows, how many are true of just one training row.

    A predicate is that some columns have the value, or bin, of a synthetic row; the control is as
    many held-out rows as there are training rows.
    """
    rng = comparison.rng("singling-out")
    size = min(len(comparison.train), len(comparison.test), DISTANCE_ROWS)
    tables = [rows.sample(size, rng) for rows in (comparison.train, comparison.test)]
    codes = [[rows.bin(name).codes for name in rows.names] for rows in tables]
    synthetic = comparison.synthetic.sample(PREDICATES, rng)
    guesses = [synthetic.bin(name).codes for name in synthetic.names]
    alone: tuple[list[bool], list[bool]] = ([], [])
    for place in range(len(synthetic)):
        many = min(len(guesses), int(rng.integers(2, 6)))
        chosen = rng.choice(len(guesses), many, replace=False)
        for found, columns in zip(alone, codes, strict=True):
            fits = np.ones(size, bool)
            for column in chosen:
                fits &= columns[column] == guesses[column][place]
            found.append(int(fits.sum()) == 1)
    yield Value("", *excess(*alone))


def linked(comparison: TableComparison) -> Iterator[Value]:
    """How often two halves of one person's columns have a synthetic neighbor in common.

    An attacker who holds both halves apart takes that as a sign that they belong together.
    """
    rng = comparison.rng("linkability")
    names = list(rng.permutation(comparison.real.names))
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    synthetic = comparison.synthetic.sample(DISTANCE_ROWS, rng)
    links = []
    for targets in _targets(comparison, rng):
        near = [_nearest(targets, synthetic, half, NEIGHBORS) for half in halves]
        links.append([bool(set(a) & set(b)) for a, b in zip(*near, strict=True)])
    yield Value("", *excess(*links))


def inferred(comparison: TableComparison) -> Iterator[Value]:
    """How often the closest synthetic row has the target's value in a column that is not known.

    The mean over the columns that were tried, then each.
    """
    rng = comparison.rng("inference")
    synthetic = comparison.synthetic.sample(DISTANCE_ROWS, rng)
    targets, found = _targets(comparison, rng), []
    for secret in rng.permutation(comparison.real.names)[:SECRETS]:
        known = [name for name in comparison.real.names if name != secret]
        values, right = synthetic.bin(str(secret)).codes, []
        for rows in targets:
            guess = values[_nearest(rows, synthetic, known, 1)[:, 0]]
            right.append(list(guess == rows.bin(str(secret)).codes))
        found.append(Value(str(secret), *excess(*right)))
    mean = float(np.mean([value.value for value in found]))
    error = math.sqrt(sum((value.error or 0.0) ** 2 for value in found)) / len(found)
    yield Value("", mean, error)
    yield from found


def _targets(comparison: TableComparison, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Training rows, and as many that were never there."""
    size = min(TARGETS, len(comparison.train), len(comparison.test))
    return comparison.train.sample(size, rng), comparison.test.sample(size, rng)


def _nearest(rows: Rows, among: Rows, names: Sequence[str], many: int) -> np.ndarray:
    """The places of the `many` closest of `among` by some columns, (rows, many)."""
    features = Features.of(among, only=set(map(str, names)))
    one = float(np.sqrt(0.5))
    x, y = features.matrix(rows, one), features.matrix(among, one)
    half, many = (y * y).sum(1) / 2, min(many, len(y))
    found = [
        np.argpartition(half - x[start : start + _BLOCK] @ y.T, many - 1, axis=1)[:, :many]
        for start in range(0, len(x), _BLOCK)
    ]
    return np.concatenate(found)


SINGLED_OUT = Metric(
    name="singling-out",
    title="Singling out, beyond the control",
    group="privacy",
    goal="lower",
    low=-float("inf"),
    high=1,
    meaning="How much more often a guess made from synthetic rows describes just one training row "
    "than just one held-out row; 0 is what anybody can do who knows the population.",
    compute=singled_out,
    needs=frozenset({"test"}),
)
LINKED = Metric(
    name="linkability",
    title="Linkability, beyond the control",
    group="privacy",
    goal="lower",
    low=-float("inf"),
    high=1,
    meaning="How much more often the synthetic table ties two halves of a training row together "
    "than two halves of a held-out row.",
    compute=linked,
    needs=frozenset({"test"}),
)
INFERRED = Metric(
    name="inference",
    title="Attribute inference, beyond the control",
    group="privacy",
    goal="lower",
    low=-float("inf"),
    high=1,
    meaning="How much more often a column of a training row is guessed right from the closest "
    "synthetic row than that of a held-out row (mean over up to six columns).",
    compute=inferred,
    needs=frozenset({"test"}),
)
