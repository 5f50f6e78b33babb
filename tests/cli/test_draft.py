"""The private draft: what it finds, what it hides, what it costs."""

import dataclasses
import datetime

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nacre
from nacre.draft import private, private_draft, read_types
from nacre.draft.binned import Binned, settled
from nacre.ledger import Ledger
from nacre.schema import Boolean, Categorical, Integer, Real, Schema, SchemaError
from nacre.vault import Release
from nacre.vault.accountant import epsilon_of

ROWS = 4000
RARE = "Zaphod"
TYPES = {
    "age": "integer",
    "wage": "real",
    "loss": "real",
    "color": "categorical",
    "member": "boolean",
    "seen": "datetime",
}


@pytest.fixture(autouse=True)
def no_false_bins(monkeypatch):
    """Noise takes an empty bin for an occupied one in some draft of hundreds: not here."""
    monkeypatch.setattr(private, "FALSE_BINS", 1e-9)


def table() -> pa.Table:
    rng = np.random.default_rng(1)
    names = np.where(np.arange(ROWS) < 3, RARE, rng.choice(["blue", "green"], ROWS))
    days = [
        datetime.date(2015, 1, 1) + datetime.timedelta(int(d)) for d in rng.integers(0, 2500, ROWS)
    ]
    return pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "wage": pa.array(rng.gamma(2, 100, ROWS), mask=rng.random(ROWS) < 0.3),
            "loss": -rng.gamma(2, 100, ROWS),
            "color": names,
            "member": rng.random(ROWS) < 0.5,
            "seen": pa.array(days, pa.date32()),
        }
    )


@pytest.fixture(scope="module")
def drafted() -> Schema:
    return private_draft(table(), epsilon=5.0, delta=1e-6, label="color", types=TYPES)


def test_a_private_draft_does_not_ask_for_a_review(drafted):
    text = drafted.to_yaml()
    assert "provenance: private" in text and "Until then a fit refuses" not in text
    assert Schema.parse(text) == drafted
    drafted.require_usable()
    read = dataclasses.replace(drafted, provenance="data", releases=()).to_yaml()
    assert "Until then a fit refuses" in read and "reviewed: false" in read


def test_bounds_are_public_edges_around_most_rows(drafted):
    age, wage, loss = (drafted.columns[name] for name in ("age", "wage", "loss"))
    assert age == Integer(low=16, high=127)
    assert (wage.low, wage.nullable) == (0.0, True)
    assert wage.high in (512.0, 1024.0, 2048.0)
    assert loss.high == 0.0
    assert loss.low in (-512.0, -1024.0, -2048.0)
    assert drafted.columns["member"] == Boolean()
    seen = drafted.columns["seen"]
    assert (seen.low, seen.high, seen.step) == ("2015-01-01", "2021-12-31", "1d")


def test_rare_values_do_not_show_up(drafted):
    assert drafted.columns["color"] == Categorical(values=["blue", "green"], other=True)
    assert RARE not in drafted.to_yaml()


def test_releases_are_recorded_and_within_the_budget(drafted):
    assert drafted.provenance == "private"
    assert drafted.label == "color"
    releases = [Release.from_dict(release) for release in drafted.releases]
    assert [r.mechanism for r in releases] == ["gaussian", "approximate"]
    cost = epsilon_of(releases, 1e-6)
    assert 4.9 < cost <= 5.0
    assert releases[0].sensitivity == pytest.approx(np.sqrt(6))
    assert Schema.parse(drafted.to_yaml()) == drafted


def test_replace_one_costs_more_noise():
    drafted = private_draft(table(), epsilon=5.0, delta=1e-6, adjacency="replace-one", types=TYPES)
    histogram = Release.from_dict(drafted.releases[0])
    assert histogram.sensitivity == pytest.approx(np.sqrt(12))
    with pytest.raises(ValueError, match="adjacency"):
        nacre.plan(drafted, epsilon=6.0, delta=1e-5)


