"""Pairs are counted again where that pays, and what was counted twice is averaged."""

import dataclasses

import numpy as np
import pytest

from nacre.histograms.cells import table_columns
from nacre.histograms.histograms import Histograms
from nacre.methods.mosaic.again import worthwhile
from nacre.methods.mosaic.asking import _weights_again
from nacre.methods.mosaic.counting import Answer, plan_counting
from nacre.schema import Code, Layout, Number

NORM, NOISE, ROWS = 4096, 40_000.0, 10_000


@pytest.fixture(scope="module")
def counted():
    """Four numbers and a category of one value; the first two numbers rise together."""
    rng = np.random.default_rng(0)
    layout = Layout(
        tuple(Number(f"x{k}", 15) for k in range(4)), (Code("label", 2), Code("constant", 1))
    )
    columns = table_columns(layout, 0, 512)
    shares = np.concatenate([np.full(16, 1 / 16)] * 4 + [[1.0]])
    table = Histograms.of(columns, np.tile(ROWS / 2 * shares, (2, 1)), 5.0)
    counting = plan_counting(
        table, order=range(5), most=5, bins=8, size=10**6, norm=NORM, noise=NOISE, by_class=True
    )
    values = []
    for (i, j), weight in zip(counting.pairs, counting.weights, strict=True):
        bins = counting.bins(i), counting.bins(j)
        truth = np.full(bins, 1 / np.prod(bins))
        if (i, j) == (0, 1):
            truth = np.eye(*bins) / bins[0]
        values.append(np.tile(ROWS / 2 * truth.ravel() * weight, (2, 1)))
    noisy = np.concatenate(values, axis=1)
    answer = Answer(counting.weights, noisy + rng.normal(0, NOISE, noisy.shape), NOISE)
    return table, counting, answer


def test_the_table_of_a_strong_link_gets_most(counted):
    table, counting, answer = counted
    _, pairs = counting.split([answer])
    known = np.array([noise**-2 for noise in pairs.noise.values()])
    found = dict(zip(pairs.tables, worthwhile(table, pairs, float(known.sum())), strict=True))
    assert sum(found.values()) == pytest.approx(known.sum())
    assert min(found.values()) >= 0
    assert found.pop((0, 1)) > 1.2 * max(found.values())
    assert all(found[pair] == 0 for pair in found if 4 in pair)  # nothing to tell of one value


def test_weights_fill_the_norm_and_leave_the_other_tables_alone(counted):
    table, counting, answer = counted
    _, pairs = counting.split([answer])
    weights = _weights_again(counting, table, pairs, NOISE)
    assert 0.9 * NORM**2 < (weights**2).sum() <= NORM**2
    loose = plan_counting(
        table, order=range(5), most=3, bins=8, size=10**6, norm=NORM, noise=NOISE, by_class=True
    )
    values = np.zeros((2, sum(loose.sizes)))
    _, pairs = loose.split([Answer(loose.weights, values, NOISE)])
    again = _weights_again(loose, table, pairs, NOISE)
    assert (again[: len(loose.loose)] == loose.weights[: len(loose.loose)]).all()
    assert (again**2).sum() <= (loose.weights**2).sum()


def test_where_all_columns_are_constant_weights_are_even(counted):
    table, counting, answer = counted
    _, pairs = counting.split([answer])
    flat = dataclasses.replace(
        pairs,
        groups=[np.zeros_like(group) for group in pairs.groups],
        tables={pair: t.sum((1, 2), keepdims=True) for pair, t in pairs.tables.items()},
    )
    assert worthwhile(table, flat, 7.0) == pytest.approx(np.full(len(flat.tables), 0.7))


def test_two_answers_are_averaged_by_precision(counted):
    _, counting, first = counted
    weights = np.where(np.arange(len(first.weights)) == 1, 2 * first.weights, 0)
    there = np.repeat(weights > 0, counting.sizes)
    values = np.where(there, 2 * first.values + 3.0, 0.0)
    _, once = counting.split([first])
    _, twice = counting.split([first, Answer(weights, values, NOISE)])
    for place, pair in enumerate(once.tables):
        if place == 1:
            own = first.weights[1]
            wanted = (once.tables[pair] + 4 * (once.tables[pair] + 1.5 / own)) / 5
            assert np.allclose(twice.tables[pair], wanted)
            assert twice.noise[pair] == pytest.approx(once.noise[pair] / 5**0.5)
        else:
            assert np.allclose(twice.tables[pair], once.tables[pair])
            assert twice.noise[pair] == pytest.approx(once.noise[pair])
