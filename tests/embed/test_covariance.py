"""The private covariance: its sensitivity, and that it is the covariance."""

import jax
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.vaults import open_vault

from nacre.embed.covariance import (
    ONE,
    covariance,
    covariance_features,
    covariance_segments,
    places_of,
    principal,
)
from nacre.embed.fourier import row_frequencies
from nacre.rows import Row
from nacre.schema import Categorical, Code, Layout, Number, Real, Schema
from nacre.vault import Bound, Segment, Sum

LAYOUT = Layout(numbers=(Number("a", 9), Number("b", 2**40)), codes=(Code("c", 3), Code("y", 2)))
COLUMNS = [0, 1, 2]  # the last code is a label, and left out


def of(row):
    with jax.enable_x64(True):
        return np.asarray(covariance_features(LAYOUT, COLUMNS)(row), np.float64)


def bound(layout, columns):
    parts = covariance_segments(layout, columns)
    return Bound(segments=tuple(Segment(size=s, norm=n, signed=False) for s, n in parts), count=ONE)


@settings(deadline=None, max_examples=30)
@given(*[st.integers(-(2**31), 2**31 - 1)] * 3)
def test_no_row_exceeds_the_segments(a, b, code):
    values = of(Row(np.array([a, b], np.int32), np.array([code, 0], np.int32)))
    assert (values >= 0).all()
    start = 0
    for size, norm in covariance_segments(LAYOUT, COLUMNS):
        assert np.linalg.norm(values[start : start + size]) <= norm
        start += size
    assert start == len(values)


def test_the_bound_is_that_of_the_analysis_and_is_nearly_reached():
    most = np.array([number.positions for number in LAYOUT.numbers], np.int32)
    values = of(Row(most, np.zeros(2, np.int32)))
    without = Bound(segments=bound(LAYOUT, COLUMNS).segments)
    assert without.sensitivity("add-remove") == pytest.approx(ONE * np.sqrt(3 + 9))
    assert np.linalg.norm(values) == pytest.approx(ONE * np.sqrt(3 + 9), rel=2e-3)


def test_it_is_the_covariance_and_pca_finds_its_leading_direction():
    rng = np.random.default_rng(0)
    n = 5000
    shared = rng.normal(0, 0.12, n)
    a, b = (np.clip(0.5 + shared + rng.normal(0, 0.03, n), 0, 1) for _ in range(2))
    schema = Schema(
        {
            "a": Real(low=0, high=1),
            "b": Real(low=0, high=1),
            "c": Categorical(values=("x", "y", "z")),
        }
    )
    table = pa.table({"a": a, "b": b, "c": rng.choice(["x", "y"], n, p=[0.97, 0.03])})
    layout, columns = schema.layout, [0, 1, 2]
    question = Sum(name="c", share=1.0, bound=bound(layout, columns))
    vault = open_vault(table, schema, question, epsilon=50, delta=1e-6)
    sums = vault.sum(question, covariance_features(layout, columns))
    found = covariance(sums.values[0], sums.total, 5)
    hot = np.asarray(table["c"])[:, None] == np.array(["x", "y", "z"])
    wanted = np.cov(np.column_stack([a, b, hot]).T, bias=True)
    np.testing.assert_allclose(found, wanted, atol=4e-3)
    directions, variances = principal(found, 2)
    assert variances[0] > variances[1] >= 0
    expected = np.linalg.eigh(wanted)[1][:, np.argsort(np.linalg.eigvalsh(wanted))[-1]]
    assert abs(directions[0] @ expected) > 0.95


def test_frequencies_on_a_projection_see_the_projected_row():
    rng = np.random.default_rng(0)
    places = len(places_of(LAYOUT, COLUMNS))
    directions = np.linalg.qr(rng.normal(size=(places, 2)))[0].T
    drawn = row_frequencies(
        LAYOUT, width=500, blocks=2, columns=COLUMNS, scale=3.0, rng=rng, directions=directions
    )
    flat = drawn.matrix.reshape(-1, drawn.matrix.shape[2])
    assert not flat[:, places:].any()  # the label's places
    inside = flat[:, :places] @ directions.T
    np.testing.assert_allclose(inside @ directions, flat[:, :places], atol=1e-12)
    assert inside.std() == pytest.approx(3.0, rel=0.1)
