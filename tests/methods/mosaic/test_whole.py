"""Counts of all rows beside those by class: put together by least squares, kept as they were."""

import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.archive import read, write
from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms, with_whole
from nacre.histograms.measurement import Measurement
from nacre.methods.mosaic.counting import Answer, Counting
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Boolean, Categorical, Integer, Schema

rng = np.random.default_rng(0)
TRUTH = rng.integers(0, 300, (7, 6)).astype(float)
NOISE, AGAIN = 20.0, 30.0


def test_both_countings_have_the_least_variance_together():
    sums, one = [], []
    for _ in range(4000):
        table = TRUTH + rng.normal(0, NOISE, TRUTH.shape)
        whole = TRUTH.sum(0) + rng.normal(0, AGAIN, 6)
        found, error = with_whole(table, whole, NOISE, AGAIN)
        sums.append(found.sum(0) - TRUTH.sum(0))
        one.append(found - TRUTH)
    least = (1 / (7 * NOISE**2) + 1 / AGAIN**2) ** -0.5
    assert error == pytest.approx(least)
    assert np.std(sums) == pytest.approx(least, rel=0.03)
    assert np.abs(np.mean(sums, 0)).max() < 5 * least / 4000**0.5
    assert np.std(one) < NOISE  # as their sum is known better


def test_the_sum_is_that_of_all_rows_where_it_has_no_noise():
    found, error = with_whole(TRUTH + 5, TRUTH.sum(0), NOISE, 1e-9)
    assert found.sum(0) == pytest.approx(TRUTH.sum(0))
    assert error < 1e-8


def test_spikes_are_found_by_what_both_countings_say():
    """Six deviations of the merged count are hardly two of what seven classes add up to."""
    (column,) = table_columns(Schema({"x": Integer(low=-1, high=5000)}).layout, None, 256)
    place = int(np.searchsorted(column.cells.low, 1000, side="right") - 1)  # 999
    assert column.cells.widths[place] == 1 and column.cells.spike[place] >= 0
    shares, held = np.full((7, 1), 1 / 7), 0
    for _ in range(20):
        counts = np.where(np.arange(column.size) == place, 250.0, 2.0)
        table = shares * counts + rng.normal(0, 40, (7, column.size))
        whole = counts + rng.normal(0, 45, column.size), 45.0
        found = Histograms.of((column,), table, 40.0, None, None, whole)
        held += found.filled[0][place]
    assert held >= 18


def answers(counting, second):
    """By class with weight 2 and without noise, then over all classes with these weights."""
    size = sum(counting.sizes)
    truth = np.arange(3.0 * size).reshape(3, size)
    first = Answer(np.full(3, 2), 2 * truth + 6, NOISE)
    again = truth.sum(0, keepdims=True) * np.repeat(second, counting.sizes)
    return truth, [first, Answer(np.array(second), again, NOISE)]


def test_tables_that_were_not_counted_again_stay_as_they_were():
    groups = {column: np.array([0, 0, 1]) for column in range(3)}
    counting = Counting((0, 1, 2), (), groups, {}, np.full(3, 2))
    truth, both = answers(counting, [4, 0, 2])
    _, pairs = counting.split(both)
    wrong = {
        pair: table.sum() - part.sum()
        for (pair, table), part in zip(
            pairs.tables.items(), np.split(truth, 3, axis=1), strict=True
        )
    }
    # Each of four cells of three classes is 3 too high; the sums' precision is 3 parts of 4 / 3.
    assert wrong[0, 2] == pytest.approx(36)
    assert wrong[0, 1] == pytest.approx(36 / 13)
    assert wrong[1, 2] == pytest.approx(36 / 4)
    assert pairs.pooled((0, 2)) == pytest.approx(NOISE / 2 * 3**0.5)
    assert pairs.pooled((0, 1)) == pytest.approx((4 / (3 * NOISE**2) + 16 / NOISE**2) ** -0.5)
    by_class, whole = pairs.released
    assert (by_class.tables[0, 1] == truth[:, :4].reshape(3, 2, 2) + 3).all()
    assert whole.tables[0, 1].shape == (1, 2, 2)
    assert not np.isfinite(whole.noise[0, 2])


