"""What noise leaves open of each column: bands, bounds of distances, bins."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from tests.publish.people import SCHEMA, encoded, people

from nacre.histograms.cells import CodeColumn
from nacre.histograms.measured import measured
from nacre.histograms.measurement import MISSING, Measurement
from nacre.publish import bands as bands_module
from nacre.publish.bands import bands
from nacre.publish.bins import choose_bins, schema_cells
from nacre.publish.distance import distance_at_least, distance_at_most
from nacre.publish.findings import find
from nacre.schema import Integer, Schema
from nacre.schema.layout import Code, Layout


def test_the_noise_of_the_label_is_what_it_is_said_to_be():
    rng, sizes = np.random.default_rng(0), (2, 5, 40)
    layout = Layout((), tuple(Code(f"c{i}", size) for i, size in enumerate((*sizes, 2))))
    columns = tuple(CodeColumn(i, size) for i, size in enumerate(sizes))
    noise = np.array([3.0, 1.0, 2.0])
    spread = np.repeat(noise, sizes)
    found = [
        measured(rng.normal(0, spread, (2, sum(sizes))), noise, columns, layout, 3)
        for _ in range(2000)
    ]
    for place in range(4):
        spread = np.std([each[place].counts for each in found])
        assert spread == pytest.approx(found[0][place].noise, rel=0.03)


def test_bands_hold_the_whole_histogram_as_often_as_they_say():
    schema = SCHEMA.select(["degree", "age"]).with_label(None)
    rng, rows = np.random.default_rng(1), encoded(people(400)[["degree", "age"]], schema)
    codes, ticks = np.arange(3), np.arange(100)
    truth = {
        "degree": (codes, np.array([500.0, 300, 200])),
        "age": (ticks, rng.multinomial(1000, np.linspace(2, 0, 100) / 100).astype(np.float64)),
    }
    noise, missed = 8.0, {"degree": 0, "age": 0}
    for _ in range(300):
        measured = []
        for name, (cells, counts) in truth.items():
            noisy = counts + rng.normal(0, noise, len(cells))
            measured.append(("test", Measurement(name, cells, cells, noisy, noise)))
        for band in bands(rows, measured):
            if band.column in truth:
                shares = band.bins.add_up(truth[band.column][1]) / 1000
                missed[band.column] += not (
                    (band.lower <= shares).all() and (shares <= band.upper).all()
                )
    assert missed["degree"] <= 300 * 0.05 + 8
    # Wide columns are drawn in few bins, yet every cell counts: the band is careful there.
    assert missed["age"] <= 300 * 0.05
    width = (band.upper - band.lower).mean() if band.lower is not None else 0.1
    assert width < 0.12, "a band that is never left says nothing"


@pytest.mark.parametrize("shares", ["flat", "spike"])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_distances_lie_between_their_bounds(shares, shift):
    rng, size = np.random.default_rng(2), 12
    known = np.full(size, 1 / size) if shares == "flat" else np.r_[0.89, np.full(size - 1, 0.01)]
    truth = known + np.r_[-shift / 2, np.zeros(size - 2), shift / 2]
    noise, tail = np.full(size, 0.003), 0.05
    below = above = 0
    widths = []
    for _ in range(200):
        noisy = truth + rng.normal(size=size) * noise
        low = distance_at_least(known, noisy, noise, tail=tail)
        high = distance_at_most(known, noisy, noise, tail=tail)
        below, above = below + (low > shift / 2), above + (high < shift / 2)
        widths.append(high - low)
    assert below <= 200 * tail + 8 and above <= 200 * tail + 8
    assert np.mean(widths) < 0.05


def test_a_spike_is_known_better_than_its_many_empty_bins():
    known, noise = np.r_[0.97, np.full(23, 0.03 / 23)], np.full(24, 0.01)
    flat = np.full(24, 1 / 24)
    spike = distance_at_most(known, known, noise, tail=0.02)
    assert spike < 0.8 * distance_at_most(flat, flat, noise, tail=0.02)


def test_many_cells_are_bounded_by_the_triangle_inequality_alone():
    # The table may have been fitted to these very counts: then a ball around it proves nothing.
    known, noise = np.full(300, 1 / 300), np.full(300, 1e-3)
    noisy = known + np.random.default_rng(0).normal(0, 1e-3, 300)
    bound = distance_at_most(known, noisy, noise, tail=0.02)
    assert bound >= np.abs(noisy - known).sum() / 2 + 300 * 1e-3 * np.sqrt(2 / np.pi) / 2


def test_counts_that_are_bought_later_are_bounded_by_a_ball():
    known, noise = np.full(300, 1 / 300), np.full(300, 1e-3)
    noisy = known + np.random.default_rng(0).normal(0, 1e-3, 300)
    fitted = distance_at_most(known, noisy, noise, tail=0.02)
    assert distance_at_most(known, noisy, noise, tail=0.02, fresh=True) < fitted / 2


@pytest.mark.parametrize("copied", [False, True])
def test_a_number_of_many_cells_is_told_in_stretches(copied):
    # In 240 cells there is more noise than rows; a table that copies the noise must not look right.
    rng, ticks = np.random.default_rng(5), np.arange(240)
    schema = Schema({"x": Integer(low=0, high=239), "one": Integer(low=0, high=1)})
    rest = np.array([0.0, 10_000])
    values = np.clip(rng.normal(100, 30, 10_000), 0, 239).astype(int)
    truth = np.bincount(values, minlength=240).astype(np.float64)
    held = []
    for _ in range(25):
        noisy = truth + rng.normal(0, 42.0, 240)
        shares = np.maximum(noisy, 0) if copied else truth
        made = rng.choice(240, 10_000, p=shares / shares.sum())
        rows = encoded(pd.DataFrame({"x": made, "one": 1}), schema)
        total = Measurement("one", ticks[:2], ticks[:2], rest + rng.normal(0, 42.0, 2), 42.0)
        found = bands(rows, [("t", Measurement("x", ticks, ticks, noisy, 42.0)), ("t", total)])
        band = found[0]
        assert band.stretches is not None and band.stretches.max() + 1 == 24
        apart = np.bincount(band.stretches, np.bincount(made, minlength=240) - truth) / 10_000
        held.append(band.at_least <= np.abs(apart).sum() / 2 <= band.at_most)
        assert band.at_most < 0.35  # in cells: about 0.8
    assert sum(held) >= 23


def test_what_a_share_is_told_in_is_said():
    """A shifted number shows a difference in its cells; another of as many, only in stretches."""
    rng, ticks = np.random.default_rng(6), np.arange(240)
    schema = Schema({"moved": Integer(low=0, high=239), "same": Integer(low=0, high=239)})
    values = np.clip(rng.normal(100, 30, 10_000), 0, 239).astype(int)
    truth = np.bincount(values, minlength=240).astype(np.float64)
    frame = pd.DataFrame({"moved": np.clip(values + 25, 0, 239), "same": values})
    measured = [
        ("t", Measurement(name, ticks, ticks, truth + rng.normal(0, 20.0, 240), 20.0))
        for name in schema.names
    ]
    found = {band.column: band for band in bands(encoded(frame, schema), measured)}
    assert (found["moved"].told_in, found["same"].told_in) == ("in 240 cells", "in 24 stretches")
    assert found["moved"].at_least > 0 and found["moved"].at_most > 0.2
    doubtful = dataclasses.replace(found["moved"], at_least=0.009, at_most=0.69)
    said = " ".join(each.text for each in find([doubtful, found["same"]], [], schema))
    assert "they may be off by so much: moved (69% in 240 cells)" in said
    assert "A difference beyond noise shows in moved (at least 0.9%)." in said
    assert "in the cells that were counted, whose noise adds up" in said
    few = Schema({"moved": Integer(low=0, high=9)})
    short = Measurement("moved", ticks[:10], ticks[:10], np.full(10, 1000.0), 20.0)
    (band,) = bands(encoded(frame[["moved"]] % 10, few), [("t", short)])
    assert band.told_in == ""


def test_too_few_rows_leave_everything_open():
    rows, cells = encoded(people(100)), np.arange(3)
    lost = Measurement("degree", cells, cells, np.array([5.0, -3, 2]), 10.0)
    band = next(b for b in bands(rows, [("test", lost)]) if b.column == "degree")
    assert (band.at_least, band.at_most) == (0.0, 1.0)
    assert (band.lower == 0).all() and (band.upper == 1).all()


def test_of_two_measurements_the_less_noisy_is_taken():
    rows, cells = encoded(people(100)), np.arange(3)
    good = Measurement("degree", cells, cells, np.array([500.0, 300, 200]), 1.0)
    bad = Measurement("degree", cells, cells, np.array([400.0, 400, 200]), 50.0)
    for given in ([("good", good), ("bad", bad)], [("bad", bad), ("good", good)]):
        band = next(b for b in bands(rows, given) if b.column == "degree")
        assert band.source == "good"
        np.testing.assert_allclose(band.measured, [0.5, 0.3, 0.2])


def test_rows_are_counted_by_the_release_itself():
    # The rows that scores are bought of may be others, and fewer, than those behind the model.
    rows, cells = encoded(people(100)), np.arange(3)
    own = Measurement("member", np.arange(2), np.arange(2), np.array([5000.0, 5000]), 0.1)
    bought = Measurement("degree", cells, cells, np.array([50.0, 30, 20]), 1.0)
    found = {b.column: b for b in bands(rows, [("model", own), ("page", bought)])}
    np.testing.assert_allclose(found["degree"].measured, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(found["member"].measured, [0.5, 0.5])


@pytest.mark.parametrize("values", [[0, 0, 0, 1000], [1000] * 3, [500], [3, 40, 40, 41, 999]])
def test_bins_hold_every_row_once_wherever_they_lie(values):
    schema = Schema({"x": Integer(low=0, high=1000, nullable=True)})
    rows = encoded(pd.DataFrame({"x": pd.array([*values, None], dtype="Int64")}), schema)
    for low, high in (schema_cells(schema, "x"), (np.r_[0:1001, MISSING],) * 2):
        counts = bands_module.cell_counts(rows, "x", low, high)
        bins = choose_bins(schema, "x", low, high, counts)
        assert bins.add_up(counts).sum() == len(values) + 1
        assert bins.names[-1] == "missing" and not bins.drawn[-1]
        drawn = np.flatnonzero(bins.drawn)
        assert 1 <= len(drawn) <= 24
        assert (bins.low[drawn[1:]] == bins.high[drawn[:-1]] + 1).all()
        assert bins.add_up(counts)[drawn].sum() == len(values)


def test_what_lies_inside_cells_is_not_said_to_be_right():
    # 88% of the private rows share one value inside a cell; the synthetic rows are spread over it.
    schema = Schema({"income": Integer(low=0, high=9999)})
    rng = np.random.default_rng(3)
    low = np.arange(0, 10_000, 100)
    private = np.where(rng.random(20_000) < 0.88, 1250, rng.integers(0, 10_000, 20_000))
    spread = np.where(private == 1250, rng.integers(1200, 1300, 20_000), private)
    rows = encoded(pd.DataFrame({"income": spread}), schema)
    truth = np.bincount(private // 100, minlength=100).astype(np.float64)
    seen = np.bincount(spread // 100, minlength=100) / len(spread)
    wrong = np.abs(seen - truth / len(private)).sum() / 2
    held = 0
    for _ in range(100):
        noisy = truth + rng.normal(0, 5.0, 100)
        (band,) = bands(rows, [("test", Measurement("income", low, low + 99, noisy, 5.0))])
        held += band.at_least <= wrong <= band.at_most and band.inside >= 0.999
    assert held >= 95
    (about, *others) = find([band], (), schema)
    assert (about.level, about.topic) == ("note", "Inside cells")
    assert "income (100%)" in about.text
    assert not [finding for finding in others if finding.level == "good"]


def test_cells_of_one_value_hide_nothing():
    schema = Schema({"age": Integer(low=0, high=99)})
    ages = np.random.default_rng(4).integers(0, 100, 20_000)
    ticks, counts = np.arange(100), np.bincount(ages, minlength=100).astype(np.float64)
    rows = encoded(pd.DataFrame({"age": ages}), schema)
    (band,) = bands(rows, [("test", Measurement("age", ticks, ticks, counts + 1.0, 20.0))])
    assert band.inside == 0
    assert [finding.level for finding in find([band], (), schema)] == ["note", "good"]


def test_a_distance_of_very_many_cells_takes_little_memory():
    """A long list of values is public, and the page is made once its counts are paid for."""
    import tracemalloc

    cells = 20_000
    known, noise = np.full(cells, 1 / cells), np.full(cells, 1e-4)
    tracemalloc.start()
    far = distance_at_most(known, known + noise, noise, tail=0.01, fresh=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < far <= 1 and peak < 300e6
