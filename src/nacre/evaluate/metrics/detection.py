"""Real against synthetic: can a boosted classifier tell the rows apart, and by which columns?"""

from collections.abc import Iterator

import numpy as np

from nacre.evaluate.scores.metric import Metric, Value
from nacre.evaluate.tables.comparison import TableComparison
from nacre.evaluate.tables.extras import require
from nacre.evaluate.tables.rows import Rows

ROWS = 10_000
"""Of each table, at most; half of them to learn from, half to be told apart."""
CELLS = 1_000_000
"""Rows times columns of each table, at most."""
ASKED = 2_000
"""Rows on which it is seen what each column gives away."""
MOST_CODES = 250
"""Values of a category that the classifier tells apart; scikit-learn takes 255."""
TELLING, SHOWN = 0.01, 8


def compute(comparison: TableComparison) -> Iterator[Value]:
    """The area under the curve, then without what each of the most telling columns says."""
    # On one thread: those of OpenMP wait for each other on a busy machine.
    with require("threadpoolctl").threadpool_limits(1):
        found = comparison.once("detection", lambda: _detect(comparison))
    if found is None:
        return
    area, error, without = found
    yield Value("", area, error)
    for name, left in without:
        yield Value(name, left)


def _detect(
    comparison: TableComparison,
) -> tuple[float, float, list[tuple[str, float]]] | None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    rng = comparison.rng("detection")
    real, synthetic = comparison.real, comparison.synthetic
    size = min(ROWS, CELLS // max(len(real.names), 1), len(real), len(synthetic))
    if size < 20:
        return None
    x = np.concatenate([_matrix(rows.sample(size, rng), real) for rows in (real, synthetic)])
    y = np.repeat([0, 1], size)
    order = rng.permutation(2 * size)
    learn, ask = order[:size], order[size:]
    if min(y[learn].sum(), y[ask].sum(), size - y[learn].sum(), size - y[ask].sum()) < 5:
        return None
    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        early_stopping=False,
        random_state=0,
        categorical_features=[not real.is_number(name) for name in real.names],
    )
    model.fit(x[learn], y[learn])

    def area(rows: np.ndarray, truth: np.ndarray) -> float:
        return float(roc_auc_score(truth, model.predict_proba(rows)[:, 1]))

    whole = area(x[ask], y[ask])
    some = ask[:ASKED]
    before = area(x[some], y[some])
    without = []
    for place, name in enumerate(real.names):
        mixed = x[some].copy()
        mixed[:, place] = rng.permutation(mixed[:, place])
        without.append((name, whole - max(before - area(mixed, y[some]), 0.0)))
    without.sort(key=lambda found: found[1])
    telling = [(name, left) for name, left in without if whole - left > TELLING][:SHOWN]
    return whole, float(np.sqrt(max(whole * (1 - whole), 0.01) * 4 / size)), telling


def _matrix(rows: Rows, real: Rows) -> np.ndarray:
    """One column each: numbers as they are, categories by their place among the frequent ones."""
    columns = []
    for name in rows.names:
        if rows.is_number(name):
            columns.append(rows.unit(name))
            continue
        codes, size = rows.bin(name)
        if size > MOST_CODES:
            held = np.bincount(real.bin(name).codes, minlength=size)
            ranks = np.empty(size, np.int64)
            ranks[np.argsort(-held, kind="stable")] = np.arange(size)
            codes = np.minimum(ranks, MOST_CODES - 1)[codes]
        columns.append(codes.astype(np.float32))
    return np.stack(columns, axis=1).astype(np.float32)


METRIC = Metric(
    name="detection",
    title="Told from real rows",
    group="structure",
    goal="lower",
    low=0,
    high=1,
    meaning="How well a boosted classifier tells synthetic rows from real ones, as area under the "
    "curve: 0.5 is guessing, 1 means that every row is told. It sees everything at once, so useful "
    "tables may still be told; for each column, what is left of it if that column says nothing.",
    compute=compute,
    quick=True,
    rows=ROWS,
)
