"""Bins from noisy histograms: spikes alone, equal mass elsewhere, rare categories together."""

import numpy as np
import pytest

from nacre.histograms.bins import (
    bin_sums,
    join_rare,
    lump_families,
    lump_rare,
    quantile_bins,
    within,
)

SETTINGS = {"most": 16, "floor": 0.01, "slots": 24}


def test_a_spike_is_a_bin_by_itself():
    mass = np.ones(100)
    mass[40] = 80
    group = quantile_bins(mass, **SETTINGS)
    assert (group == group[40]).sum() == 1
    assert (np.diff(group) >= 0).all(), "bins of a number are intervals"


def test_bins_without_spikes_hold_equal_mass():
    mass = np.random.default_rng(2).uniform(0.8, 1.2, 512)
    weights = np.bincount(quantile_bins(mass, **SETTINGS), mass)
    assert len(weights) == 16
    assert weights.max() < 1.3 * weights.min()


def test_the_floor_and_the_slots_are_kept():
    mass = np.ones(200)
    mass[::10] = 30  # more spikes than slots
    group = quantile_bins(mass, most=16, floor=0.01, slots=7)
    assert group.max() + 1 == 7
    assert set(np.diff(group)) <= {0, 1}
    wide = np.bincount(quantile_bins(np.ones(200), most=16, floor=0.3, slots=24))
    assert wide.min() / 200 >= 0.15


@pytest.mark.parametrize(("share", "apart"), [(0.03, True), (0.002, False)])
def test_what_begins_something_stays_apart_unless_it_is_rare(share, apart):
    mass, begins = np.ones(100), np.arange(100) == 10
    mass[:10] = 90 * share / (1 - share) / 10
    group = quantile_bins(mass, most=16, floor=0.1, slots=24, begins=begins, rare=0.005)
    assert (group[9] < group[10]) == apart
    many = quantile_bins(mass, most=16, floor=0.1, slots=24, begins=np.arange(100) % 5 == 0)
    assert np.bincount(many, mass).min() > 0.04 * mass.sum(), "many walls are none"


@pytest.mark.parametrize("mass", [[5.0], [0.0, 0.0, 7.0], [1e-9, 1e-9]])
def test_degenerate_histograms_have_bins_too(mass):
    group = quantile_bins(np.array(mass), **SETTINGS)
    assert group[0] == 0 and set(np.diff(group)) <= {0, 1}


def test_rare_categories_share_the_last_bin():
    group = lump_rare(np.array([50.0, 1, 49, 0, 900]), floor=0.01, slots=24)
    assert group.tolist() == [0, 3, 1, 3, 2]
    assert lump_rare(np.array([5.0, 0.0]), floor=0.01, slots=24).tolist() == [0, 1]
    many = lump_rare(np.arange(1.0, 41), floor=0, slots=10)
    assert many.max() + 1 == 10
    assert set(many[-9:]) == set(range(9)) and (many[:-9] == 9).all()


def test_rare_values_of_an_ordinal_join_their_neighbors():
    mass = np.array([2.0, 300, 4, 200, 100, 3, 1])
    assert join_rare(mass, 6, floor=0.01, slots=24).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert join_rare(mass, 6, floor=0.0, slots=24).tolist() == list(range(7))
    assert join_rare(mass, 6, floor=0.0, slots=3).tolist() == [0, 0, 1, 1, 1, 1, 2]
    assert join_rare(np.zeros(3), 3, floor=0.1, slots=24).tolist() == [0, 0, 0]


def test_rare_categories_stay_in_their_family_while_there_is_room():
    mass = np.array([50.0, 3, 3, 2, 2, 40, 0.1, 0.1])
    fine, coarse = np.array([0, 1, 1, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 1, 1, 1, 2, 2])
    found = lump_families(mass, [fine, coarse], floor=0.035, slots=24, alone=0.035)
    assert found.tolist() == [0, 1, 1, 2, 2, 3, 4, 4]
    family = np.arange(1000) % 7
    many = lump_families(np.ones(1000), [family], floor=0, slots=10, alone=0)
    assert many.max() + 1 <= 10
    alike = [len(set(many[family == each].tolist())) for each in range(7)]
    assert sum(alike) <= 7 + 3  # hardly a value lies apart from its family


def test_a_category_leaves_its_family_only_if_both_can_be_seen():
    family = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3])
    mass = np.array([30.0, 10, 9, 25, 1, 1, 20, 3, 1])
    #                its own  | in it | what is left of its family would be rare | rare, all of it
    apart = lump_families(mass, [family], floor=0.05, slots=24, alone=0.2)
    assert apart.tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 4]
    fine = lump_families(mass, [family], floor=0.05, slots=24, alone=0.05)
    assert fine.tolist() == [0, 1, 2, 3, 3, 3, 4, 4, 5]
    # With room for four, families come first.
    few = lump_families(mass, [family], floor=0.05, slots=4, alone=0.05)
    assert few.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]


def test_no_bin_holds_categories_of_two_families_that_can_be_seen():
    rng = np.random.default_rng(0)
    family = rng.permutation(np.arange(150) % 12)
    mass = rng.permutation(1 / (np.arange(150) + 2.0))
    shares = np.bincount(family, mass) / mass.sum()
    for floor, alone in [(0.005, 0.005), (0.02, 0.02), (0.02, 0.06), (0.08, 0.1)]:
        found = lump_families(mass, [family], floor=floor, slots=24, alone=alone)
        held = [set(family[found == each].tolist()) for each in range(found.max() + 1)]
        mixed = set().union(*(each for each in held if len(each) > 1))
        assert all(shares[each] < floor for each in mixed)
        assert len(held) <= 24 and np.bincount(found, mass).min() >= 0.99 * floor * mass.sum()


def test_cells_inside_bins_follow_the_class_then_the_pool_then_nothing():
    group = np.array([0, 0, 1, 1, 2, 2])
    table = np.array([[3.0, 1, 0, 0, 0, 0], [1, 1, 2, 6, 0, 0]])
    found = within(group, table)
    assert bin_sums(group, found) == pytest.approx(np.ones((2, 3)))
    assert found[0] == pytest.approx([0.75, 0.25, 0.25, 0.75, 0.5, 0.5])