def test_measurements_of_the_same_cells_are_averaged_by_precision():
    place = np.arange(2)
    found = Measurement("x", place, place, np.array([10.0, 20]), 3.0).averaged(
        Measurement("x", place, place, np.array([20.0, 20]), np.array([3.0, 4.0]))
    )
    assert found.counts == pytest.approx([15, 20])
    assert found.noise == pytest.approx([(2 / 9) ** -0.5, 2.4])


COLUMNS = {
    "age": Integer(low=0, high=9),
    "sex": Categorical(values=("f", "m")),
    "rich": Boolean(),
    "kind": Categorical(values=("p", "q", "r")),
}
ROWS = 3000


@pytest.fixture(scope="module")
def table():
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "age": draw.integers(0, 10, ROWS),
            "sex": draw.choice(["f", "m"], ROWS),
            "rich": draw.random(ROWS) < 0.3,
            "kind": draw.choice(["p", "q", "r"], ROWS, p=[0.6, 0.3, 0.1]),
        }
    )


@pytest.fixture(scope="module")
def model(table):
    schema = Schema(COLUMNS, label="kind")
    return nacre.fit(table, schema, method=Mosaic().small(), epsilon=1, delta=1e-6, seed=0)


def test_kept_tables_have_the_noise_that_they_are_said_to_have(model, table):
    frame, off, kinds = table.to_pandas(), [], set()
    for released in model.generator.released():
        names = list(released.columns)
        places = {"sex": ["f", "m"], "rich": [False, True], "kind": ["p", "q", "r"]}
        cells = []
        for axis in released.axes:
            values = places.get(axis.column, list(range(10)))
            cells.append(frame[axis.column].map(lambda v, a=axis, w=values: a.group[w.index(v)]))
        counts = np.zeros(released.counts.shape)
        np.add.at(counts, tuple(np.asarray(cell, np.int64) for cell in cells), 1)
        off.append((released.counts - counts).ravel() / released.noise.ravel())
        kinds.add((len(names), "kind" in names))
    # Columns and pairs of them, each by class and of all rows.
    assert kinds == {(1, False), (2, True), (2, False), (3, True)}
    assert np.sqrt(np.mean(np.concatenate(off) ** 2)) == pytest.approx(1, abs=0.2)


def test_counts_of_all_rows_make_answers_more_precise(model):
    by_class, whole = model.generator.pair_noise[-1], model.generator.whole_pair_noise[-1]
    precision = 1 / (3 * by_class**2) + (1 / whole**2 if whole else 0)
    # Not less, as pairs with other columns count single ones, not this pair.
    assert model.answer("sex by rich").noise == pytest.approx(precision**-0.5)
    counts = model.generator
    either = 1 / (3 * counts.noise[1] ** 2) + 1 / counts.whole_noise[1] ** 2
    assert model.answer("sex").noise.max() <= either**-0.5 * (1 + 1e-6)


def test_edited_files_are_refused(model, tmp_path):
    path = tmp_path / "m.nacre"
    model.save(path)
    again = nacre.load(path)
    assert (again.answer("sex by rich").counts == model.answer("sex by rich").counts).all()
    document, arrays = read(path)
    for name, change in (
        ("whole_counts", arrays["whole_counts"][1:]),
        ("whole_noise", arrays["whole_noise"][1:]),
        ("whole_noise", -arrays["whole_noise"]),
        ("whole_pair_counts", arrays["whole_pair_counts"][1:]),
        ("whole_pair_counts", arrays["whole_pair_counts"] * np.nan),
        ("whole_pair_noise", arrays["whole_pair_noise"][1:]),
    ):
        write(path, document, {**arrays, name: change})
        with pytest.raises(nacre.ArchiveError):
            nacre.load(path)
