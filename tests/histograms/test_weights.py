"""How much of a row's norm each column's histogram gets."""

import numpy as np
import pytest

from nacre.histograms.cells import CodeColumn, NumberColumn, table_columns
from nacre.histograms.histograms import Histograms
from nacre.histograms.weights import NORM, column_weights
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Real, Schema

SIZES = (2, 3, 60, 900)
COLUMNS = tuple(CodeColumn(place, size) for place, size in enumerate(SIZES))


def test_no_other_weights_of_that_norm_make_the_errors_of_all_counts_smaller():
    found, sizes = column_weights(COLUMNS), np.array(SIZES)
    assert 0.999 * NORM < np.linalg.norm(found) <= NORM
    least, rng = (sizes / found).sum(), np.random.default_rng(0)
    for _ in range(200):
        other = found * np.exp(rng.normal(0, 0.1, len(found)))
        other *= NORM / np.linalg.norm(other)
        assert (sizes / other).sum() > 0.999 * least
    assert least < 0.8 * (sizes / (NORM / 2)).sum()  # equal weights


def test_a_number_is_worth_no_more_than_some_smooth_cells():
    schema = Schema(
        columns={
            "amount": Real(low=0, high=1e6, decimals=2),
            "code": Categorical(values=tuple(f"c{i}" for i in range(256))),
        }
    )
    number, code = table_columns(TableEncoder(schema).layout, None, 512)
    assert isinstance(number, NumberColumn) and number.size >= code.size
    weights = column_weights((number, code))
    assert weights[1] / weights[0] > 1.9


def test_counts_are_of_rows_again_and_each_column_has_its_own_noise():
    rng, weights = np.random.default_rng(0), column_weights(COLUMNS)
    truth = [rng.multinomial(5000, np.full(size, 1 / size)).astype(float) for size in SIZES]
    exact = np.concatenate([t * w for t, w in zip(truth, weights, strict=True)])
    released = exact + rng.normal(0, 1e4, len(exact))
    found = Histograms.of(COLUMNS, released[None], 1e4, weights)
    assert found.noise == pytest.approx(1e4 / weights)
    for table, real, own in zip(found.released, truth, found.noise, strict=True):
        assert np.abs(table[0] - real).max() < 5 * own
    assert np.std(found.released[-1][0] - truth[-1]) > 0.9 * found.noise[-1]
