"""Wide tables: pairs by matrix products, scores for the worst of them, a page that stays small."""

import importlib
import itertools

import numpy as np
import pyarrow as pa
import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.tables import few_valued
from nacre.evaluate.tables.cells import cramers_v, joint, shares
from nacre.evaluate.tables.few_valued import compare_few
from nacre.evaluate.tables.rare import PART, moved, put_together
from nacre.evaluate.tables.rows import Coded
from nacre.evaluate.tables.watch import FEWEST_ROWS, WORST, is_wide
from nacre.schema import Boolean, Schema

WIDTH = 110


def columns(rows, sizes, seed):
    rng = np.random.default_rng(seed)
    # The last value of a column may never occur; neighbors go together.
    first = rng.integers(0, 2, rows)
    return [
        Coded(np.minimum(first * rng.integers(0, size, rows), size - 1 - place % 2), size)
        for place, size in enumerate(sizes)
    ]


def without_rare(real, table, places):
    return [moved(table[place], put_together(real[place])) for place in places]


@pytest.mark.parametrize("group", [4, 12, 1024])
def test_products_are_counts(group, monkeypatch):
    monkeypatch.setattr(few_valued, "GROUP", group)
    monkeypatch.setattr(few_valued, "BLOCK", 64)
    sizes = (2, 8, 3, 2, 5, 2, 4)
    real, synthetic = columns(300, sizes, 0), columns(200, sizes, 1)
    distance, here, there = compare_few(real, synthetic)
    for i, j in itertools.combinations(range(len(sizes)), 2):
        cells, p, q = shares(*(joint([table[i], table[j]]) for table in (real, synthetic)))
        both, gap = (sizes[i], sizes[j]), np.abs(p - q).sum() / 2
        cells, p, q = shares(*(joint(without_rare(real, t, (i, j))) for t in (real, synthetic)))
        for place in ((i, j), (j, i)):
            assert distance[place] == pytest.approx(gap, abs=1e-12)
            assert here[place] == pytest.approx(cramers_v(cells, p, both, 300), abs=1e-7)
            assert there[place] == pytest.approx(cramers_v(cells, q, both, 200), abs=1e-7)
    assert compare_few(real, real)[0].max() == 0


def test_a_constant_column_has_no_association():
    constant = [Coded(np.zeros(50, int), 2), Coded(np.arange(50) % 2, 2)]
    distance, here, _ = compare_few(constant, constant)
    assert here[0, 1] == 0 and distance[0, 1] == 0


@pytest.fixture(scope="module")
def wide():
    """Columns 0 and 1 always go together; the last two once, in a single row. Then neither does."""
    rng = np.random.default_rng(0)
    values = rng.random((600, WIDTH)) < np.linspace(0.5, 0.02, WIDTH)
    values[:, 1] = values[:, 0]
    values[:, -2:] = False
    values[7, -2:] = True
    shuffled = np.column_stack([rng.permutation(column) for column in values.T])
    shuffled[:, -2:] = False
    shuffled[[3, 4], [-2, -1]] = True
    names = [f"c{i}" for i in range(WIDTH)]
    real, synthetic = (
        pa.table({name: table[:, i] for i, name in enumerate(names)})
        for table in (values, shuffled)
    )
    schema = Schema({name: Boolean() for name in names})
    found = evaluate(real, synthetic, schema, metrics=["tv1", "tv2", "association"], jobs=1)
    return found, values, shuffled


def test_the_worst_pairs_have_scores_and_the_mean_is_of_all(wide):
    found, values, shuffled = wide
    assert is_wide(WIDTH)
    scores = found.parts("association", "synthetic")
    assert WORST <= len(scores) <= 2 * WORST
    assert str(scores[0].part) == "c0 × c1" and scores[0].value > 0.8
    assert all(score.reference is not None for score in scores)
    # Of two-valued columns Cramér's V is the correlation without its sign, less what chance adds to
    # it; those with a rare value say nothing.
    added = 1 / (len(values) - 1)
    real, synthetic = (
        np.sqrt(np.maximum(np.corrcoef(table.T) ** 2 - added, 0) / (1 - added))
        for table in (values, shuffled)
    )
    told = np.minimum(values.sum(0), len(values) - values.sum(0)) >= len(values) / PART
    assert 0 < told.sum() < WIDTH
    gaps = (np.abs(real - synthetic) * told * told[:, None])[np.triu_indices(WIDTH, 1)]
    assert found.score("association").value == pytest.approx(np.mean(gaps))
    assert any("5,995 pairs of columns" in note for note in found.notes)


def test_one_row_makes_no_link_that_is_watched(wide):
    found, values, _ = wide
    last = [f"c{WIDTH - 2}", f"c{WIDTH - 1}"]
    assert values[:, -1].sum() < FEWEST_ROWS
    assert found.comparisons["synthetic"].pairs.real[-2, -1] == 0
    assert found.score("association", part=" × ".join(last)) is None
    assert not any(last[0] in f.text for f in found.findings["synthetic"] if f.topic == "Pairs")


def test_the_page_of_a_wide_table_is_small(wide, monkeypatch):
    # The package's names are the chapters' functions, which hide their modules.
    columns, pairs = (
        importlib.import_module(f"nacre.evaluate.report.chapters.{name}")
        for name in ("columns", "pairs")
    )
    assert columns.FEW_FIGURES <= 30
    monkeypatch.setattr(columns, "FEW_FIGURES", 3)
    monkeypatch.setattr(pairs, "WORST_PAIRS", 1)
    page = wide[0].to_html()
    assert len(page) < 500_000
    assert f"The {WIDTH - 3} best columns are not drawn." in page
    assert "the 30 columns that change most" in page
