"""Sampling under constraints and conditions: every row satisfies them, and none is favored."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nacre
from nacre import rejection
from nacre.histograms.cells import layout_cells
from nacre.methods import find
from nacre.model import Model
from nacre.nets.mixture import MixtureGenerator
from nacre.rows import TableEncoder
from nacre.rows.weights import Move
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema
from nacre.schema.constraints.condition import ColumnValues
from nacre.schema.constraints.given import given as conditions
from nacre.vault import Adjacency, Guarantee

# The models here are made by hand, from no release: there is nothing to promise.
pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")

COLUMNS = {
    "age": Integer(low=0, high=9),
    "start": Datetime(low="2024-01-01", high="2024-01-10"),
    "end": Datetime(low="2024-01-01", high="2024-01-10", nullable=True),
    "sex": Categorical(values=["f", "m"]),
    "job": Categorical(values=["a", "b", "c, d"], nullable=True),
    "pain": Ordinal(values=["none", "mild", "strong"]),
    "member": Boolean(),
}
CONSTRAINTS = [
    "start <= end",
    "age >= 3 if member = yes",
    {"forbid": {"sex": "m", "job": "a"}},
    {"fixed": {"pain": "mild"}},
    "job != b if end is missing",
]
LIKELY = settings(max_examples=60, deadline=None)


def model(*constraints, columns=None, label="sex", seed=0, kind="pandas"):
    """A mixture of random products, made without any rows."""
    schema = Schema(columns or COLUMNS, label=label, constraints=constraints)
    layout, components = schema.layout, 5
    rng = np.random.default_rng(seed)
    place = layout.code(label) if label else None

    def table(size):
        return rng.dirichlet(np.ones(size), components)

    cells = layout_cells(layout)
    generator = MixtureGenerator(
        weights=rng.dirichlet(np.ones(components), layout.sizes[place] if label else 1),
        numbers=[table(each.size) for each in cells],
        codes=[table(code.size) for k, code in enumerate(layout.codes) if k != place],
        cells=cells,
        label=place,
        layout=layout,
    )
    guarantee = Guarantee(epsilon=float("inf"), delta=1, adjacency=Adjacency.ADD_REMOVE)
    return Model(
        encoder=TableEncoder(schema),
        generator=generator,
        guarantee=guarantee,
        method="Mixture",
        settings={},
        kind=kind,
    )


def satisfied(made, table):
    rows = made.schema.encode(table)
    view = ColumnValues.of(made.schema.columns, rows)
    return all(rule.holds(view).all() for rule in made.schema.rules)


def test_every_row_satisfies_every_constraint():
    made = model(*CONSTRAINTS)
    drawn = made.sample(5000, seed=1)
    assert isinstance(drawn, pd.DataFrame)
    assert len(drawn) == 5000
    assert drawn.dtypes.equals(model().sample(5, seed=1).dtypes)
    there = drawn["end"].notna()
    assert there.any()
    assert (~there).any()
    assert (drawn["start"][there] <= drawn["end"][there]).all()
    assert (drawn["age"][drawn["member"]] >= 3).all()
    assert drawn["age"][~drawn["member"]].min() < 3
    assert not ((drawn["sex"] == "m") & (drawn["job"] == "a")).any()
    assert set(drawn["pain"]) == {"mild"}
    assert not (drawn["job"][~there] == "b").any()
    assert (drawn["job"][there] == "b").any()


def joint(table, names):
    """Shares of all combinations of some columns."""
    counted = table.group_by(names).aggregate([([], "count_all")]).to_pydict()
    total = table.num_rows
    keys = zip(*(counted[name] for name in names), strict=True)
    return dict(zip(keys, np.array(counted["count_all"]) / total, strict=True))


@pytest.mark.parametrize(
    ("constraints", "where", "names"),
    [
        (["end is not missing"], {"age": (2, 5)}, ["start", "sex"]),
        ([], {"job": ["a", None], "age": [1, 7]}, ["job", "age", "sex"]),
        ([{"fixed": {"sex": "m"}}], {"pain": ("mild", None)}, ["sex", "pain", "member"]),
        (["sex = f"], {"job": "b"}, ["job", "age"]),
    ],
)
def test_what_is_drawn_follows_the_model_given_the_conditions(constraints, where, names):
    # The same model without conditions, of whose rows those that satisfy them are taken: this
    # also compares values fixed inside the generator with values got by rejection.
    conditioned = model(*constraints, kind="arrow").sample(60_000, seed=1, where=where)
    free = model(kind="arrow").sample(600_000, seed=2)
    asked = model(*constraints).rejection(where=where)
    view = ColumnValues.of(COLUMNS, Schema(COLUMNS).encode(free))
    good = np.logical_and.reduce([rule.holds(view) for rule in asked.rules])
    assert 0.005 < good.mean() < 0.97
    expected, found = joint(free.filter(pa.array(good)), names), joint(conditioned, names)
    assert set(found) <= set(expected)
    scale = 1 / 60_000 + 1 / good.sum()
    for key, share in expected.items():
        # Draws by quota are closer than independent ones; six standard errors for all of them.
        assert abs(found.get(key, 0) - share) < 6 * np.sqrt(share * scale) + 1e-4


@pytest.mark.parametrize(
    ("constraints", "where"),
    [
        (["age != 7 if member = yes"], {}),
        ([{"forbid": {"sex": "m", "job": "a"}}], {}),
        ([{"forbid": {"sex": "m", "job": "a"}}, "age != 7 if pain = mild"], {"member": True}),
    ],
)
def test_rules_between_columns_move_no_share(constraints, where):
    # What rejection alone does to the same rows, to see that there is something to be kept.
    kept = model(*constraints, kind="arrow").sample(40_000, seed=1, where=where)
    free = model(kind="arrow").sample(200_000, seed=2, where=where)
    asked = model(*constraints).rejection()
    view = ColumnValues.of(COLUMNS, Schema(COLUMNS).encode(free))
    good = np.logical_and.reduce([rule.holds(view) for rule in asked.rules])
    worst = {"kept": 0.0, "dropped": 0.0}
    for name in COLUMNS:
        wanted = joint(free, [name])
        for way, table in (("kept", kept), ("dropped", free.filter(pa.array(good)))):
            found = joint(table, [name])
            gaps = [abs(found.get(key, 0) - share) for key, share in wanted.items()]
            worst[way] = max(worst[way], *gaps)
    assert worst["kept"] < 0.012
    assert worst["dropped"] > 0.02
    assert satisfied(model(*constraints), kept)


def test_the_terminal_tells_which_groups_rules_move():
    drawing = model("age != 7 if member = yes").rejection()
    list(drawing.batches(4000, np.random.default_rng(0)))
    moves = drawing.moved
    assert any(move.group == "age = 7" for move in moves)
    for move in moves:
        assert abs(move.kept - move.wanted) < abs(move.dropped - move.wanted)
    said = drawing.describe()
    kept = [move.group for move in moves if move.restored]
    assert ("Groups that constraints move" in said) == (len(kept) < len(moves))
    assert ("and keep their shares" in said) == bool(kept)
    assert "Nothing is left" not in said


def test_a_group_that_has_its_share_again_is_told_in_short():
    drawing = model().rejection()
    moves = Move("age = 7", 0.1, 0.05, 0.102), Move("sex = f", 0.5, 0.4, 0.44)
    drawing.weights = SimpleNamespace(moves=moves, beyond=())
    said = drawing.describe()
    assert "Groups that constraints move:\n  sex = f: 50% of the candidates, 40% of those" in said
    assert said.endswith("and keep their shares: age = 7 (10%).")


def test_the_terminal_tells_which_groups_rules_empty():
    drawing = model("sex = f if member = yes", "sex = m if member = yes").rejection()
    list(drawing.batches(4000, np.random.default_rng(0)))
    assert "Nothing is left of member = true: no such candidate" in drawing.describe()


@LIKELY
@given(
    n=st.integers(0, 200),
    seed=st.integers(0, 2**32 - 1),
    constraints=st.lists(
        st.sampled_from([*CONSTRAINTS, "age < 9", "start <= 2024-01-05", "job != b"]),
        unique_by=str,
    ),
    where=st.fixed_dictionaries(
        {},
        optional={
            "age": st.sampled_from([(3, 7), (None, 6), [3, 4, 5]]),
            "sex": st.sampled_from(["f", ["f", "m"]]),
            "end": st.sampled_from([None, ("2024-01-03", None)]),
            "job": st.sampled_from(["c, d", ["a", "b", "c, d", None]]),
        },
    ),
)
def test_any_combination_gives_just_the_rows_asked_for(n, seed, constraints, where):
    made = model(*constraints, kind="arrow")
    rows = made.sample(n, seed=seed, where=where)
    assert rows.num_rows == n
    assert rows.schema == made.schema.decode(made.schema.layout.encoded()).schema
    assert satisfied(made, rows)
    view = ColumnValues.of(COLUMNS, made.schema.encode(rows))
    assert all(rule.holds(view).all() for rule in conditions(where, COLUMNS))
    assert made.sample(n, seed=seed, where=where).equals(rows), "a seed draws the same rows again"


def test_without_constraints_a_seed_draws_what_it_always_did():
    made = model(kind="arrow")
    direct = made.generator.sample(100, np.random.default_rng(3))
    assert made.sample(100, seed=3).equals(made.schema.decode(direct))


def test_batches_stream_and_add_up(monkeypatch):
    monkeypatch.setattr(rejection, "CHUNK", 1000)
    parts = list(model("start < end").batches(5000, seed=0))
    assert len(parts) > 5
    assert sum(part.num_rows for part in parts) == 5000


def test_where_and_constraints_and_keep_combine():
    made = model("start <= end", kind="arrow")
    rows = made.sample(
        500, seed=0, where={"age": (2, 8)}, keep=lambda table: pc.not_equal(table["age"], 5)
    )
    assert set(rows["age"].to_pylist()) == {2, 3, 4, 6, 7, 8}
    assert satisfied(made, rows)


def test_one_value_left_is_fixed_in_the_generator_and_costs_no_candidate():
    made = model({"fixed": {"pain": "mild"}}, "sex != m", "job is missing")
    asked = made.rejection(where={"member": [True]})
    layout = made.schema.layout
    wanted = {"pain": 1, "sex": 0, "job": 3, "member": 1}
    assert asked.generator.fixed == {layout.code(name): code for name, code in wanted.items()}
    list(asked.batches(1000, np.random.default_rng(0)))
    assert asked.rate == 1


def test_what_contradicts_a_constraint_is_told_before_any_row_is_drawn():
    made = model({"forbid": {"sex": "m", "job": "a"}}, "age > 3")
    with pytest.raises(ValueError, match="no value is left by `sex = m`, .*forbid: .*, `job = a`"):
        made.sample(1, where={"sex": "m", "job": "a"})
    with pytest.raises(ValueError, match="No row can be drawn.*`age > 3`, `age = 0..3`"):
        made.sample(1, where={"age": (0, 3)})


def test_a_constraint_that_almost_no_row_satisfies_is_named_with_its_rate(monkeypatch):
    monkeypatch.setattr(rejection, "CHUNK", 1000)
    monkeypatch.setattr(rejection, "PATIENCE", 20_000)
    wide = {"a": Integer(low=0, high=10**9), "b": Integer(low=0, high=10**9), "c": Boolean()}
    made = model("a = b", "c = true if a > 5", columns=wide, label=None)
    with pytest.raises(ValueError, match="hardly ever") as caught:
        made.sample(100, seed=0)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("Only ")
    assert lines[1].startswith("  `a = b`: 0")
    assert lines[2].startswith("  `c = true if a > 5`: ")
    assert float(lines[2].split(": ")[1].rstrip("%")) > 10
    with pytest.raises(ValueError, match="`keep`, of the rows that satisfy the rest: 0%"):
        model().sample(10, keep=lambda table: [False] * table.num_rows)
    # The same model is of use again without the constraint, at no cost.
    assert len(made.with_constraints(["c = true if a > 5"]).sample(10)) == 10


def test_values_the_model_cannot_make_are_named():
    made = model({"fixed": {"job": "b"}})
    for table in made.generator.codes:
        if table.shape[1] == 4:
            table[:, 1] = 0
    with pytest.raises(ValueError, match="no probability at all.*`fixed: job = b`"):
        made.sample(1)


def test_rare_conditions_are_met_while_few_rows_are_asked_for():
    wide = {"a": Integer(low=0, high=9999), "b": Boolean()}
    made = model(columns=wide, label=None, kind="arrow")
    assert set(made.sample(3, seed=0, where={"a": 1234})["a"].to_pylist()) == {1234}


def test_files_keep_constraints(tmp_path):
    made = model(*CONSTRAINTS, kind="arrow")
    made.save(tmp_path / "x.nacre")
    again = nacre.load(tmp_path / "x.nacre")
    assert again.schema == made.schema
    assert again.certificate()["schema"] == made.schema.digest != model().schema.digest
    assert satisfied(made, again.sample(300, seed=0))


def test_files_open_though_hardly_any_row_satisfies_their_constraints(tmp_path):
    wide = {"a": Integer(low=0, high=10**9), "b": Integer(low=0, high=10**9), "c": Boolean()}
    model("a = b", columns=wide, label=None).save(tmp_path / "x.nacre")
    assert nacre.load(tmp_path / "x.nacre").schema.constraints


def test_files_from_before_constraints_open(tmp_path):
    made = model(kind="arrow")
    assert "constraints" not in made.schema.to_dict()
    made.save(tmp_path / "x.nacre")
    assert nacre.load(tmp_path / "x.nacre").sample(5, seed=0).equals(made.sample(5, seed=0))


@pytest.mark.filterwarnings("ignore:.*are few for this budget")
# Networks, which take longest to fit, are asked for such rows in the contract of methods.
@pytest.mark.parametrize("name", ["mosaic", "pearl", "merf", "functional", "aim", "mst"])
def test_methods_fit_and_sample_under_constraints(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "low": rng.integers(0, 50, 400),
            "high": rng.integers(0, 50, 400),
            "sex": rng.choice(["f", "m"], 400),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 400), "D"),
            "x": rng.random(400),
        }
    )
    schema = Schema(
        {
            "low": Integer(low=0, high=49),
            "high": Integer(low=0, high=49),
            "sex": Categorical(values=["f", "m"]),
            "day": Datetime(low="2024-01-01", high="2024-03-31"),
            "x": Real(low=0, high=1),
        },
        label="sex",
        constraints=["low <= high", "x > 0.2 if sex = f", "day >= 2024-02-01 if low > 20"],
    )
    quick = find(name)().small()
    fitted = nacre.fit(frame, schema, method=quick, epsilon=5, delta=1e-6, rows=400)
    drawn = fitted.sample(400, seed=0, where={"day": ("2024-01-15", "2024-03-15")})
    assert len(drawn) == 400
    assert satisfied(fitted, pa.Table.from_pandas(drawn, preserve_index=False))
    assert pd.to_datetime(drawn["day"]).between("2024-01-15", "2024-03-15").all()


def test_conditions_on_every_kind_of_label():
    for label, value in itertools.product([None, "sex"], ["f", ["f"]]):
        drawn = model(label=label).sample(50, where={"sex": value})
        assert set(drawn["sex"]) == {"f"}


def test_a_pandas_sample_has_room_for_gaps_whether_or_not_there_are_any():
    columns = {
        "n": Integer(low=0, high=9, nullable=True),
        "yes": Boolean(nullable=True),
        "day": Datetime(low="2024-01-01", high="2024-01-10", nullable=True),
    }
    made = model(columns=columns, label=None)
    for rows in (0, 1, 50):
        kinds = [str(kind) for kind in made.sample(rows, seed=0).dtypes]
        assert kinds == ["Int64", "boolean", "datetime64[us]"]


@pytest.mark.parametrize(
    ("column", "cuts", "titles"),
    [
        (Real(low=0, high=9, decimals=2), (5e-324, 4.5), ["x = 0", "x > 0 and < 4.5", "x >= 4.5"]),
        (Integer(low=0, high=9), (1.0, 4.0), ["x = 0", "x >= 1 and < 4", "x >= 4"]),
    ],
)
def test_a_group_of_one_value_is_called_by_it(column, cuts, titles):
    from nacre.rows.weights import Groups

    groups = Groups("x", np.array(cuts), len(cuts) + 2)
    assert [groups.title(place, column) for place in range(len(titles))] == titles
