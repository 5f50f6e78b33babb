"""The private bandwidth: its sensitivity, and that it is the RMS distance between rows."""

import jax
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from tests.vaults import open_vault

from nacre.embed.distance import ONE, moment_features, moment_segments, rms_distance
from nacre.rows import Row
from nacre.schema import Categorical, Code, Layout, Number, Real, Schema
from nacre.vault import Bound, Segment, Sum

LAYOUT = Layout(numbers=(Number("a", 9), Number("b", 2**40)), codes=(Code("c", 3),))


def moments(row):
    with jax.enable_x64(True):
        return np.asarray(moment_features(LAYOUT, [0])(row), np.float64)


@settings(deadline=None, max_examples=30)
@given(*[st.integers(-(2**31), 2**31 - 1)] * 3)
def test_no_row_exceeds_the_segments(a, b, code):
    values = moments(Row(np.array([a, b], np.int32), np.array([code], np.int32)))
    assert (values >= 0).all()
    start = 0
    for size, norm in moment_segments(LAYOUT, [0]):
        assert np.linalg.norm(values[start : start + size]) <= norm * (1 + 1e-12)
        start += size
    assert start == len(values)


def test_the_bound_is_the_one_of_the_analysis_and_is_reached():
    segments = tuple(Segment(size=s, norm=n, signed=False) for s, n in moment_segments(LAYOUT, [0]))
    bound = Bound(segments=segments)
    assert bound.sensitivity("add-remove") == pytest.approx(ONE * np.sqrt(2 * 2 + 1))
    assert Bound(segments=segments).sensitivity("replace-one") == pytest.approx(
        ONE * np.sqrt(2 * (2 * 2 + 1))
    )
    most = np.array([number.positions for number in LAYOUT.numbers], np.int32)
    values = moments(Row(most, np.zeros(1, np.int32)))
    assert np.linalg.norm(values) == pytest.approx(bound.sensitivity("add-remove"))


@pytest.mark.parametrize("codes", [(), (0,)], ids=["numbers", "whole rows"])
def test_it_is_the_rms_distance_between_rows(codes):
    rng = np.random.default_rng(0)
    x = np.clip(rng.normal(0.5, 0.15, (3000, 2)), 0, 1)
    schema = Schema(
        {
            "a": Real(low=0, high=1),
            "b": Real(low=0, high=1),
            "c": Categorical(values=("x", "y", "z")),
        }
    )
    table = pa.table({"a": x[:, 0], "b": x[:, 1], "c": rng.choice(["x", "y", "z"], 3000)})
    segments = tuple(
        Segment(size=s, norm=n, signed=False) for s, n in moment_segments(schema.layout, codes)
    )
    question = Sum(name="b", share=1.0, bound=Bound(segments=segments, count=ONE))
    vault = open_vault(table, schema, question, epsilon=50, delta=1e-6)
    sums = vault.sum(question, moment_features(schema.layout, codes))
    found = rms_distance(sums.values[0], sums.total, 2)
    if codes:
        hot = np.asarray(table["c"])[:, None] == np.array(["x", "y", "z"])
        x = np.concatenate([x, hot], axis=1)
    assert found == pytest.approx(np.sqrt((pdist(x) ** 2).mean()), rel=0.02)
