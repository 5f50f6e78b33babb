"""Steps of numbers: values on a grid, exact both ways, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

from nacre.schema import Integer, Real, Schema, SchemaError


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Integer(low=0, high=100_000, step=100), [0, 100, 99_900, 100_000]),
        (Integer(low=-50, high=50, step=25, nullable=True), [-50, None, 0, 50]),
        (Real(low=0, high=10, step=0.25), [0.0, 0.25, 9.75, 10.0]),
        (Real(low=0.1, high=0.7, step=0.2, decimals=2), [0.1, 0.3, 0.5, 0.7]),
        (Real(low=-1000, high=1000, step=50), [-1000.0, -50.0, 0.0, 950.0]),
    ],
)
def test_values_on_the_step_survive(column, values):
    schema = Schema({"x": column})
    table = pa.table({"x": values})
    assert schema.check(table).ok
    assert schema.decode(schema.encode(table))["x"].to_pylist() == values
    assert Schema.from_dict(schema.to_dict()) == schema
    assert Schema.parse(schema.to_yaml()) == schema


def test_every_tick_is_a_step():
    column = Real(low=0, high=10, step=0.25)
    assert column.ticks == 40
    written = column.write(np.arange(41), None).to_numpy()
    np.testing.assert_array_equal(written, np.arange(41) / 4)


def test_a_value_between_two_steps_is_told_and_rounded():
    schema = Schema({"x": Integer(low=0, high=1000, step=100), "y": Real(low=0, high=1, step=0.25)})
    table = pa.table({"x": [149, 151, 200], "y": [0.25, 0.3, 0.5]})
    found = schema.check(table)
    assert found.columns == {"x": {"between two steps": 2}, "y": {"between two steps": 1}}
    assert "rounded" in found.describe()
    assert schema.decode(schema.encode(table)).to_pydict() == {
        "x": [100, 200, 200],
        "y": [0.25, 0.25, 0.5],
    }


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (Integer(low=0, high=250, step=100), "Say high=300"),
        (Integer(low=0, high=100, step=0), "step=0 must be a whole number from 1"),
        (Integer(low=0, high=100, step=0.5), "step=0.5 must be a whole number"),
        (Integer(low=0, high=100, step=1000), "wider than the range"),
        (Real(low=0, high=1, step=-1), "step=-1.0 must be a number above 0"),
        (Real(low=0, high=1, step=0.3), "Say high=1.2"),
        (Real(low=0, high=1, step=0.25, decimals=1), "step=0.25 has more than decimals=1"),
        (Real(low=0, high=1, step=1 / 3), "more than 15 digits"),
        (Integer(low=0, high=100, spikes=[200]), "spike 200 lies outside"),
        (Integer(low=0, high=100, step=10, spikes=[5]), "spike 5 is no value of the column"),
        (Integer(low=0, high=100, spikes="5"), "must be a list of numbers"),
        (Integer(low=0, high=100, spikes=["a"]), "spike 'a' must be a number"),
        (Real(low=0, high=1, decimals=1, spikes=[0.25]), "lies between two steps"),
    ],
)
def test_what_is_wrong_is_said(column, said):
    with pytest.raises(SchemaError) as error:
        Schema({"x": column})
    assert said in str(error.value)


def test_constraints_know_of_steps():
    columns = {"x": Integer(low=0, high=1000, step=100), "y": Integer(low=50, high=1050, step=50)}
    with pytest.raises(SchemaError, match="'x' is never 150"):
        Schema(columns, constraints=["x = 150"])
    schema = Schema(columns, constraints=["x <= y", "x > 150"])
    rows = pa.table({"x": [200, 300, 100], "y": [250, 200, 500]})
    assert schema.check(rows).constraints == {"x <= y": 1, "x > 150": 1}


def test_differences_are_counted_in_steps():
    from nacre.rows import TableEncoder

    columns = {"x": Integer(low=0, high=1000, step=100), "y": Integer(low=0, high=1000, step=50)}
    encoder = TableEncoder.of(Schema(columns, constraints=["x <= y"]))
    assert [str(each) for each in encoder.differences] == ["y >= x"]
    table = pa.table({"x": [200, 0], "y": [350, 1000]})
    block = encoder.encode(table.to_batches()[0])
    assert block.rows.numbers.tolist() == [[2, 3], [0, 20]]
