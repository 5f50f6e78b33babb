"""Released tables as answers: intervals that hold what they say, names, files, and refusals."""

import csv
import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import nacre
from nacre.answers import Answer, as_columns, as_measurements
from nacre.archive import read, write
from nacre.cli import app
from nacre.histograms.crosstable import Axis, CrossTable, together
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Boolean, Categorical, Integer, Real, Schema

ROWS = 4000
SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "wage": Real(low=0, high=1000, decimals=2, nullable=True),
        "kind": Categorical(values=("p", "q", "r")),
        "sex": Categorical(values=("f", "m")),
        "rich": Boolean(),
    },
    label="rich",
)


def table(seed=0):
    rng = np.random.default_rng(seed)
    rich = rng.random(ROWS) < 0.3
    wage = rng.gamma(2, 80, ROWS) + 200 * rich
    return pa.table(
        {
            "age": rng.integers(18, 80, ROWS),
            "wage": pa.array(wage.clip(0, 1000).round(2), mask=rng.random(ROWS) < 0.1),
            "kind": rng.choice(["p", "q", "r"], ROWS, p=[0.6, 0.3, 0.1]),
            "sex": rng.choice(["f", "m"], ROWS),
            "rich": rich,
        }
    )


@pytest.fixture(scope="module")
def model():
    method = Mosaic().small()
    return nacre.fit(table(), SCHEMA, method=method, epsilon=1, delta=1e-6, rows=ROWS, seed=0)


def truth(axes):
    """The private table's own counts in the bins of a released one."""
    encoded = SCHEMA.encode(table())
    places = []
    for axis in axes:
        column = SCHEMA.columns[axis.column]
        names = [c.name for c in SCHEMA.layout.codes if c.role == "value"]
        if column.ticks is None:
            all_codes = [k for k, c in enumerate(SCHEMA.layout.codes) if c.role == "value"]
            cell = encoded.codes[:, all_codes[names.index(axis.column)]]
        else:
            ticks = encoded.ticks[:, [n.name for n in SCHEMA.layout.numbers].index(axis.column)]
            cell = np.searchsorted(axis.high[axis.low >= 0], ticks)
            if column.nullable:
                missing = table()[axis.column].is_null().to_numpy()
                cell = np.where(missing, len(axis.low) - 1, cell)
        places.append(axis.group[cell])
    found = np.zeros([axis.size for axis in axes])
    np.add.at(found, tuple(places), 1)
    return found


def covered(answer, true):
    return ((answer.low <= true) & (true <= answer.high)).mean()


def test_intervals_hold_the_true_counts_about_as_often_as_they_say(model):
    hits, cells = [], []
    for released, answer in zip(model.released, model.tables(), strict=True):
        true = truth(released.axes)
        # Where a count is near zero the lower end is cut off, which only helps.
        hits.append(covered(answer, true))
        cells.append(true.size)
        assert true.sum() == ROWS
    assert sum(cells) > 800
    share = np.average(hits, weights=cells)
    # .957 with a deviation of .007 in 18 fits: five deviations are .92 and .99, which intervals
    # that are an eighth too narrow or a third too wide would reach.
    assert 0.92 < share < 0.99


def test_an_answer_weighs_all_tables_that_have_the_columns(model):
    answer = model.answer("kind by rich")
    alone = next(one for one in model.tables() if one.columns == ("rich", "kind"))
    assert answer.values == (("p", "q", "r"), ("False", "True"))
    assert answer.counts.shape == (3, 2)
    # Each pair of values was counted by itself; bins that this count decided on are left out.
    np.testing.assert_allclose(answer.counts, alone.counts.T)
    label = model.answer("rich")  # has the same values in every table
    assert label.noise.max() < np.sqrt(3) * alone.noise.min()
    released = together(model.released, ("kind", "rich"))
    true = truth(released.axes)
    np.testing.assert_array_less(abs(answer.counts - true), 6 * answer.noise)
    wide = model.answer(["kind", "rich"], level=0.999)
    assert ((wide.high - wide.low) > (answer.high - answer.low)).all()
    assert "95% interval" in str(answer) and "kind" in str(answer)
    frame = answer.to_pandas()
    assert list(frame) == ["kind", "rich", "count", "low", "high", "noise"]
    assert len(frame) == 6


def test_a_count_below_none_is_not_called_sure():
    noise = np.full(3, 10.0)
    counts = np.array([-57.0, -5.0, 40.0])
    found = Answer(("a",), (("x", "y", "z"),), counts, noise, 0.95)
    assert [line.split()[1:] for line in str(found).splitlines()[1:]] == [
        ["0", "0", "to", "20"],  # noise of ten hides so many, however far below none it lies
        ["0", "0", "to", "20"],
        ["40", "20", "to", "60"],
    ]
    assert found.to_arrow()["count"].to_pylist() == counts.tolist()  # as released


