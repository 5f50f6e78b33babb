"""A Parquet file whose column names are no text is refused in words."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rows import Stream, TableEncoder
from nacre.rows.errors import SourceError
from nacre.schema import Integer, Schema


def test_a_name_that_is_no_utf8(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"zzage": [1, 2]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zzage", b"\xe1\xe1age"))
    with pytest.raises(SourceError, match="readable Parquet"):
        Stream(TableEncoder.of(Schema({"zzage": Integer(low=0, high=9)})), path)
