"""What a plan says of small tables, in numbers that anybody can check, before anything is spent."""

import warnings

import pytest

import nacre
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Categorical, Schema

COLUMNS = {f"c{i}": Categorical(values=tuple("abcdefgh")) for i in range(10)}
SCHEMA = Schema({**COLUMNS, "y": Categorical(values=("no", "yes"))}, label="y")


def test_a_small_table_is_told_what_noise_leaves_of_it():
    with pytest.warns(UserWarning, match="few for this budget") as warned:
        planned = nacre.plan(SCHEMA, epsilon=1, delta=1e-6, rows=500)
    said = str(warned[0].message)
    counted = [a for a in planned.asked if a.question.name.startswith("pairs of columns")]
    noise = sum((asked.expected.error * 500) ** -2 for asked in counted) ** -0.5
    above = int(500 / noise)  # no more cells can hold so many of 500 rows
    assert above < 64
    assert "of the 128 cells of a typical pair of columns (8 by 8 values, for each of 2" in said
    assert (
        f"at most {above} can hold more rows than the noise of a count, about {noise:.0f}" in said
    )
    assert f"{1 - above / 128:.0%} or more are lost" in said
    assert "'y' will be off by about" in said and "points of 100" in said and "poor" in said
    assert "lost in it" in planned.outlook and "lost in it" in str(planned)


def test_a_large_table_is_not_alarmed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planned = nacre.plan(SCHEMA, epsilon=1, delta=1e-6, rows=100_000)
    assert "lost" not in planned.outlook and "poor" not in planned.outlook


def test_what_noise_hides_is_the_same_however_often_pairs_are_counted():
    schema = nacre.datasets.adult_schema()
    words = {
        again: nacre.plan(
            schema, method=Mosaic(again=again), epsilon=1, delta=1e-5, rows=3000
        ).outlook
        for again in (0, 0.5, 0.9)
    }
    assert len(set(words.values())) == 1, words