def test_a_fit_composes_the_draft(tmp_path, folder):
    pa.parquet.write_table(table().select(["age", "color"]), tmp_path / "t.parquet")
    schema = tmp_path / "t.yaml"
    options = ("--epsilon", "1", "--delta", "1e-6", "--ledger", folder / "budget.db")
    done = folder.run(
        *("schema", "draft", tmp_path / "t.parquet", "-o", schema, "--label", "color"),
        *(*options, "--dataset", "people"),
    )
    assert done.exit_code == 0, done.output
    assert "--bad-rows zero" in done.stderr
    assert folder.spent() == (pytest.approx(1), 1)
    assert RARE not in schema.read_text()
    done = folder.fit(
        str(tmp_path / "t.parquet"),
        *("--bad-rows", "zero"),
        schema=str(schema),
        epsilon="2",
        delta="1e-5",
    )
    assert done.exit_code == 0, done.output
    guarantee = nacre.load(folder / "out.nacre").guarantee
    assert [r.name for r in guarantee.releases[:2]] == [
        "histogram of all columns",
        "values of color",
    ]
    assert len(guarantee.releases) > 2
    assert 1.9 < guarantee.epsilon <= 2
    guarantee.verify()
    # The fit's guarantee covers the draft, and is charged whole: a draft may be made elsewhere.
    assert folder.spent()[0] == pytest.approx(3)
    entries = Ledger(folder / "budget.db").history("people")
    assert [entry.status for entry in entries] == ["finished", "finished"]
    assert entries[0].method == "private draft"
    assert len(entries[0].releases) == 2
    alone = folder.fit(str(tmp_path / "t.parquet"), schema=str(schema), epsilon="0.5")
    assert alone.exit_code == 2


def test_csv_needs_types(tmp_path, folder):
    pa.csv.write_csv(table().select(["age", "wage", "color"]), tmp_path / "t.csv")
    budget = ("--epsilon", "3", "--delta", "1e-6", "--ledger", folder / "budget.db")
    budget = (*budget, "--dataset", "people")
    done = folder.run("schema", "draft", tmp_path / "t.csv", *budget)
    assert done.exit_code == 2
    assert "--types" in done.stderr
    types = tmp_path / "types.yaml"
    types.write_text("age: integer\nwage: {type: real, decimals: 1}\ncolor: text\nsize: ordinal\n")
    done = folder.run("schema", "draft", tmp_path / "t.csv", *budget, "--types", types)
    assert done.exit_code == 2
    assert "has 2 problems" in done.stderr
    assert "'size' is not a column" in done.stderr
    assert folder.spent() == (0, 0)
    types.write_text(
        "age: {type: integer, low: 0, high: 120}\n"
        "wage: {type: real, decimals: 1}\ncolor: categorical\n"
    )
    done = folder.run("schema", "draft", tmp_path / "t.csv", *budget, "--types", types)
    assert done.exit_code == 0, done.output
    schema = Schema.parse(done.stdout)
    assert schema.columns["age"] == Integer(low=0, high=120)  # declared: nothing spent on it
    assert Release.from_dict(schema.releases[0]).sensitivity == pytest.approx(np.sqrt(2))
    wage = schema.columns["wage"]
    assert isinstance(wage, Real)
    assert (wage.decimals, wage.nullable) == (1, True)
    assert folder.spent() == (pytest.approx(3), 1)


def test_facts_that_a_person_states_are_kept():
    huge = pa.table({"money": np.full(ROWS, 2.0**39), "flag": ["yes", None] * (ROWS // 2)})
    types = {"money": {"type": "real", "decimals": "6", "nullable": "true"}, "flag": "boolean"}
    drafted = private_draft(huge, epsilon=3.0, delta=1e-6, types=types)
    money = drafted.columns["money"]
    assert (money.low, money.high, money.nullable) == (2.0**39, 2.0**40, True)
    assert money.decimals == 2  # as many as float64 can hold at this size
    assert drafted.columns["flag"] == Boolean(nullable=True)


def test_columns_that_nobody_shares_are_left_out_with_a_warning():
    rows = table().append_column("name", pa.array([f"person {n}" for n in range(ROWS)]))
    with pytest.warns(UserWarning, match="'name'.*left out"):
        drafted = private_draft(
            rows.select(["age", "name"]),
            epsilon=2.0,
            delta=1e-6,
            types={"age": "integer", "name": "categorical"},
        )
    assert drafted.names == ("age",)
    assert len(drafted.releases) == 2


def test_what_stands_out_from_no_noise_is_said_to_be_a_guess():
    with pytest.warns(UserWarning, match="'age' stood out"):
        private_draft(table().select(["age"]), epsilon=1e-3, delta=1e-6, types={"age": "integer"})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"label": "income"}, "income"),
        ({"types": {"heights": "real"}}, "heights"),
        ({"types": {"age": {"type": "integer", "low": 0}}}, "both"),
        ({"types": {"wage": {"type": "real", "decimals": "two"}}}, "decimals"),
        ({"types": {"wage": {"type": "real", "decimal": 2}}}, "Did you mean decimals"),
        ({"types": {"seen": {"type": "datetime", "step": "100w"}}}, "step=100w"),
        ({"types": {"age": "text"}}, "type text is not known"),
        ({"dataset": "people"}, "ledger"),
    ],
)
def test_mistakes_are_found_before_anything_is_spent(settings, words):
    types = TYPES | settings.pop("types", {})
    with pytest.raises(ValueError, match=words):
        private_draft(table(), **{"epsilon": 1.0, "delta": 1e-6, "types": types, **settings})