def test_bins_of_numbers_and_gaps_have_names(model):
    answer = model.answer("wage")
    assert answer.values[0][-1] == "missing"
    assert answer.values[0][0].startswith("0")
    missing = answer.counts[-1]
    assert missing == pytest.approx(table()["wage"].null_count, abs=6 * answer.noise[-1])
    three = model.answer("sex by kind by rich")
    assert three.counts.shape == (2, 3, 2)


def test_what_was_not_counted_and_what_is_no_column_are_told(model):
    with pytest.raises(nacre.NacreError, match="'age by kind by sex' was not counted"):
        model.answer("age by kind by sex")
    with pytest.raises(nacre.NacreError, match="no column 'kinds'.*kind"):
        model.answer("kinds by sex")
    with pytest.raises(nacre.NacreError, match="each column once"):
        model.answer("sex by sex")
    with pytest.raises(nacre.NacreError, match="level must be"):
        model.answer("sex", level=95)
    with pytest.raises(nacre.NacreError, match="Ask for columns"):
        as_columns(3, SCHEMA)
    bare = dataclasses.replace(model.generator, counts=None)
    with pytest.raises(nacre.NacreError, match="keeps no counts"):
        dataclasses.replace(model, generator=bare).answer("sex")


def test_without_noise_no_table_is_kept():
    method = Mosaic().small()
    found = nacre.fit(table(), SCHEMA, method=method, epsilon=float("inf"), seed=0)
    assert found.generator.pair_counts is None
    assert found.tables() == ()


def test_files_keep_them_and_edited_ones_are_refused(model, tmp_path):
    path = tmp_path / "m.nacre"
    model.save(path)
    again = nacre.load(path)
    np.testing.assert_array_equal(again.answer("sex").counts, model.answer("sex").counts)
    document, arrays = read(path)
    for name, change in (
        ("pair_counts", arrays["pair_counts"][:, 1:]),
        ("pair_noise", arrays["pair_noise"] * 0),
        ("pair_noise", arrays["pair_noise"][1:]),
    ):
        write(path, document, {**arrays, name: change})
        with pytest.raises(nacre.ArchiveError):
            nacre.load(path)


def test_the_command_prints_one_and_writes_all(model, tmp_path):
    path, folder, run = tmp_path / "m.nacre", tmp_path / "tables", CliRunner()
    model.save(path)
    said = run.invoke(app, ["tables", str(path), "sex by rich"])
    assert said.exit_code == 0 and said.output.startswith("sex  rich")
    listed = run.invoke(app, ["tables", str(path), "--json"])
    assert {"rich by kind", "rich by age by wage"} <= {
        e["table"] for e in json.loads(listed.output)
    }
    assert run.invoke(app, ["tables", str(path), "-o", str(folder)]).exit_code == 0
    index = json.loads((folder / "tables.json").read_text())
    assert len(index["tables"]) == len(model.tables()) == len(list(folder.glob("*.csv")))
    first = index["tables"][0]
    with (folder / first["file"]).open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == first["counts"]
    assert float(lines[0]["low"]) <= float(lines[0]["high"])
    assert run.invoke(app, ["tables", str(path), "sex", "-o", str(folder)]).exit_code != 0


def test_mbi_reads_them(model):
    pytest.importorskip("mbi", reason="needs the extra 'marginals'")
    domain, measured = as_measurements(model.released)
    assert domain["kind"] == 3
    for one in measured:
        assert one.noisy_measurement.size == domain.size(one.clique)


def test_tables_are_added_up_and_weighed_by_precision():
    axis = Axis("a", np.arange(4), np.arange(4), np.arange(4))
    axis = dataclasses.replace(axis, high=np.arange(4) + 1)  # stretches, not single values
    coarse = dataclasses.replace(axis, group=np.array([0, 0, 1, 1]), chosen=True)
    other = Axis("b", np.arange(2), np.arange(2), np.arange(2))
    first = CrossTable((axis,), np.array([1.0, 2, 3, 4]), np.full(4, 1.0))
    second = CrossTable((coarse, other), np.array([[2.0, 2], [4, 4]]), np.full((2, 2), 1.0))
    again = CrossTable((coarse,), np.array([3.0, 7]), np.full(2, 2**0.5))
    found = together([first, second, again], ("a",))
    # Both have variance 2 in every bin: (3 + 4) / 2 and (7 + 8) / 2; the finer table is left out.
    np.testing.assert_allclose(found.counts, [3.5, 7.5])
    np.testing.assert_allclose(found.noise, 1.0)
    values = dataclasses.replace(first, axes=(dataclasses.replace(axis, high=axis.low),))
    alone = together([values, second, again], ("a",))  # finest, and exact by itself
    np.testing.assert_array_equal(alone.counts, first.counts)
    turned = second.over(("b", "a"))
    assert turned.counts.shape == (2, 2) and turned.columns == ("b", "a")
    assert together([first], ("b",)) is None
