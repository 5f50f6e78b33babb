"""Counts of all rows beside those by class: put together by least squares, kept as they were."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import nacre
from nacre.archive import read, write
from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms, with_whole
from nacre.histograms.measurement import Measurement
from nacre.methods.mosaic.check import pairs_of
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


@pytest.mark.parametrize("name", ["histograms", "histograms of all rows", "pairs of columns"])
def test_kept_counts_whose_release_is_not_listed_are_refused(model, tmp_path, name):
    path = tmp_path / "m.nacre"
    model.save(path)
    document, arrays = read(path)
    listed = document["guarantee"]["releases"]
    document["guarantee"]["releases"] = [each for each in listed if each["name"] != name]
    assert len(document["guarantee"]["releases"]) == len(listed) - 1
    write(path, document, arrays)
    with pytest.raises(nacre.ArchiveError, match=f"It holds '{name}', which the guarantee"):
        nacre.load(path)


LOUD = [1e-40, 1e-31, 1e31, 1e200]


@pytest.mark.parametrize("scale", LOUD)
@pytest.mark.parametrize("name", ["noise", "whole_noise", "pair_noise", "whole_pair_noise"])
def test_noise_of_which_no_precision_can_be_added_is_refused(model, tmp_path, name, scale):
    """Its square would be nothing or infinite, and answers would be no numbers."""
    path = tmp_path / "m.nacre"
    model.save(path)
    document, arrays = read(path)
    with np.errstate(over="ignore"):
        noise = np.full_like(arrays[name], scale)
    write(path, document, {**arrays, name: noise})
    with pytest.raises(nacre.ArchiveError):
        nacre.load(path)


@pytest.mark.parametrize("scale", LOUD)
def test_so_it_is_without_counts_of_all_rows(model, tmp_path, scale):
    path = tmp_path / "m.nacre"
    model.save(path)
    document, arrays = read(path)
    arrays = {key: value for key, value in arrays.items() if not key.startswith("whole_")}
    document["generator"] |= {"whole_counts": None}
    document["generator"] |= {"whole_pair_counts": None, "whole_pair_noise": None}
    bare = {**arrays, "whole_noise": np.zeros(0)}
    write(path, document, bare)
    nacre.load(path)
    write(path, document, {**bare, "noise": np.full_like(arrays["noise"], scale)})
    with pytest.raises(nacre.ArchiveError, match="hardly any noise, or nothing but noise"):
        nacre.load(path)


def test_columns_that_the_schema_does_not_have_cost_nothing(model, tmp_path, monkeypatch):
    """30,000 columns of one cell in a small file have 450 million pairs."""
    path = tmp_path / "m.nacre"
    model.save(path)
    document, arrays = read(path)
    many, classes = 30_000, arrays["weights"].shape[1]
    ones = np.ones((classes, many), np.float32)
    # Whether the noise led the method to tables of several columns, with bins, is chance.
    document["generator"] |= {"sizes": [1] * many, "coarse": None}
    more = {"bins": np.arange(many), "components": ones[:1], "weights": ones[:1, :classes]}
    more |= {"inside": ones, "tilt": ones, "counts": ones, "whole_counts": ones[0]}
    more |= {"noise": np.ones(many), "whole_noise": np.ones(many)}
    more |= {"pairs": np.zeros((0, 2), np.int64), "pair_tilt": ones[:, :0]}
    kept = {name: array for name, array in arrays.items() if name != "coarse"}
    write(path, document, kept | more)
    monkeypatch.setattr(itertools, "combinations", refuse)
    with pytest.raises(nacre.ArchiveError, match="another layout"):
        nacre.load(path)


def refuse(*_):
    raise AssertionError("all pairs were listed")


def test_pairs_are_counted_before_they_are_listed(model, tmp_path, monkeypatch):
    path = tmp_path / "m.nacre"
    model.save(path)
    document, arrays = read(path)
    write(path, document, {**arrays, "pair_noise": arrays["pair_noise"][1:]})
    monkeypatch.setattr(itertools, "combinations", refuse)
    with pytest.raises(nacre.ArchiveError, match="noise of other pairs"):
        nacre.load(path)


def test_pairs_are_counted_right():
    widths = np.random.default_rng(0).integers(1, 9, 40).tolist()
    listed = [a * b for a, b in itertools.combinations(widths, 2)]
    assert pairs_of(widths) == (len(listed), sum(listed)) and pairs_of([]) == (0, 0)
