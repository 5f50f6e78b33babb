"""Nothing that `plan` accepts may stop a fit: any schema, table and settings, every method."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.methods.stepwise import asks_for_steps

import nacre
from nacre.errors import NacreError
from nacre.methods import METHODS, find
from nacre.rows import TableEncoder
from nacre.schema import (
    Boolean,
    Categorical,
    Datetime,
    Integer,
    Ordinal,
    Real,
    Schema,
    SchemaError,
    Time,
)
from nacre.vault import Adjacency

# Few rows, and a budget to match: what is asked here does not depend on it.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SMALLEST = {
    "frequencies": (2, 5),
    "blocks": (1, 2),
    "bandwidth": (0.0, 0.3),
    "components": (1, 3),
    "fits": (1, 2),
    "steps": (2, 3),
    "cells": (4, 16, 40),
    "bins": (4, 16),
    "columns": (2, 3, 32),
    "rounds": (1, 2),
    "each_column": (0.1, 2.5),
    "autoencoder_steps": (1, 3),
    "autoencoder_batch": (1, 50),
    "critic_steps": (1, 3),
    "critic_batch": (1, 50),
    "teachers": (1, 5),
    "queries": (1, 20),
    "conditional_steps": (1, 3),
    "conditional_batch": (1, 50),
}
# The ends of the ranges, where they are not slow, and beyond.
WHOLE = [0, 1, 2, 3, 4, 5, 16, 40, 100, np.int64(5)]
REAL = [0, 1e-9, 1e-6, 0.001, 0.3, 0.5, 0.998, 0.999, 1, 50.0, 100.0, 1e3, 1e4, np.float64(0.7)]
NAMES = sorted(n for n in METHODS if "table" in find(n).data and find(n).private)
LARGEST = 2**53 - 1
JUNK = ["", "nan", "inf", "-1e308", "9" * 30, "<x>", "1970-01-01", "9999-12-31", "true", None, "\0"]

flags = st.booleans()
lengths = st.sampled_from([1, 2, 3, 15, 16, 100, 5000, 20_000, 1 << 20, 1 << 40])


@st.composite
def integers(draw):
    low = draw(st.sampled_from([-LARGEST, -7, -1, 0, 1, 10**9]))
    high = draw(st.one_of(lengths.map(lambda n: min(low + n, LARGEST)), st.just(LARGEST)))
    return Integer(low=low, high=high, nullable=draw(flags))


@st.composite
def reals(draw):
    decimals = draw(st.sampled_from([None, 0, 1, 2, 15]))
    low = draw(st.sampled_from([0.0, -1.0, -0.5, 1e-300, -8e307, 1e15]))
    high = draw(st.sampled_from([0.1, 0.5, 1.0, 2.0, 1e6, 8e307, 1e15]))
    return Real(low=low, high=high, decimals=decimals, nullable=draw(flags))


@st.composite
def moments(draw):
    low = draw(st.sampled_from(["0001-01-01", "1969-12-31T23:59:59", "2024-01-01"]))
    high = draw(st.sampled_from(["2024-01-01", "2024-01-02", "2024-03-01T00:00:01", "9999-12-31"]))
    step = draw(st.sampled_from(["1d", "7d", "5w", "1us", "17min", "3h", "999999d", "13s"]))
    return Datetime(low=low, high=high, step=step, nullable=draw(flags))


@st.composite
def clocks(draw):
    low = draw(st.sampled_from(["00:00", "08:30", "23:00:01"]))
    step = draw(st.sampled_from(["1min", "1s", "15min", "1us", "7min"]))
    return Time(low=low, step=step, nullable=draw(flags))


@st.composite
def categories(draw):
    size = draw(st.sampled_from([1, 2, 3, 40]))
    values = tuple(f"v{place}" for place in range(size))
    if draw(flags):
        return Ordinal(values=values, nullable=draw(flags))
    return Categorical(values=values, other=draw(flags), nullable=draw(flags))


columns = st.one_of(
    integers(), reals(), moments(), clocks(), categories(), flags.map(lambda n: Boolean(nullable=n))
)


@st.composite
def schemas(draw):
    """A schema with any label or none, and now and then columns that are put in order."""
    found = dict(enumerate(draw(st.lists(columns, min_size=1, max_size=5))))
    found = {f"c{place}": column for place, column in found.items()}
    label = draw(st.sampled_from([None, *found]))
    constraints = []
    if draw(flags):
        kind = draw(st.sampled_from([integers(), moments(), clocks()]))
        found |= {"start": draw(kind), "end": draw(kind)}
        constraints.append(f"start {draw(st.sampled_from(['<=', '<']))} end")
        if draw(flags):
            found["later"] = dataclasses.replace(found["end"], nullable=draw(flags))
            constraints.append("end <= later")
    try:
        return Schema(found, label=label, constraints=constraints)
    except SchemaError:
        assume(False)


@st.composite
def tables(draw, schema):
    """Rows that fit the schema, or text with anything in it."""
    n = draw(st.sampled_from([1, 2, 30, 300]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    layout = schema.layout
    ticks = rng.integers(0, layout.limits, (n, len(layout.numbers)), endpoint=True)
    ticks[rng.random(ticks.shape) < 0.3] = 0
    table = schema.decode(
        layout.encoded(ticks, rng.integers(0, layout.sizes, (n, len(layout.sizes))))
    )
    if draw(flags):
        return table
    junk = np.array(JUNK, object)
    hostile = {}
    for name in table.column_names:
        own = np.array([None if v is None else str(v) for v in table[name].to_pylist()], object)
        hostile[name] = pa.array(
            np.where(rng.random(n) < 0.4, rng.choice(junk, n), own), pa.string()
        )
    return pa.table(hostile)


@st.composite
def methods(draw, name):
    """Settings that a method accepts: small ones, and one to three that may be anything."""
    kind = find(name)
    small = kind().small()
    chosen = {f: draw(st.sampled_from(v)) for f, v in SMALLEST.items() if hasattr(small, f)}
    numbers = [f.name for f in dataclasses.fields(kind) if type(f.default) in (int, float)]
    changed = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=3, unique=True))
    whole = {field: isinstance(getattr(kind(), field), int) for field in changed}
    chosen |= {field: draw(st.sampled_from(WHOLE if whole[field] else REAL)) for field in changed}
    try:
        return dataclasses.replace(small, **chosen)
    except NacreError as refusal:
        assert "must" in str(refusal) or "needs" in str(refusal)
        assume(False)


@st.composite
def cases(draw, name):
    """A method, a schema, a table and what else a fit is asked for; none of it the simplest."""
    schema = draw(schemas())
    assume(len(schema.columns) > 1)
    method, table = draw(methods(name)), draw(tables(schema))
    # Distributions of many steps with little noise take long.
    most = 1.0 if asks_for_steps(method, TableEncoder(schema)) else 50.0
    epsilon = min(most, draw(st.sampled_from([0.05, 0.3, 1.0, 8.0, 50.0])))
    return method, schema, table, epsilon, draw(st.sampled_from(list(Adjacency)))


def check(method, schema, table, epsilon, adjacency):
    """What is planned can be fitted and drawn from; false if the plan refuses it."""
    options = {"method": method, "epsilon": epsilon, "delta": 1e-6, "adjacency": adjacency}
    try:
        # Under replace-one the number of rows is public, and a fit asks for none.
        known = {"rows": table.num_rows} if adjacency is Adjacency.REPLACE_ONE else {}
        planned = nacre.plan(schema, **options, **known)
    except NacreError:
        return False
    model = nacre.fit(table, schema, bad_rows="zero", **options)
    assert all(type(value) in (int, float, str, bool, list) for value in model.settings.values())
    releases = model.guarantee.releases
    if not any(release.mechanism == "approximate" for release in planned.releases):
        assert releases == planned.releases
    elif adjacency is Adjacency.ADD_REMOVE:  # rates followed from a count
        assert [r.name for r in releases] == [r.name for r in planned.releases]
    try:
        drawn = model.sample(7)
    except NacreError:
        assert schema.constraints, "only constraints may be too rare to be drawn"
        return True
    assert schema.check(drawn).ok
    return True


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_table_of_one_number_can_be_fitted(name):
    small = find(name)().small()
    fewest = {field: least for field, (least, *_) in SMALLEST.items() if hasattr(small, field)}
    schema = Schema({"x": Integer(low=-LARGEST, high=1 - LARGEST)})
    table = pa.table({"x": pa.array([], pa.int64())})
    method = dataclasses.replace(small, **fewest)
    assert check(method, schema, table, 0.05, Adjacency.ADD_REMOVE)


# The same example each time, as each compiles anew; only the noise is new.  What is refused on the
# way does not count as one.  For more of them raise `max_examples` and take out `derandomize`.
@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_whatever_can_be_planned_can_be_fitted(name, data):
    assume(check(*data.draw(cases(name))))
