"""Maps of numbers: there and back, less class means, none by quantiles for protected columns."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.ppem.scaling import FARTHEST, bought_scaling, put_back, schema_scaling
from nacre.schema import Code, Layout, Number

LAYOUT = Layout((Number("x", 10_000, 0), Number("y", 30)), (Code("z", 2),))
COLUMNS = table_columns(LAYOUT, 0, 256)


def counts(units, classes):
    """Exact histograms (2, all cells) of units (n, 2) by class."""
    found = []
    for own in (0, 1):
        parts = []
        for column in COLUMNS:
            ticks = np.rint(units[classes == own, column.number] * LAYOUT.limits[column.number])
            cells = np.searchsorted(column.cells.low, ticks, side="right") - 1
            parts.append(np.bincount(cells, minlength=column.cells.size))
        found.append(np.concatenate(parts))
    return np.array(found, float)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    classes = (rng.random(40_000) < 0.05).astype(int)
    x = np.clip(np.where(classes, 0.5, 0.02) + 0.01 * rng.standard_exponential(40_000), 0, 1)
    return np.stack([x, rng.integers(0, 31, 40_000) / 30], axis=1), classes


def scaled(scaling, units, groups):
    step = jax.jit(jax.vmap(lambda u, g: scaling.forward(u, (0, 1), g)))
    return np.asarray(step(jnp.asarray(units, jnp.float32), jnp.asarray(groups)))


def made(data, **more):
    values = counts(*data).sum(0, keepdims=True)
    facts = {"quantiles": True, "schema_only": False, "hidden": (), **more}
    return bought_scaling(
        Histograms.of(COLUMNS, values, 0.0), LAYOUT.limits, facts.pop("hidden"), **facts
    )


def test_numbers_become_normal_and_come_back(data):
    units, classes = data
    scaling = made(data)
    found = scaled(scaling, units, np.zeros_like(classes))
    assert np.abs(found.mean(0)).max() < 0.1
    assert np.abs(found.std(0) - 1).max() < 0.15
    back = scaling.backward(found.astype(float), (0, 1), np.zeros_like(classes))
    assert np.quantile(np.abs(back - units)[:, 0], 0.95) < 0.005
    assert np.array_equal(np.rint(back[:, 1] * 30), np.rint(units[:, 1] * 30))


def test_means_of_classes_are_taken_off_and_put_back(data):
    units, classes = data
    plain = made(data)
    found = scaled(plain, units, np.zeros_like(classes))
    rows = np.bincount(classes)
    sums = np.stack([found[classes == own].sum(0) for own in (0, 1)])
    scaling = plain.with_means(sums, rows, 0.0, label=0)
    assert scaling.means[1, 0] > 1.5 > 0.2 > abs(scaling.means[0, 0])
    moved = scaled(scaling, units, classes)
    for own in (0, 1):
        assert np.abs(moved[classes == own].mean(0)).max() < 0.01
    back = scaling.backward(moved.astype(float), (0, 1), classes)
    assert np.quantile(np.abs(back - units)[:, 0], 0.95) < 0.005
    # Means that noise could have made are shrunk to nothing; those of many rows stay.
    noisy = plain.with_means(sums, rows, 5e3, label=0)
    np.testing.assert_array_equal(noisy.means[1], 0.0)


def test_of_protected_numbers_only_mean_and_deviation_are_used(data):
    scaling = made(data, hidden=(0,))
    steps = np.diff(scaling.values[0]) / np.diff(scaling.positions[0])
    np.testing.assert_allclose(steps, steps[0])  # a straight line
    found = scaled(scaling, *data)[:, 0]
    assert abs(found.mean()) < 0.05 and abs(found.std() - 1) < 0.1
    bare = made(data, hidden=(0,), schema_only=True)
    np.testing.assert_array_equal(bare.values[0], schema_scaling(1).values[0])


def test_moments_keep_straight_lines_and_quantiles_bend_them(data):
    units = np.linspace(0.02, 0.06, 50)
    steps = {}
    for quantiles in (False, True):
        pairs = np.stack([units, np.zeros(50)], axis=1)
        found = scaled(made(data, quantiles=quantiles), pairs, np.zeros(50, int))[:, 0]
        steps[quantiles] = np.diff(found)
    assert np.ptp(steps[False]) < 1e-3 * steps[False].mean()
    assert steps[True].max() > 5 * steps[True].min()


def test_generated_numbers_are_given_their_bought_distribution(data):
    units = data[0][:, 0]
    bought, plain = made(data), made(data, quantiles=False)
    rng = np.random.default_rng(1)
    drawn = 3.0 + 2.0 * rng.standard_t(4, 60_000)  # far from what was bought
    scaling = put_back(plain, bought, {0: drawn})
    np.testing.assert_array_equal(scaling.values[1], plain.values[1])  # of no other number
    np.testing.assert_array_equal(scaling.positions[1], plain.positions[1])
    found = scaling.backward(drawn[:, None], (0,), np.zeros(len(drawn), int))[:, 0]
    at = np.concatenate([np.linspace(0.02, 0.1, 9), np.linspace(0.45, 0.6, 9)])
    shares = [(values[:, None] < at).mean(0) for values in (found, units)]
    assert np.abs(shares[0] - shares[1]).max() < 0.03  # within a cell, of which there are 256
    assert found.std() == pytest.approx(units.std(), rel=0.05)
    assert (np.diff(scaling.values) > 0).all()
    # Too few rows to tell: as it was.
    kept = put_back(plain, bought, {0: drawn[:5]})
    np.testing.assert_array_equal(kept.values, plain.values)


@pytest.mark.parametrize("mass", ["none", "one cell", "an end"])
def test_any_histogram_gives_an_increasing_map(mass):
    values = np.zeros((1, sum(column.size for column in COLUMNS)))
    if mass != "none":
        values[:, 100 if mass == "one cell" else 0] = 1000.0
    scaling = bought_scaling(
        Histograms.of(COLUMNS, values, 30.0), LAYOUT.limits, (), quantiles=True, schema_only=False
    )
    assert (np.diff(scaling.positions) >= 0).all() and (np.diff(scaling.values) > 0).all()
    found = scaled(scaling, np.random.default_rng(0).random((50, 2)), np.zeros(50, int))
    assert np.isfinite(found).all() and np.abs(found).max() <= FARTHEST
