"""Single values inside heavy cells: found where they are, and nowhere else."""

import dataclasses

import jax
import numpy as np
import pytest

from nacre.embed.marginals import cell_places
from nacre.embed.ticks import tick_features
from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms, find_atoms
from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.histograms.look import Look, looked_at
from nacre.rows.table import Row
from nacre.schema import Boolean, Integer, Real, Schema

NOISE, ROWS = 15.0, 20_000
SCHEMA = Schema(
    {
        "few": Integer(low=0, high=50_000),
        "hundreds": Integer(low=0, high=20_000),
        "smooth": Integer(low=0, high=10_000),
        "short": Integer(low=0, high=20),
        "dense": Real(low=0, high=1),
        "flag": Boolean(),
    }
)
COLUMNS = table_columns(SCHEMA.layout, None, 512)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    numbers = np.stack(
        [
            rng.choice(rng.integers(0, 50_000, 11), ROWS),
            (rng.lognormal(7.5, 0.4, ROWS) / 100).round().clip(0, 200) * 100,
            rng.normal(5000, 1500, ROWS).clip(0, 10_000),
            rng.integers(0, 21, ROWS),
            rng.integers(0, 2**29, ROWS),
        ],
        axis=1,
    )
    return Row(numbers.astype(np.int32), rng.integers(0, 2, (ROWS, 1)).astype(np.int32))


@pytest.fixture(scope="module")
def histograms(rows):
    places = cell_places(SCHEMA.layout, COLUMNS)
    found = np.asarray(jax.vmap(places)(rows))
    counts = np.bincount(found.ravel(), minlength=sum(column.size for column in COLUMNS))
    noise = np.random.default_rng(1).normal(0, NOISE, counts.shape)
    return Histograms.of(COLUMNS, (counts + noise)[None], NOISE)


@pytest.fixture(scope="module")
def look(histograms):
    return Look.of(histograms, (0, 1, 2), room=100_000, noise=2 * NOISE)


@pytest.fixture(scope="module")
def counts(rows, look):
    """Exact counts of ticks, as the vault adds them up."""
    places = cell_places(SCHEMA.layout, COLUMNS)
    weights = look.weights(4096)
    index, weight = jax.vmap(tick_features(places, COLUMNS, look.starts, weights))(rows)
    index = np.asarray(index)
    assert (index[:, 1:] > index[:, :-1]).all()  # or the vault would count no row
    found = np.bincount(index.ravel(), np.asarray(weight).ravel(), look.size)
    for span, each in zip(look.spans(), weights, strict=True):
        found[span] /= each
    return found


@pytest.fixture(scope="module")
def atoms(histograms, look, counts):
    noisy = counts + np.random.default_rng(2).normal(0, 2 * NOISE, counts.shape)
    return find_atoms(histograms, look, noisy, np.full(len(look.starts), 2.0 * NOISE))


def test_only_wide_cells_of_exact_ticks_are_looked_into():
    assert looked_at(COLUMNS, SCHEMA.layout, 50_000) == (0, 1, 2)
    assert looked_at(COLUMNS, SCHEMA.layout, 1) == ()


def test_a_row_is_counted_at_its_own_tick(rows, look, counts):
    for place, starts in look.starts.items():
        cells = COLUMNS[place].cells
        for cell in np.flatnonzero(starts >= 0)[:5]:
            ticks = np.arange(cells.low[cell], cells.high[cell] + 1)
            own = np.bincount(rows.numbers[:, place], minlength=ticks[-1] + 1)[ticks]
            np.testing.assert_array_equal(counts[starts[cell] : starts[cell] + len(ticks)], own)


def test_where_no_cell_is_heavy_one_is_looked_into(histograms):
    assert (
        sum(
            (at >= 0).sum()
            for at in Look.of(histograms, (0, 1, 2), room=500, noise=10**6).starts.values()
        )
        == 1
    )


def test_the_room_is_kept(histograms):
    small = Look.of(histograms, (0, 1, 2), room=500, noise=2 * NOISE)
    assert 0 < small.size <= 500


