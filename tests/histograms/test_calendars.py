"""Dates that lie on some days of weeks and months: counted, fitted and drawn so."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nacre.embed.marginals import cell_places
from nacre.embed.rounds import date_tick, round_features
from nacre.errors import NacreError
from nacre.histograms.atoms import Atoms
from nacre.histograms.calendars import (
    Calendars,
    Days,
    classes_of,
    dated,
    fitted,
    replaced,
    with_combs,
)
from nacre.histograms.cells import table_columns
from nacre.histograms.day_counts import DayCounts
from nacre.histograms.draw import decode
from nacre.histograms.heaps import classes, heaped
from nacre.histograms.histograms import Histograms
from nacre.histograms.tied import Inside
from nacre.rows import TableEncoder
from nacre.rows.table import Row
from nacre.schema import Datetime, Integer, Schema
from nacre.schema.calendar import (
    CLASSES,
    LAST,
    MONTH,
    PARTS,
    WEEK,
    YEAR,
    month_class,
    month_of_year,
    weekday,
)

N = 20_000
ENDS = {"low": "2019-01-01", "high": "2024-12-31"}
SCHEMA = Schema(
    {
        "applied": Datetime(**ENDS, nullable=True),
        "start": Datetime(low="2019-01-01", high="2025-12-31"),
        "ended": Datetime(**ENDS, nullable=True),
        "short": Datetime(low="2019-01-01", high="2019-03-01"),
        "hours": Datetime(**ENDS, step="1h"),
        "ages": Datetime(low="0001-01-01", high="9999-12-31"),
        "rent": Integer(low=0, high=100_000),
    },
    constraints=("applied <= start", "start <= ended"),
)
ENCODER = TableEncoder.of(SCHEMA)
LAYOUT = ENCODER.layout
COLUMNS = table_columns(LAYOUT, None, 512)
DATES = dated(COLUMNS, LAYOUT)


def name(place):
    return LAYOUT.numbers[place].name


def test_dates_of_many_weeks_have_days_also_where_they_are_distances():
    assert [name(place) for place in DATES] == ["applied", "start", "ended", "hours"]
    assert [classes_of(COLUMNS[p], LAYOUT) for p in DATES] == [37, 42, 37, 42]
    # Distances in steps that are no days end on no day.
    columns = {"a": Datetime(**ENDS, step="1h"), "b": Datetime(**ENDS, step="1h")}
    other = TableEncoder.of(Schema(columns, constraints=["a <= b"])).layout
    assert [number.day is None for number in other.numbers if number.name == "b"] == [True]


@pytest.fixture(scope="module")
def rows():
    """Encoded rows, with the ticks of the dates as people see them beside."""
    rng = np.random.default_rng(1)
    start = rng.integers(0, 2557, N)
    applied = np.maximum(start - rng.integers(0, 300, N), 0).clip(max=2191)
    ended = np.minimum(start + rng.integers(0, 900, N), 2191)
    ended = np.maximum(ended, start.clip(max=2191))
    number, code = LAYOUT.number, LAYOUT.code
    ticks = np.zeros((N, len(LAYOUT.numbers)), np.int64)
    ticks[:, number("start")], ticks[:, number("rent")] = start, rng.integers(0, 10**5, N)
    ticks[:, number("applied")] = np.clip(start - applied, 0, None)
    ticks[:, number("ended")] = np.clip(ended - start, 0, None)
    codes = np.zeros((N, len(LAYOUT.codes)), np.int64)
    codes[:3000, code("ended", "missing")] = 1
    codes[2000:2500, code("applied", "missing")] = 1
    return Row(ticks.astype(np.int32), codes.astype(np.int32)), applied, start, ended


def test_what_is_counted_is_each_row_s_own_calendar_day(rows):
    row, applied, start, ended = rows
    places, chosen = cell_places(LAYOUT, COLUMNS), heaped(COLUMNS, LAYOUT)
    features = round_features(places, COLUMNS, LAYOUT, chosen, 3, DATES)
    index, weight = map(np.asarray, jax.vmap(features)(row))
    assert (np.diff(index, axis=1) > 0).all()  # or the vault would count no row
    steps = sum(classes(COLUMNS, LAYOUT, chosen))
    sizes = [classes_of(COLUMNS[p], LAYOUT) for p in DATES]
    total = np.bincount(index.ravel(), weight.ravel(), steps + sum(sizes)) / 3
    parts = np.split(total[steps:], np.cumsum(sizes)[:-1])
    day = (np.datetime64("2019-01-01") - np.datetime64("1970-01-01")).astype(int)
    there = np.ones((3, N), bool)
    there[0, 2000:2500] = there[2, :3000] = False
    for part, ticks, own in zip(parts, (applied, start, ended), there, strict=False):
        fits = own & (ticks >= 0)
        wanted = np.bincount(month_class(day + ticks[fits]), minlength=MONTH)
        assert (part[:MONTH] == wanted).all()
        of = weekday if len(part) == MONTH + WEEK else month_of_year
        wanted = np.bincount(of(day + ticks[fits]), minlength=len(part) - MONTH)
        assert (part[MONTH:] == wanted).all()
    # One of each number, and two more of each date.
    assert ((weight > 0).sum(1) <= len(chosen) + 2 * 4).all()


def test_hostile_positions_stay_within_bounds():
    most = np.iinfo(np.int32).max
    for value in (-most, -1, 0, 2191, 10**9, most):
        row = Row(jnp.full(len(LAYOUT.numbers), value), jnp.full(len(LAYOUT.codes), 7))
        for place in DATES:
            number = LAYOUT.numbers[place]
            limit = number.tie.line.ticks if number.tie else number.ticks
            assert 0 <= int(date_tick(row, LAYOUT, place)) <= limit


def test_weights_meet_all_margins():
    days, rng = Days(17_000, 2000), np.random.default_rng(3)
    density, truth = rng.random(2000) + 1, rng.random(CLASSES)
    targets = days.sums(density * days.weights(truth))
    own = fitted(targets, lambda own: days.sums(density * days.weights(own)))
    for found, wanted in zip(days.sums(density * days.weights(own)), targets, strict=True):
        assert found / found.sum() == pytest.approx(wanted / wanted.sum(), abs=1e-4)
    none = targets[0], targets[1] * (np.arange(MONTH) > 0), targets[2]
    own = fitted(none, lambda own: days.sums(density * days.weights(own)))
    assert own[WEEK] == own.min() < 1e-5 < own[PARTS[1]][1:].min()


# -- dates by themselves ------------------------------------------------------------------------

START = Datetime(low="2019-01-01", high="2025-12-31")
ALONE = Schema({"start": START, "rent": Integer(low=0, high=9)})
PLAIN = ALONE.layout
OWN = table_columns(PLAIN, None, 228)
CELLS = OWN[0].cells
DAYS = Days(PLAIN.numbers[0].day, PLAIN.numbers[0].ticks + 1)


def combed(rng, first=0.72, middle=0.12):
    """Dates of more and more contracts: firsts of a month, 15ths, and the rest."""
    month = DAYS.month
    weights = np.linspace(0.7, 1.3, DAYS.size) * np.where(month == 0, first, 0) * 30
    weights += np.linspace(0.7, 1.3, DAYS.size) * np.where(month == 14, middle, 0) * 30
    weights += np.linspace(0.7, 1.3, DAYS.size) * (1 - first - middle)
    return rng.choice(DAYS.size, 9000, p=weights / weights.sum())


def released(ticks, rng, noise=18.0, days=110.0):
    cell = np.searchsorted(CELLS.low, ticks, side="right") - 1
    exact = np.concatenate([np.bincount(cell, minlength=CELLS.size), np.full(10, 900)])
    histograms = Histograms.of(OWN, (exact + rng.normal(0, noise, len(exact)))[None], noise)
    exact = DAYS.sums(np.bincount(ticks, minlength=DAYS.size).astype(float))
    week, month, year = (part + rng.normal(0, days, len(part)) for part in exact)
    return histograms, DayCounts((week, month, year), days)


def nothing(place, expected):
    return np.zeros(0, np.int64), np.zeros(0)


def drawn(histograms, calendars, rng, atoms=None):
    mass = histograms.cleaned[0].sum(0)
    cell = rng.choice(len(mass), N, p=mass / mass.sum())
    cells = np.stack([cell, np.zeros(N, int)], axis=1)
    rows = decode(cells, np.zeros(N, int), OWN, None, PLAIN, rng, atoms=atoms, calendars=calendars)
    assert (np.searchsorted(CELLS.low, rows.ticks[:, 0], side="right") - 1 == cell).all()
    return rows.ticks[:, 0]


@pytest.mark.parametrize("seed", range(4))
def test_a_comb_that_the_smooth_histogram_lost_is_drawn(seed):
    rng = np.random.default_rng(seed)
    ticks = combed(rng)
    histograms, counts = released(ticks, rng)
    after, calendars, single = with_combs(histograms, PLAIN, {0: counts}, nothing)
    assert calendars.numbers.tolist() == [0] and not len(single[0][1])
    calendars.check(PLAIN)
    assert after.cleaned[0].sum() == pytest.approx(histograms.cleaned[0].sum())
    assert (after.cleaned[1] == histograms.cleaned[1]).all()
    flat = DAYS.month[drawn(histograms, Calendars.none(), rng)]
    found = drawn(after, calendars, rng)
    month = DAYS.month[found]
    assert (flat == 0).mean() < 0.1
    for day in (0, 14):
        assert (month == day).mean() == pytest.approx((DAYS.month[ticks] == day).mean(), abs=0.06)
    assert np.quantile(found, [0.1, 0.5, 0.9]) == pytest.approx(
        np.quantile(ticks, [0.1, 0.5, 0.9]), abs=65
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_season_that_the_smooth_histogram_lost_is_drawn(seed):
    rng = np.random.default_rng(seed)
    wanted = 1 + 0.5 * np.cos(2 * np.pi * (np.arange(YEAR) - 0.5) / YEAR)
    weights = wanted[DAYS.year] * np.linspace(0.7, 1.3, DAYS.size)
    ticks = rng.choice(DAYS.size, 9000, p=weights / weights.sum())
    histograms, counts = released(ticks, rng, noise=60.0, days=90.0)
    after, calendars, _ = with_combs(histograms, PLAIN, {0: counts}, nothing)
    assert calendars.numbers.tolist() == [0]
    real, before, now = (
        np.bincount(DAYS.year[each], minlength=YEAR) / len(each)
        for each in (ticks, drawn(histograms, Calendars.none(), rng), drawn(after, calendars, rng))
    )
    kept = [np.polyfit(real - 1 / YEAR, each - 1 / YEAR, 1)[0] for each in (before, now)]
    assert kept[0] < 0.8 < kept[1] < 1.25


@pytest.mark.parametrize("seed", range(4))
def test_dates_without_a_pattern_change_nothing(seed):
    rng = np.random.default_rng(seed)
    histograms, counts = released(rng.integers(0, DAYS.size, 9000), rng)
    after, calendars, single = with_combs(histograms, PLAIN, {0: counts}, nothing)
    assert after is histograms and not len(calendars.numbers) and not single


RARE = {
    "firsts": DAYS.month == 0,
    "firsts of one year": (DAYS.month == 0) & (np.arange(DAYS.size) < 365),
    "a month's working days": (DAYS.week < 5) & (DAYS.year == 1),
    "Tuesdays": DAYS.week == 1,
    "one day": np.arange(DAYS.size) == 400,
}


@pytest.mark.parametrize("noise", [0.0, 3.0, 90.0])
@pytest.mark.parametrize("days", RARE)
def test_dates_on_few_days_have_weights_or_none_but_no_error(days, noise):
    """Counts with noise ask for what no days can be; the fit would fail after the release."""
    rng = np.random.default_rng(0)
    ticks = rng.choice(np.flatnonzero(RARE[days]), 20_000)
    histograms, counts = released(ticks, rng, noise=noise, days=noise)
    after, calendars, _ = with_combs(histograms, PLAIN, {0: counts}, nothing)
    calendars.check(PLAIN)
    assert np.isfinite(after.cleaned[0]).all()
    found = drawn(after, calendars, rng)
    if len(calendars.numbers) and days != "one day":
        assert RARE[days][found].mean() > 0.5 > 3 * RARE[days].mean() or days == "Tuesdays"


def test_a_single_date_stays_and_is_not_taken_for_a_pattern():
    rng = np.random.default_rng(0)
    spike = 731  # 2021-01-01
    ticks = np.where(rng.random(9000) < 0.2, spike, combed(rng, first=0.5))
    histograms, counts = released(ticks, rng)

    def singles(place, expected):
        noisy = np.bincount(ticks, minlength=DAYS.size) + rng.normal(0, 40, DAYS.size)
        sure = np.flatnonzero(noisy - expected > 200)
        return sure, noisy[sure]

    after, calendars, single = with_combs(histograms, PLAIN, {0: counts}, singles)
    cells, found, shares = single[0]
    assert spike in found
    other = np.array([[0, 5, 60], [0, 6, 70], [1, 3, 3]])
    atoms = replaced(Atoms(other, np.ones(3, np.float32)), {0: (cells, found, shares)})
    atoms.check(PLAIN, (CELLS.size, 10))
    assert [1, 3, 3] in atoms.places.tolist() and [0, 5, 60] not in atoms.places.tolist()
    again = drawn(after, calendars, rng, atoms)
    assert (again == spike).mean() == pytest.approx(0.2, abs=0.03)
    beside = DAYS.month[again[again != spike]] == 0
    assert beside.mean() == pytest.approx(0.5, abs=0.08)


def test_cells_whose_days_weigh_nothing_are_drawn_evenly():
    weights = np.zeros(DAYS.size)
    cell, rng = np.repeat(np.arange(CELLS.size), 3), np.random.default_rng(0)
    ticks = CELLS.draw(cell, rng)
    assert (Calendars.draw(CELLS, cell, weights, ticks, rng) == ticks).all()
    weights[CELLS.low[5]] = 1e-300
    found = Calendars.draw(CELLS, np.full(9, 5), weights, CELLS.draw(np.full(9, 5), rng), rng)
    assert ((found >= CELLS.low[5]) & (found <= CELLS.high[5])).all()


# -- dates that are distances -------------------------------------------------------------------


def test_distances_move_to_days_of_weight_inside_their_bins_and_bounds(rows):
    row, *_ = rows
    bins, rng = {}, np.random.default_rng(0)
    for place in range(3):
        size = COLUMNS[place].cells.size
        group = np.arange(size) * 9 // size
        bins[place] = Inside.of(COLUMNS[place], group, np.ones((1, size)))
    cells = np.asarray(jax.vmap(cell_places(LAYOUT, COLUMNS))(row))
    cells = cells - np.r_[0, np.cumsum([c.size for c in COLUMNS])[:-1]]
    week, month = np.r_[np.ones(5), 0, 0], np.r_[np.full(29, 0.02), 1.0]
    found = {
        LAYOUT.number("applied"): np.r_[week, np.ones(MONTH + YEAR)],
        LAYOUT.number("ended"): np.r_[np.ones(WEEK), month, np.ones(YEAR)],
    }
    calendars, none = Calendars.of(found), np.zeros(N, int)
    calendars.check(LAYOUT)
    before = decode(cells, none, COLUMNS, None, LAYOUT, np.random.default_rng(2), inside=bins)
    after = decode(
        cells,
        none,
        COLUMNS,
        None,
        LAYOUT,
        np.random.default_rng(2),
        inside=bins,
        calendars=calendars,
    )
    ends = [ENCODER.settle(each, rng) for each in (before, after)]
    assert (ends[1].valid >= ends[0].valid).all()
    applied, start, ended = (
        ends[1].ticks[:, SCHEMA.layout.number(n)] for n in ("applied", "start", "ended")
    )
    there = ~ends[1].missing("applied") & ends[1].valid
    assert (applied <= start)[there].all()
    first = LAYOUT.numbers[0].day
    assert (weekday(first + applied[there]) > 4).mean() < 0.01
    there = ~ends[1].missing("ended") & ends[1].valid
    assert (start <= ended)[there].all()
    was = month_class(first + ends[0].ticks[there, SCHEMA.layout.number("ended")])
    assert (was == LAST).mean() < 0.1
    assert (month_class(first + ended[there]) == LAST).mean() > 0.5
    # Out of no bin, as links are known by bins, and no farther than a month.
    for place in found:
        old, new = before.ticks[:, place], after.ticks[:, place]
        low, high = bins[place].bounds(bins[place].cell(old))
        assert (new != old).any() and ((new >= low) & (new <= high)).all()
    place = LAYOUT.number("applied")
    assert np.abs(after.ticks - before.ticks)[:, place].max() <= 31


# -- files --------------------------------------------------------------------------------------


def test_weights_of_something_else_are_refused():
    good = Calendars.of({0: np.ones(CLASSES), 2: np.ones(CLASSES)})
    good.check(LAYOUT)
    Calendars.none().check(LAYOUT)
    for bad, why in (
        ({"numbers": np.array([0, 99])}, "belong to no date"),
        ({"numbers": np.array([0, LAYOUT.number("rent")])}, "belong to no date"),
        ({"numbers": np.array([2, 0])}, "not sorted"),
        ({"numbers": np.array([0, 0])}, "not sorted"),
        ({"numbers": np.array([0])}, "have no weights"),
        ({"weights": np.zeros((2, CLASSES))}, "no weight at all"),
        ({"weights": np.full((2, CLASSES), 1e300)}, "no weight at all"),
    ):
        with pytest.raises(NacreError, match=why):
            dataclasses.replace(good, **bad).check(LAYOUT)
