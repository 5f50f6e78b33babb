"""A table through its schema: positions, labels, and the way back."""

import numpy as np
import pyarrow as pa
import pytest

from nacre.rows import Label, TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Real, Schema

WIDE = (1 << 40) + 12_345
SCHEMA = Schema(
    {
        "wide": Integer(low=-7, high=WIDE - 7),
        "share": Real(low=0, high=1, decimals=2, nullable=True),
        "job": Categorical(values=("a", "b"), other=True, nullable=True),
        "member": Boolean(),
    },
    label="job",
)
ENCODER = TableEncoder(SCHEMA)
VALUES = [-7, -6, 2**20, 2**39 - 7, WIDE - 8, WIDE - 7]


def encode(**columns):
    n = len(next(iter(columns.values())))
    plain = {"wide": [0] * n, "share": [0.5] * n, "job": ["a"] * n, "member": [True] * n}
    return ENCODER.encode(pa.RecordBatch.from_pydict(plain | columns))


def test_rows_show_ticks_or_their_leading_bits():
    block = encode(wide=VALUES, share=[0.0, 0.01, 0.5, 0.99, 1.0, None])
    wide, share = SCHEMA.layout.numbers
    assert (wide.shift, share.shift) == (11, 0)
    assert block.rows.numbers.dtype == block.rows.codes.dtype == np.int32
    np.testing.assert_array_equal(block.rows.numbers[:, 0], [(v + 7) >> 11 for v in VALUES])
    assert block.rows.numbers[-1, 0] == wide.positions < 2**30
    np.testing.assert_array_equal(block.rows.numbers[:, 1], [0, 1, 50, 99, 100, 0])
    assert block.valid.all()


def test_units_lie_between_zero_and_one():
    rows = encode(wide=VALUES).rows
    units = np.array([ENCODER.units(type(rows)(*row)) for row in zip(*rows, strict=True)])
    assert units[0, 0] == 0 and units[-1, 0] == 1
    np.testing.assert_allclose(units[:, 0], (np.array(VALUES) + 7) / WIDE, atol=1e-6)
    np.testing.assert_allclose(units[:, 1], 0.5)


def test_the_shape_is_that_of_a_row():
    rows = encode(wide=[1, 2]).rows
    for leaf, shape in zip(rows, ENCODER.shape, strict=True):
        assert leaf.shape[1:] == shape.shape and leaf.dtype == shape.dtype


def test_the_label_has_its_values_other_and_missing_included():
    assert ENCODER.label == Label("job", 4)
    rows = encode(job=["a", "b", "zzz", None]).rows
    assert ENCODER.classes(rows, ENCODER.label).tolist() == [0, 1, 2, 3]
    for wrong in (Label("job", 3), Label("wide", 4), Label("nothing", 2)):
        with pytest.raises(ValueError, match="cannot be a label"):
            ENCODER.classes(rows, wrong)


@pytest.mark.parametrize("label", [None, "wide"])
def test_a_numeric_label_is_a_column_like_others(label):
    encoder = TableEncoder(SCHEMA.with_label(label))
    assert encoder.label is None and encoder.place(None) is None
    assert encoder.target == (0 if label else None)


def test_a_file_keeps_the_encoder():
    types = pa.schema({"wide": pa.int64(), "member": pa.bool_()})
    for encoder in (ENCODER, TableEncoder(SCHEMA, (), types)):
        again = TableEncoder.from_dict(encoder.to_dict())
        assert again == encoder and again.digest == encoder.digest