def test_a_table_without_rows_is_drafted_like_any_other():
    with pytest.warns(UserWarning, match="'age' stood out"):
        private_draft(
            table().select(["age"]).slice(0, 0),
            epsilon=0.01,
            delta=1e-6,
            types={"age": "integer"},
        )


def test_types_of_a_parquet_file_are_taken_as_public(tmp_path):
    pa.parquet.write_table(table(), tmp_path / "t.parquet")
    drafted = private_draft(tmp_path / "t.parquet", epsilon=5.0, delta=1e-6)
    assert {name: column.type for name, column in drafted.columns.items()} == TYPES


def test_complete_schemas_are_refused():
    known = {"age": {"type": "integer", "low": 0, "high": 120}}
    with pytest.raises(SchemaError, match="nothing to draft"):
        private_draft(table().select(["age"]), epsilon=1.0, delta=1e-6, types=known)


def test_types_files_are_read_as_text(tmp_path):
    path = tmp_path / "types.yaml"
    path.write_text("no: integer\n1: {type: categorical, values: [yes, 2]}\n")
    assert read_types(path) == {
        "no": "integer",
        "1": {"type": "categorical", "values": ["yes", "2"]},
    }
    for wrong in ("- a", "", "{"):
        path.write_text(wrong)
        with pytest.raises(SchemaError, match=r"types\.yaml"):
            read_types(path)
    with pytest.raises(SchemaError, match="There is no file"):
        read_types(tmp_path / "none.yaml")


@settings(deadline=None)
@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_whole_number_lies_in_its_bin(number):
    binned = Binned(kind="integer")
    code = int(binned.read(pa.array([number])).values[0])
    low, high = binned.bounds(code, code)
    assert low <= number <= high
    assert high <= 2 * abs(low) or low in (0, -1) or number < 0


@settings(deadline=None)
@given(st.floats(-(2.0**40), 2.0**40))
def test_a_real_number_lies_in_its_bin(number):
    binned = Binned(kind="real")
    code = int(binned.read(pa.array([number])).values[0])
    low, high = binned.bounds(code, code)
    assert low <= number <= high


def test_hostile_cells_have_a_bin_too():
    cells = pa.array([np.nan, np.inf, -np.inf, 1e300, None, 0.0])
    for kind in ("integer", "real"):
        binned = Binned(kind=kind)
        reading = binned.read(cells)
        last = binned.size - 1
        assert reading.values.tolist()[::4] == [last, last]
        assert all(0 <= code < last for code in reading.values[[1, 2, 3, 5]])
        assert not reading.refused
    words = Binned(kind="datetime").read(pa.array(["2020-05-01", "soon", "0001-01-01", None]))
    assert words.values.tolist() == [120, 200, 0, 200]
    assert Binned(kind="boolean").read(pa.array(["yes", "perhaps", ""])).values.tolist() == [
        0,
        1,
        1,
    ]
    assert Binned(kind="categorical").read(pa.array(["x", None, ""])).values.tolist() == [0, 1, 1]


def test_bounds_are_made_usable():
    assert settled(16, 127, whole=True) == (16, 127)
    assert settled(4, 127, whole=True) == (0, 127)
    assert settled(-127, -4, whole=True) == (-127, 0)
    assert settled(1, 1, whole=True) == (1, 2)
    assert settled(0.03125, 1.0, whole=False) == (0.0, 1.0)
