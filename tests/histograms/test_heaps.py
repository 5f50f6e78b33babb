"""Heaped numbers: multiples of round steps are drawn where they are, and nowhere else."""

import dataclasses

import jax
import numpy as np
import pytest

from nacre.embed.marginals import cell_places
from nacre.embed.rounds import round_features
from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.cells import table_columns
from nacre.histograms.heaps import Heaps, classes, find_heaps, heaped
from nacre.histograms.histograms import Histograms
from nacre.rows.table import Row
from nacre.schema import Boolean, Datetime, Integer, Real, Schema

NOISE, ROWS, WEIGHT = 60.0, 20_000, 7
SCHEMA = Schema(
    {
        "amount": Real(low=-50, high=10_000_000, decimals=2),
        "price": Real(low=0, high=100_000, decimals=2, nullable=True),
        "smooth": Integer(low=3, high=1_000_000),
        "short": Integer(low=0, high=20),
        "dense": Real(low=0, high=1),
        "long": Integer(low=0, high=2**40),
        "flag": Boolean(),
    }
)
LAYOUT = SCHEMA.layout
COLUMNS = table_columns(LAYOUT, None, 512)
CHOSEN = heaped(COLUMNS, LAYOUT)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    part, amount = rng.random(ROWS), rng.lognormal(9, 1.2, ROWS)
    coarse = np.select([part < 0.8, part < 0.95], [10_000, 100], 1)
    fine = np.where(rng.random(ROWS) < 0.6, 25, 1)
    numbers = np.zeros((ROWS, 6))
    numbers[:, 0] = 5000 + (amount * 100 / coarse).round() * coarse
    numbers[:, 1] = (rng.lognormal(5, 1, ROWS) * 100 / fine).round() * fine
    numbers[:, 2] = rng.lognormal(9, 1.2, ROWS).round().clip(0, 10**6 - 3)
    codes = np.zeros((ROWS, 2))
    codes[:1000, 0] = 1  # the price is missing
    return Row(numbers.clip(0, 10**9).astype(np.int32), codes.astype(np.int32))


@pytest.fixture(scope="module")
def counts(rows):
    """Exact counts by class, as the vault adds them up."""
    places, sizes = cell_places(LAYOUT, COLUMNS), classes(COLUMNS, LAYOUT, CHOSEN)
    features = round_features(places, COLUMNS, LAYOUT, CHOSEN, WEIGHT)
    index, weight = map(np.asarray, jax.vmap(features)(rows))
    assert (index[:, 1:] > index[:, :-1]).all()  # or the vault would count no row
    found = np.bincount(index.ravel(), weight.ravel(), sum(sizes)) / WEIGHT
    return dict(zip(CHOSEN, np.split(found, np.cumsum(sizes)[:-1]), strict=True))


@pytest.fixture(scope="module")
def histograms(rows):
    found = np.asarray(jax.vmap(cell_places(LAYOUT, COLUMNS))(rows))
    exact = np.bincount(found.ravel(), minlength=sum(column.size for column in COLUMNS))
    noise = np.random.default_rng(1).normal(0, 15, exact.shape)
    return Histograms.of(COLUMNS, (exact + noise)[None], 15.0)


@pytest.fixture(scope="module")
def heaps(histograms, counts):
    rng = np.random.default_rng(2)
    noisy = {place: c + rng.normal(0, NOISE, c.shape) for place, c in counts.items()}
    return find_heaps(histograms, LAYOUT, Atoms.none(), noisy, NOISE)


def draw(heaps, rows, number, seed=0):
    cells = COLUMNS[number].cells
    cell = np.searchsorted(cells.low, rows.numbers[:, number], side="right") - 1
    rng = np.random.default_rng(seed)
    made = heaps.draw(number, cells, cell, cells.draw(cell, rng), rng)
    assert ((cells.low[cell] <= made) & (made <= cells.high[cell])).all()
    return made


def test_only_wide_cells_of_exact_ticks_are_asked_about():
    assert CHOSEN == (0, 1, 2)  # not 'long', of whose ticks a row shows the leading bits only


def test_steps_are_those_of_values_not_of_ticks():
    assert (500, 0) in LAYOUT.numbers[0].rounds  # -50 is a multiple of 5
    assert (1000, 997) in LAYOUT.numbers[2].rounds  # 1,000 is 997 after 3
    moments = Datetime(low="2024-01-01T00:30", high="2024-12-31", step="15min")
    assert moments.rounds == ((2, 0), (4, 2), (96, 94))


def test_a_row_counts_by_the_widest_step_it_is_on(rows, counts):
    wide = COLUMNS[0].cells.widths > 1
    tick = rows.numbers[:, 0]
    tick = tick[wide[np.searchsorted(COLUMNS[0].cells.low, tick, side="right") - 1]]
    steps = np.array(LAYOUT.numbers[0].rounds)
    on = (tick[:, None] - steps[:, 1]) % steps[:, 0] == 0
    widest = np.where(on, np.arange(1, len(steps) + 1), 0).max(1)  # of two as wide, it is on one
    wanted = np.bincount(widest, minlength=len(steps) + 1)
    np.testing.assert_array_equal(counts[0], wanted)
    assert counts[1].sum() <= ROWS - 1000  # what is missing does not count


def test_shares_of_multiples_are_kept(heaps, rows):
    amount, made = rows.numbers[:, 0] - 5000, draw(heaps, rows, 0) - 5000
    for step in (10_000, 100):
        assert abs((made % step == 0).mean() - (amount % step == 0).mean()) < 0.02
    price, made = rows.numbers[1000:, 1], draw(heaps, rows, 1)
    assert abs((made % 25 == 0).mean() - (price % 25 == 0).mean()) < 0.025


