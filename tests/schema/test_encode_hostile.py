"""No cell can make encoding fail, nor change what another cell becomes."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema

LARGEST = 2**53 - 1

hostile = st.one_of(
    st.lists(st.none() | st.text(max_size=12), min_size=1).map(lambda x: pa.array(x, pa.string())),
    st.lists(st.none() | st.binary(max_size=12), min_size=1).map(
        lambda x: pa.array(x, pa.binary())
    ),
    st.lists(
        st.sampled_from(
            ["1e999", "2024-13-01", "2024-02-29", "0000-01-01", "inf", "٣", "+", "-", "."]
        ),
        min_size=1,
    ).map(pa.array),
)
numeric = st.one_of(
    st.lists(st.none() | st.floats(), min_size=1).map(lambda x: pa.array(x, pa.float64())),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1).map(pa.array),
)


@settings(deadline=None)
@given(hostile, st.booleans())
def test_no_text_can_make_it_fail(cells, nullable):
    schema = Schema(
        {
            "i": Integer(low=0, high=9, nullable=nullable),
            "r": Real(low=-1, high=1, nullable=nullable),
            "d": Real(low=-1, high=1, decimals=3, nullable=nullable),
            "c": Categorical(values=["a"], nullable=nullable),
            "b": Boolean(nullable=nullable),
            "t": Datetime(low="2024-01-01", high="2024-12-31", nullable=nullable),
        }
    )
    table = pa.table(dict.fromkeys(schema.names, cells))
    schema.decode(schema.encode(table))  # refuses anything outside the layout
    schema.check(table)


@settings(deadline=None)
@given(numeric)
def test_no_number_can_make_it_fail(cells):
    schema = Schema(
        {
            "i": Integer(low=-LARGEST, high=LARGEST),
            "r": Real(low=-1e300, high=1e-300),
            "d": Real(low=-1, high=1, decimals=15),
            "c": Categorical(values=["1"], other=True),
            "b": Boolean(nullable=True),
        }
    )
    table = pa.table(dict.fromkeys(schema.names, cells))
    schema.decode(schema.encode(table))


@settings(deadline=None)
@given(hostile, st.text(max_size=5))
def test_a_row_does_not_depend_on_the_others(cells, more):
    # Fast and slow paths must agree: one bad cell sends its whole column down the slow one.
    schema = Schema(
        {
            "i": Integer(low=0, high=9, nullable=True),
            "c": Categorical(values=["a", "1"], other=True, nullable=True),
            "t": Datetime(low="2024-01-01", high="2024-12-31", nullable=True),
        }
    )
    longer = pa.concat_arrays([cells, pa.array([more]).cast(cells.type)])
    alone = schema.encode(pa.table(dict.fromkeys(schema.names, cells)))
    joined = schema.encode(pa.table(dict.fromkeys(schema.names, longer)))[: len(cells)]
    assert np.array_equal(alone.ticks, joined.ticks)
    assert np.array_equal(alone.codes, joined.codes)
    assert np.array_equal(alone.valid, joined.valid)
