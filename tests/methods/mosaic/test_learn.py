"""From counts to a generator: targets keep their places, the teacher repairs a blind mixture."""

import numpy as np
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.agreement import agreed
from nacre.methods.mosaic.learn import (
    Loose,
    Pairs,
    refined,
    targets,
    with_label_model,
    without_label_model,
)
from nacre.schema import Code, Layout

LAYOUT = Layout(numbers=(), codes=(Code("a", 4), Code("label", 2), Code("b", 3)))
COLUMNS = table_columns(LAYOUT, 1, 512)
GROUPS = [np.array([0, 1, 2, 2]), np.arange(3)]
NOISE = 5.0


def counts(n=8000, seed=0):
    """Noisy counts of a table whose label depends on both columns and their interaction."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, n), rng.integers(0, 3, n)
    logit = np.array([-0.8, -0.3, 0.3, 0.8])[a] + np.where(a > 0, 0.8, -0.8) * (b - 1)
    label = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
    tables = [np.zeros((2, 4)), np.zeros((2, 3)), np.zeros((2, 3, 3))]
    np.add.at(tables[0], (label, a), 1)
    np.add.at(tables[1], (label, b), 1)
    np.add.at(tables[2], (label, GROUPS[0][a], b), 1)
    tables = [table + rng.normal(0, NOISE, table.shape) for table in tables]
    histograms = Histograms.of(COLUMNS, np.concatenate(tables[:2], 1), NOISE)
    return histograms, Pairs((0, 1), GROUPS, {(0, 1): tables[2]}, {(0, 1): NOISE}), (a, b, label)


def blind(histograms, pairs, layout=LAYOUT):
    """A mixture of one component: every column is right, and nothing depends on anything."""
    parts = [
        np.bincount(group, histograms.cleaned[c].sum(0)) / histograms.total
        for c, group in zip(pairs.joined, pairs.groups, strict=True)
    ]
    weights = (histograms.sizes / histograms.total)[None].astype(np.float32)
    components = np.concatenate(parts)[None].astype(np.float32)
    return without_label_model(
        histograms, pairs, components, weights, most=512, label=1, layout=layout
    )


def label_error(model, truth):
    a, b, label = truth
    rows = model.sample(20_000, np.random.default_rng(3))
    error = []
    for group in np.ndindex(3, 3):
        real = (GROUPS[0][a] == group[0]) & (b == group[1])
        drawn = (GROUPS[0][rows.codes[:, 0]] == group[0]) & (rows.codes[:, 2] == group[1])
        error.append(abs(label[real].mean() - rows.codes[drawn, 1].mean()))
    return np.mean(error)


def test_the_teacher_repairs_the_label_and_pairs_add_interactions():
    histograms, pairs, truth = counts()
    plain = blind(histograms, pairs)
    errors = [label_error(plain, truth)]
    for pair_deviation in (0.0, 1.0):
        model, _ = with_label_model(
            plain,
            histograms,
            pairs,
            trust=0.5,
            deviation=1.0,
            pair_deviation=pair_deviation,
            rng=np.random.default_rng(0),
        )
        errors.append(label_error(model, truth))
    assert errors[0] > 0.15
    assert errors[1] < 0.8 * errors[0]
    assert errors[2] < 0.35 * errors[0]


def test_columns_stay_as_they_were_when_the_label_is_taught():
    histograms, pairs, _ = counts()
    model, _ = with_label_model(
        blind(histograms, pairs),
        histograms,
        pairs,
        trust=0.5,
        deviation=1.0,
        pair_deviation=1.0,
        rng=np.random.default_rng(0),
    )
    rows = model.sample(8000, np.random.default_rng(1))
    share = np.bincount(rows.codes[:, 0], minlength=4) / 8000
    assert share == pytest.approx(histograms.cleaned[0].sum(0) / histograms.total, abs=0.01)


def test_targets_are_shares_with_the_precision_of_their_noise():
    histograms, pairs, _ = counts()
    found = targets(histograms, pairs)
    assert found.blocks == ((0, 3), (3, 6))
    assert found.pairs[:, :3, 3:] == pytest.approx(pairs.tables[0, 1] / histograms.total)
    assert found.pairs == pytest.approx(found.pairs.transpose(0, 2, 1))
    assert (found.pair_precision[:3, :3] == 0).all()
    assert found.pair_precision[0, 4] == pytest.approx((histograms.total / NOISE) ** 2)
    # The third bin holds two cells, so twice the variance.
    assert found.single_precision[2] == pytest.approx(found.single_precision[1] / 2)
    assert found.histograms.sum(0)[:3].sum() == pytest.approx(1, abs=0.01)


def test_a_second_counting_makes_loose_columns_more_exact():
    rng = np.random.default_rng(0)
    layout = Layout((), (Code("label", 2), *(Code(f"x{k}", 2) for k in range(40))))
    columns = table_columns(layout, 0, 512)
    truth = [np.array([[900.0, 100], [450 + 4 * k, 550 - 4 * k]]) for k in range(40)]
    noisy = [table + rng.normal(0, 60, table.shape) for table in truth]
    histograms = Histograms.of(columns, np.concatenate(noisy, 1), 60.0)
    again = [table + rng.normal(0, 10, table.shape) for table in truth]
    loose = Loose(
        {k: np.arange(2) for k in range(40)}, dict.fromkeys(range(40), 0), again, [10] * 40
    )
    found = refined(histograms, loose)
    errors = [
        np.mean([np.abs(t[:, 1] - w[:, 1]).mean() for t, w in zip(tables, truth, strict=True)])
        for tables in (histograms.cleaned, found.cleaned)
    ]
    assert errors[1] < 12 < errors[0]
    for table in found.cleaned:
        assert table.min() >= 0
        assert table.sum(1) == pytest.approx(histograms.sizes)


def test_where_classes_do_not_differ_a_second_counting_says_so():
    rng = np.random.default_rng(1)
    layout = Layout((), (Code("label", 2), *(Code(f"x{k}", 3) for k in range(60))))
    columns = table_columns(layout, 0, 512)
    truth = np.array([[500.0, 300, 200], [50, 30, 20]])
    noisy = [truth + rng.normal(0, 30, truth.shape) for _ in range(60)]
    histograms = Histograms.of(columns, np.concatenate(noisy, 1), 30.0)
    again = [truth + rng.normal(0, 30, truth.shape) for _ in range(60)]
    loose = Loose(
        {k: np.arange(3) for k in range(60)}, dict.fromkeys(range(60), 0), again, [30] * 60
    )
    found = refined(histograms, loose)
    shares = np.stack([table / table.sum(1, keepdims=True) for table in found.cleaned])
    assert np.abs(shares[:, 0] - shares[:, 1]).mean() < 0.03


def test_a_class_that_the_pairs_leave_nothing_stays_as_it_was():
    histograms, pairs, _ = counts()
    none = {(0, 1): np.full((2, 3, 3), -1e6)}
    found = agreed(histograms, Pairs(pairs.joined, pairs.groups, none, {(0, 1): 1e-3}))
    for table, before in zip(found.cleaned, histograms.cleaned, strict=True):
        assert table == pytest.approx(before)


def test_a_label_of_one_class_needs_no_teacher():
    layout = Layout(numbers=(), codes=(Code("a", 4), Code("label", 1), Code("b", 3)))
    values = np.array([[30.0, 10, 5, 5, 20, 20, 10]])
    histograms = Histograms.of(table_columns(layout, 1, 512), values, NOISE)
    pairs = Pairs((0, 1), GROUPS, {(0, 1): np.ones((1, 3, 3))}, {(0, 1): NOISE})
    plain = blind(histograms, pairs, layout)
    rng = np.random.default_rng(0)
    model, _ = with_label_model(
        plain, histograms, pairs, trust=0.5, deviation=1.0, pair_deviation=1.0, rng=rng
    )
    assert (model.sample(9, rng).codes[:, 1] == 0).all()


def test_the_association_of_cells_that_hold_next_to_nothing_is_a_number():
    table = np.array([[1e9, 1e-310], [1e-310, 0]])
    sizes = np.array([1e9, 1.0])
    histograms = Histograms(COLUMNS, [table], [table], [table], [], sizes, NOISE)
    assert histograms.association(0) == pytest.approx(0, abs=1e-6)