def test_smooth_numbers_stay_smooth(heaps):
    assert not (heaps.places[:, 0] == 2).any()


def test_single_values_are_not_counted_twice(histograms, counts):
    """If all that is heaped lies at a single value, the rest of its cell is smooth."""
    cells = COLUMNS[2].cells
    cell = int(histograms.cleaned[2].sum(0)[: cells.size].argmax())
    tick = int(cells.low[cell] + (97 - cells.low[cell]) % 100)
    assert tick <= cells.high[cell]
    rows = float(histograms.cleaned[2].sum(0)[cell])
    own = counts[2] * (1 - rows / ROWS / 2)
    widest = [place for place, (e, s) in enumerate(LAYOUT.numbers[2].rounds, 1) if tick % e == s]
    own[max(widest)] += rows / 2
    none = np.zeros((0, 3), np.int64)
    assert len(find_heaps(histograms, LAYOUT, Atoms.none(), {2: own}, 10.0).places)
    atoms = Atoms(np.array([[2, cell, tick]]), np.array([0.5], np.float32))
    np.testing.assert_array_equal(
        find_heaps(histograms, LAYOUT, atoms, {2: own}, 10.0).places, none
    )


@pytest.mark.parametrize(("most", "closed"), [(400, (5, 6)), (1500, (5, 6)), (400, ())])
def test_days_of_the_week_are_kept(most, closed):
    """In cells of a week and of several days; without closed days every day is alike."""
    schema = Schema({"day": Datetime(low="2024-01-01", high=f"{2024 + most // 365}-12-30")})
    layout, rng = schema.layout, np.random.default_rng(0)
    columns = table_columns(layout, None, 512)
    cells = columns[0].cells
    days = rng.integers(0, layout.limits[0], ROWS, endpoint=True)
    days = days[~np.isin(days % 7, closed)]
    cell = np.searchsorted(cells.low, days, side="right") - 1
    counts = np.bincount(cell, minlength=cells.size).astype(float)
    histograms = Histograms.of(columns, counts[None] + rng.normal(0, 10, (1, cells.size)), 10.0)
    wide = days[cells.widths[cell] > 1]
    found = np.r_[0, np.bincount(wide % 7, minlength=7)] + rng.normal(0, NOISE, 8)
    heaps = find_heaps(histograms, layout, Atoms.none(), {0: found}, NOISE)
    heaps.check(layout)
    made = heaps.draw(0, cells, cell, cells.draw(cell, rng), rng)
    here, there = (np.bincount(each % 7, minlength=7) / len(days) for each in (made, days))
    assert np.abs(here - there).sum() < 0.06
    assert ((made >= cells.low[cell]) & (made <= cells.high[cell])).all()


def test_prices_end_as_they_do():
    """A third at .99, a fifth at whole amounts, the others anywhere."""
    schema = Schema({"price": Real(low=-2000, high=9000, decimals=2)})
    layout, rng = schema.layout, np.random.default_rng(2)
    columns = table_columns(layout, None, 512)
    cells, part = columns[0].cells, rng.random(ROWS)
    cents = (rng.lognormal(3.5, 1, ROWS) * 100).round().astype(np.int64).clip(0, 900_000)
    end = np.select([part < 0.33, part < 0.53], [99, 0], cents % 100)
    ticks = 200_000 + cents // 100 * 100 + end
    cell = np.searchsorted(cells.low, ticks, side="right") - 1
    counts = np.bincount(cell, minlength=cells.size) + rng.normal(0, 20, cells.size)
    steps = np.array(layout.numbers[0].rounds)
    on = (ticks[:, None] - steps[:, 1]) % steps[:, 0] == 0
    widest = np.where(on, np.arange(1, len(steps) + 1), 0).max(1)[cells.widths[cell] > 1]
    found = np.bincount(widest, minlength=len(steps) + 1) + rng.normal(0, NOISE, len(steps) + 1)
    histograms = Histograms.of(columns, counts[None], 20.0)
    heaps = find_heaps(histograms, layout, Atoms.none(), {0: found}, NOISE)
    heaps.check(layout)
    made = heaps.draw(0, cells, cell, cells.draw(cell, rng), rng)
    for end in (99, 0):
        assert abs((made % 100 == end).mean() - (ticks % 100 == end).mean()) < 0.03


@pytest.mark.parametrize("rows", [0, 60, 300])
def test_noise_makes_no_days_of_the_week(rows):
    schema = Schema({"day": Datetime(low="2024-01-01", high="2025-12-30")})
    layout, rng = schema.layout, np.random.default_rng(1)
    columns = table_columns(layout, None, 512)
    cells = columns[0].cells
    found = []
    for _ in range(50):
        days = rng.integers(0, layout.limits[0], rows, endpoint=True)
        cell = np.searchsorted(cells.low, days, side="right") - 1
        counts = np.bincount(cell, minlength=cells.size) + rng.normal(0, 10, cells.size)
        week = np.r_[0, np.bincount(days % 7, minlength=7)] + rng.normal(0, NOISE, 8)
        histograms = Histograms.of(columns, counts[None], 10.0)
        heaps = find_heaps(histograms, layout, Atoms.none(), {0: week}, NOISE)
        found.append(len(heaps.weights))
    assert not any(found)


def test_heaps_of_a_file_are_checked(heaps):
    heaps.check(LAYOUT)
    Heaps.none().check(LAYOUT)
    places = heaps.places
    for other in (
        places + np.array([10, 0, 0]),
        places * [1, 0, 1],
        places * [1, 10**6, 1],
        places[::-1],
    ):
        with pytest.raises(NacreError):
            dataclasses.replace(heaps, places=other).check(LAYOUT)
    with pytest.raises(NacreError):
        dataclasses.replace(heaps, weights=heaps.weights[1:]).check(LAYOUT)
