"""Rules of two columns as zeros of the model: which cells they forbid, and that none is drawn."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.learn import Pairs
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mosaic.sparse import NEVER, Sparse, find_links
from nacre.methods.mosaic.zeros import cuts, out_of_bounds, structural_zeros, with_zeros
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Datetime, Integer, Schema

YES_NO = Categorical(values=("yes", "no"))


def schema(*constraints, high=99):
    columns = {
        "age": Integer(low=0, high=high),
        "income": Integer(low=0, high=9_999),
        "works": YES_NO,
        "school": Categorical(values=("none", "some"), nullable=True),
    }
    return Schema(columns, constraints=constraints)


def zeros(table):
    encoder = TableEncoder.of(table)
    columns = Mosaic().design(encoder).columns
    return structural_zeros(encoder, columns), columns


def test_a_rule_forbids_the_pairs_of_cells_that_break_it():
    found, columns = zeros(schema("age >= 18 if works = yes"))
    (never,) = found.values()
    assert list(found) == [(0, 2)]
    assert never[:18, 0].all() and not never[18:].any() and not never[:, 1].any()
    assert np.flatnonzero(cuts(found, columns)[0]).tolist() == [18]


def test_bins_begin_at_a_rule_also_where_a_number_may_be_missing():
    columns = {"age": Integer(low=0, high=99, nullable=True), "works": YES_NO}
    found, (age, _) = zeros(Schema(columns, constraints=["age >= 18 if works = yes"]))
    histograms = Histograms.of((age,), np.full((1, age.size), 100.0), 1.0)
    histograms = dataclasses.replace(histograms, begins=cuts(found, [age, age]))
    group = histograms.group(0, most=4, floor=0.01, rare=0.01, slots=8)
    assert group[17] < group[18] and (group == group[-1]).sum() == 1


def test_a_missing_value_breaks_nothing_and_rules_add_up():
    found, _ = zeros(schema("school = none if age < 5", "school != none if age >= 5"))
    never = found[0, 3]
    assert never[:5].tolist() == [[False, True, False]] * 5
    assert never[5:].tolist() == [[True, False, False]] * 95


def test_what_a_rule_demands_together_is_forbidden_each_by_itself():
    both, _ = zeros(schema("18 <= age <= 60 and school = some if works = yes"))
    alone, _ = zeros(schema("18 <= age <= 60 if works = yes", "school = some if works = yes"))
    assert sorted(both) == [(0, 2), (2, 3)]
    for pair, never in both.items():
        np.testing.assert_array_equal(never, alone[pair])
    forbidden, _ = zeros(schema({"forbid": {"school": "none", "works": "yes", "age": 3}}))
    assert not forbidden


def test_a_wide_cell_in_which_some_value_is_right_stays():
    table = schema("income = 15 if works = no", "income >= 100 and income <= 120 if age < 9")
    found, columns = zeros(table)
    cells = columns[1].cells
    held = {value: int(np.searchsorted(cells.high, value)) for value in (15, 100, 110, 120)}
    assert not found[1, 2][held[15], 1]
    allowed = ~found[0, 1][0]
    assert all(allowed[held[value]] for value in (100, 110, 120))
    assert allowed.sum() <= held[120] - held[100] + 1
    assert found[0, 1][:9].any(1).all() and not found[0, 1][9:].any()


def test_numbers_that_must_be_equal_and_three_columns_are_left_to_what_is_drawn():
    assert not zeros(schema("works = no if age < 18 and income = 0"))[0]
    assert not zeros(schema("age = income"))[0]
    assert not zeros(schema("age < 50"))[0]


def test_a_code_beside_a_group_that_is_not_its_own_is_forbidden():
    columns = {
        "shop": Categorical(values=("s1", "s2", "s3"), nullable=True),
        "town": Categorical(values=("A", "B"), nullable=True),
    }
    table = {"s1": "A", "s2": "B", "s3": "missing"}
    facts = [{"town determined by shop if known": table}]
    found, _ = zeros(Schema(columns, facts=facts))
    never = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]]
    np.testing.assert_array_equal(found[0, 1], np.array(never, bool))
    turned = {name: columns[name] for name in ("town", "shop")}
    other, _ = zeros(Schema(turned, facts=facts))
    np.testing.assert_array_equal(other[0, 1], np.array(never, bool).T)


def test_noise_in_such_pairs_of_bins_is_taken_out_where_all_cells_are():
    never = np.zeros((4, 2), bool)
    never[:3, 0] = True
    groups = [np.array([0, 0, 1, 1]), np.array([0, 1])]
    table = np.full((2, 2, 2), 7.0)
    found = with_zeros(Pairs((0, 5), groups, {(0, 1): table}, {(0, 1): 1.0}), {(0, 5): never})
    assert found.tables[0, 1].tolist() == [[[0, 7], [7, 7]]] * 2
    assert found.zeros[0, 1].tolist() == [[True, False], [False, False]]
    assert (table == 7).all()


def test_the_fit_is_kept_from_zeros_however_large_the_noise():
    table = np.array([[[250.0, 0.0], [250.0, 500.0]]])
    never = {(0, 1): np.array([[False, True], [False, False]])}
    blocks, pairs = ((0, 2), (2, 4)), Pairs((), [], {(0, 1): table}, {(0, 1): 300.0})
    assert not Sparse.of(pairs, blocks, 1000.0).precision.any()  # nothing is sure without a rule
    found = Sparse.of(dataclasses.replace(pairs, zeros=never), blocks, 1000.0)
    assert found.cells[:2, 2:].tolist() == never[0, 1].tolist()
    assert found.most[0, 1] == NEVER and found.precision[0, 1] > 0
    moments = np.array([[0, 0, 0.2, 0.1], [0, 0, 0.3, 0.4], [0.2, 0.3, 0, 0], [0.1, 0.4, 0, 0]])
    (link,) = find_links(moments, found, blocks)
    linked = link.table if link.parent == 0 else link.table.T
    assert linked[0, 1] < 0.01
    assert linked.sum(1).tolist() == pytest.approx([0.3, 0.7], abs=0.01)
    assert linked.sum(0).tolist() == pytest.approx([0.5, 0.5], abs=0.01)


DATES = {
    "from": Datetime(low="2020-01-01", high="2024-12-31"),
    "to": Datetime(low="2020-01-01", high="2024-06-30", nullable=True),
    "paid": Integer(low=0, high=300),
    "owed": Integer(low=0, high=200, nullable=True),
}


def test_distances_that_always_end_out_of_bounds_are_zeros():
    table = Schema(DATES, constraints=["from <= to", "paid <= owed"])
    encoder = TableEncoder.of(table)
    columns = Mosaic().design(encoder).columns
    found = out_of_bounds(encoder.layout, columns)
    assert found and not set(found) & set(structural_zeros(encoder, columns))
    for (i, j), never in found.items():
        ties = [encoder.layout.numbers[place].tie for place in (i, j)]
        table = never.T if ties[0] else never
        anchor, own = (columns[k] for k in ((j, i) if ties[0] else (i, j)))
        line = (ties[0] or ties[1]).line
        for a in range(anchor.size):
            missing = np.array([a == anchor.cells.size])
            ends = [0, 0] if missing[0] else [anchor.cells.low[a], anchor.cells.high[a]]
            every = line.start(np.arange(ends[0], ends[1] + 1), missing)
            for d in range(own.size):
                if d == own.cells.size:
                    assert not table[a, d]
                    continue
                cell = range(own.cells.low[d], own.cells.high[d] + 1)
                ticks = np.concatenate([every + line.up * tick for tick in cell])
                fits = ((ticks >= 0) & (ticks <= line.ticks)).any()
                assert table[a, d] == (not fits)


def test_a_column_between_rows_that_run_on_keeps_its_end():
    """Contracts that still run at the end of the table are missing; no other row is lost."""
    rng = np.random.default_rng(3)
    start = rng.integers(0, 1826, 6000)
    stay = rng.gamma(1.5, 400, 6000).astype(int)
    ends = np.where(start + stay > 1826, -1, start + stay)
    day = np.datetime64("2020-01-01")
    frame = pd.DataFrame({"from": day + start, "to": pd.Series(day + ends).where(ends >= 0)})
    frame["kind"] = np.where(rng.random(6000) < 0.5, "a", "b")
    columns = {
        "from": Datetime(low="2020-01-01", high="2024-12-31"),
        "to": Datetime(low="2020-01-01", high="2024-12-31", nullable=True),
        "kind": Categorical(values=("a", "b")),
    }
    method = Mosaic(fits=2, components=60, steps=300)
    model = nacre.fit(
        frame,
        Schema(columns, constraints=["from <= to"]),
        method=method,
        epsilon=2.0,
        delta=1e-5,
        seed=0,
    )
    rng = np.random.default_rng(0)
    drawn = model.encoder.settle(model.generator.sample(6000, rng), rng)
    assert drawn.valid.mean() > 0.993  # .974 without zeros and without drawing inside bins
    assert drawn.missing("to").mean() == pytest.approx((ends < 0).mean(), abs=0.015)
    there = drawn.valid & ~drawn.missing("to")
    assert drawn.ticks[there, 1].mean() == pytest.approx(ends[ends >= 0].mean(), abs=30)
