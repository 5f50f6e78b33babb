"""What is counted follows the noise: fewer columns, coarser bins, and always within the bound."""

import dataclasses

import numpy as np
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.counting import Answer, _labeled, plan_counting
from nacre.schema import Code, Layout, Number

NORM = 4096


def histograms(numbers, binaries, rows=10_000, chance=0.03, noise=5.0, classes=2):
    """Noisy histograms of even numbers and of columns that are mostly 'no'."""
    rng = np.random.default_rng(0)
    codes = (Code("label", classes), *(Code(f"b{k}", 2) for k in range(binaries)))
    layout = Layout(tuple(Number(f"x{k}", 63) for k in range(numbers)), codes)
    columns = table_columns(layout, 0, 512)
    even, rare = np.full(64, 1 / 64), np.array([1 - chance, chance])
    shares = np.concatenate([even] * numbers + [rare] * binaries)
    values = np.tile(rows / classes * shares, (classes, 1))
    return Histograms.of(columns, values + rng.normal(0, noise, values.shape), noise)


def plan(found, noise, most=64, size=10**6, bins=16):
    order = range(len(found.columns))
    return plan_counting(
        found,
        order=order,
        most=most,
        bins=bins,
        size=size,
        norm=NORM,
        noise=noise,
        by_class=True,
    )


@pytest.mark.parametrize("noise", [1e3, 1e4, 1e5, 1e7])
def test_the_norm_is_kept_where_no_bin_is_skipped(noise):
    found = plan(histograms(12, 0), noise)
    if not found.loose:
        assert (found.weights**2).sum() <= NORM**2
        assert (found.weights**2).sum() > 0.95 * NORM**2


def test_more_noise_means_coarser_bins_and_then_fewer_columns():
    table = histograms(12, 0)
    quiet, loud, deaf = (plan(table, noise) for noise in (1e4, 1e5, 1e7))
    assert len(quiet.joined) == len(loud.joined) == 12
    assert max(map(loud.bins, loud.joined)) < min(map(quiet.bins, quiet.joined))
    assert len(deaf.joined) == 2 and len(deaf.loose) == 10


def test_a_value_that_stands_out_of_the_noise_is_a_bin_by_itself():
    """8 % of the rows at one value, where smooth bins hold 13 % each; 2 % stays among others."""
    table = histograms(12, 0)
    for share, apart in ((0.08, True), (0.02, False)):
        own = [each.copy() for each in table.cleaned]
        own[0][:, 20] += share * own[0].sum(1)
        found = plan(dataclasses.replace(table, cleaned=own), 2.7e4)
        group, mass = found.groups[0], own[0].sum(0)
        assert (group == group[20]).sum() == (1 if apart else (group == group[21]).sum())
        assert np.median(np.bincount(group, mass)) > 0.1 * mass.sum()


def test_tables_fit_into_the_public_size():
    table = histograms(12, 0)
    for size in (20_000, 6_000, 2_000, 500):
        assert sum(plan(table, 1e4, size=size).sizes) <= size
    with pytest.raises(ValueError, match="two columns"):
        plan(table, 1e4, size=3)


def test_columns_that_are_mostly_no_cost_what_a_row_has_of_yes():
    sparse, dense = (plan(histograms(0, 600, chance=chance), 1e4, most=2) for chance in (0.01, 0.5))
    weights = [found.weights[: len(found.loose)].mean() for found in (sparse, dense)]
    assert weights[0] > 4 * weights[1]
    assert set(sparse.commonest.values()) == {0}
    # Rows of average crowdedness, and crowded ones too, stay within the norm.
    own = float(weights[0])
    assert (6 + 4 * 6**0.5) * own**2 < NORM**2


def test_released_values_come_back_as_tables():
    found = plan(histograms(3, 4), 1e4, most=2)
    values = np.concatenate(
        [np.full((2, size), 7.0 * w) for size, w in zip(found.sizes, found.weights, strict=True)],
        axis=1,
    )
    answer = Answer(found.weights, np.concatenate([values, np.ones((2, 50))], axis=1), 100.0)
    loose, pairs = found.split([answer])
    assert tuple(loose.groups) == found.loose
    assert all(np.allclose(table, 7) for table in [*loose.tables, *pairs.tables.values()])
    assert loose.noise[0] == pytest.approx(100 / found.weights[0])
    (table,) = pairs.tables.values()
    assert table.shape == (2, *pairs.bins)


def test_where_there_is_room_for_four_bins_of_each_there_is_room_for_any_number():
    table = histograms(12, 0)
    found = plan(table, 1e4, size=12 * 11 // 2 * 36 + 12 * 6, bins=64)
    assert len(found.joined) == 12


def test_columns_that_hold_a_hair_more_than_all_rows_are_never_unusual():
    table = histograms(0, 6)
    more = [np.stack([table.sizes, 0 * table.sizes], 1) * (1 + 1e-12)] * 6
    assert len(plan(dataclasses.replace(table, cleaned=more), 1e4, most=2).loose) == 4


def test_bins_with_a_numeric_label_are_parts_of_those_of_the_pairs():
    """Long ordinals join neighbors in another order where more bins are allowed."""
    rng = np.random.default_rng(0)
    layout = Layout((), (Code("grade", 200),))
    columns, fewer = table_columns(layout, None, 512), 0
    for _ in range(20):
        counts = 1e6 * rng.dirichlet(np.full(200, 5.0))
        found = dataclasses.replace(Histograms.of(columns, counts[None], 1.0), scales={0: 200})
        for slots in (24, 127, 150):
            group = found.group(0, most=16, floor=0.005, rare=0.005, slots=slots)
            fine = _labeled(found, 0, group)
            assert len(set(zip(fine.tolist(), group.tolist(), strict=True))) == fine.max() + 1
            assert fine.max() >= group.max()
            fewer += bool((fine == group).all())
    assert 0 < fewer < 60  # both happen
