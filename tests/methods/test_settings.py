"""Settings that a method accepts cannot stop its fit: all others are refused when it is made."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import nacre
from nacre.errors import NacreError
from nacre.methods import METHODS, find
from nacre.schema import Boolean, Categorical, Integer, Real, Schema

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# The ends of the ranges, where they are not slow, and beyond.
WHOLE = [0, 1, 2, 3, 4, 5, 16, 40, 100, np.int64(5)]
REAL = [0, 1e-9, 1e-6, 0.001, 0.3, 0.5, 0.998, 0.999, 1, 50.0, 100.0, 1e3, 1e4, np.float64(0.7)]
COLUMNS = {
    "age": Integer(low=0, high=99),
    "wage": Real(low=0, high=1000, nullable=True),
    "job": Categorical(values=("a", "b", "c"), nullable=True),
    "rich": Boolean(),
}
SCHEMAS = [Schema(COLUMNS, label=label) for label in ("rich", "age", None)]
ROWS = np.random.default_rng(0)


def fields(kind):
    """The settings that are numbers."""
    return [f.name for f in dataclasses.fields(kind) if type(f.default) in (int, float)]


@st.composite
def cases(draw, name):
    kind = find(name)
    small = vars(kind().small())
    changed = draw(st.lists(st.sampled_from(fields(kind)), min_size=1, max_size=3, unique=True))
    whole = {name: isinstance(getattr(kind(), name), int) for name in changed}
    values = {name: draw(st.sampled_from(WHOLE if whole[name] else REAL)) for name in changed}
    return kind, {**small, **values}, draw(st.sampled_from(SCHEMAS))


def check(case):
    kind, chosen, schema = case
    try:
        method = kind(**chosen)
    except NacreError as refusal:
        assert "must" in str(refusal) or "needs" in str(refusal)
        assume(False)
    layout, n = schema.layout, 40
    ticks = ROWS.integers(0, layout.limits, (n, len(layout.numbers)), endpoint=True)
    codes = ROWS.integers(0, layout.sizes, (n, len(layout.sizes)))
    table = schema.decode(layout.encoded(ticks, codes))
    model = nacre.fit(table, schema, method=method, epsilon=1.0, delta=1e-6)
    assert schema.check(model.sample(9)).ok
    assert all(type(value) in (int, float, str, bool, list) for value in model.settings.values())


# The same example each time, as each compiles anew; only the noise is new.  What is refused on the
# way does not count as one.
@pytest.mark.parametrize(
    "name", sorted(n for n in METHODS if "table" in find(n).data and find(n).private)
)
@settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_what_is_accepted_can_be_fitted(name, data):
    check(data.draw(cases(name)))


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_every_setting_has_a_range(kind):
    wrong = [math.nan, -math.inf, -3, "3", None, True, 10**30]
    for name, value in itertools.product(fields(kind), wrong):
        with pytest.raises(NacreError, match=f"{name} must be"):
            kind(**{name: value})


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_every_word_is_one_of_a_list(kind):
    for field in dataclasses.fields(kind):
        if isinstance(field.default, str):
            with pytest.raises(NacreError, match=f"{field.name} must be .* or "):
                kind(**{field.name: "anything"})


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_whole_settings_are_whole_and_defaults_pass(kind):
    defaults = kind()
    for name in fields(kind):
        if isinstance(getattr(defaults, name), int):
            with pytest.raises(NacreError, match="whole number"):
                kind(**{name: 4.5})


def test_the_steps_that_a_schedule_needs_are_asked_for_before_a_row_is_read():
    for kind in (nacre.PEARL, nacre.MERF):
        with pytest.raises(NacreError, match="steps must be a whole number from 2"):
            kind(steps=1)