def test_weights_fill_the_norm_and_no_more(look):
    weights = look.weights(4096)
    assert 4000 < np.sqrt((weights**2).sum()) <= 4096
    closer = [place in look.few for place in look.starts]
    assert len(set(weights[closer])) <= 1
    assert [span.stop - span.start for span in look.spans()] == [
        sum(COLUMNS[place].cells.widths[own[: COLUMNS[place].cells.size] >= 0])
        for place, own in look.starts.items()
    ]


def draw(atoms, rows, number, seed=0):
    cells = COLUMNS[number].cells
    cell = np.searchsorted(cells.low, rows.numbers[:, number], side="right") - 1
    rng = np.random.default_rng(seed)
    return atoms.draw(number, cell, cells.draw(cell, rng), rng)


def test_few_values_stay_few(atoms, rows):
    real, made = rows.numbers[:, 0], draw(atoms, rows, 0)
    assert np.isin(made, real).mean() > 0.99
    value = np.unique(real)[3]
    assert abs((made == value).mean() - (real == value).mean()) < 0.01


def test_a_step_goes_on_where_no_single_value_was_found(atoms, rows):
    made = draw(atoms, rows, 1)
    assert (made % 100 == 0).mean() > 0.99
    real = np.quantile(rows.numbers[:, 1], 0.99)
    assert abs(np.quantile(made, 0.99) - real) <= 200


def test_smooth_numbers_have_no_single_values(atoms):
    assert not (atoms.places[:, 0] == 2).any()


def test_a_spike_in_a_smooth_cell_is_no_sign_of_few_values(histograms):
    """Also where the number is taken for one that may have few: the rest stays where it was."""
    cells, rng = COLUMNS[2].cells, np.random.default_rng(4)
    mass = np.where(cells.widths > 1, 80.0, 0.0)
    mass[100] += 3_000
    even = dataclasses.replace(histograms, cleaned=[*histograms.cleaned[:2], mass[None]])
    starts = np.where(cells.widths > 1, np.cumsum(cells.widths) - cells.widths, -1).astype(int)
    look = Look({2: starts}, int(cells.widths.sum()), {2: mass > 1_000}, frozenset({2}))
    counts = np.repeat(80.0 / cells.widths, cells.widths.astype(int))
    counts[starts[100] + 3] += 3_000
    noisy = counts + rng.normal(0, NOISE, counts.shape)
    found = find_atoms(even, look, noisy, np.array([float(NOISE)]))
    assert found.places.tolist() == [[2, 100, int(cells.low[100]) + 3]]
    assert found.shares[0] == pytest.approx(3_000 / 3_080, abs=0.05)


def test_each_atom_has_its_share_and_the_rest_of_the_cell_the_rest():
    places = np.array([[0, 3, 40], [0, 3, 45], [0, 5, 77]])
    some = Atoms(places, np.array([0.2, 0.3, 0.6], np.float32))
    cell, drawn = np.repeat([3, 4, 5, 6], 10_000), np.full(40_000, -1)
    found = some.draw(0, cell, drawn, np.random.default_rng(0))
    for which, tick, share in (
        (3, 40, 0.2),
        (3, 45, 0.3),
        (3, -1, 0.5),
        (5, 77, 0.6),
        (5, -1, 0.4),
    ):
        assert abs((found[cell == which] == tick).mean() - share) < 0.03
    assert (found[(cell == 4) | (cell == 6)] == -1).all()
    assert (some.draw(1, cell, drawn, np.random.default_rng(0)) == -1).all()


def test_atoms_of_a_file_are_checked(atoms):
    sizes = tuple(column.size for column in COLUMNS)
    atoms.check(SCHEMA.layout, sizes)
    Atoms.none().check(SCHEMA.layout, sizes)
    beyond = atoms.places.copy()
    beyond[-1, 2] = 10**6
    outside = atoms.places.copy()
    outside[-1, 1] = 10**6
    for places, shares in (
        (beyond, atoms.shares),
        (outside, atoms.shares),
        (atoms.places[::-1], atoms.shares),
        (atoms.places, atoms.shares[1:]),
    ):
        with pytest.raises(NacreError):
            dataclasses.replace(atoms, places=places, shares=shares).check(SCHEMA.layout, sizes)
