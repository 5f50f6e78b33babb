from importlib import resources

import pyarrow.compute as pc

from nacre import datasets


def counts(column):
    return {str(pair["values"]): pair["counts"].as_py() for pair in pc.value_counts(column)}


def test_adult_is_the_official_split():
    train, test = datasets.adult()
    assert (train.num_rows, test.num_rows) == (32_561, 16_281)
    assert train.schema == test.schema and "split" not in train.column_names
    assert counts(train["income"]) == {"<=50K": 24_720, ">50K": 7_841}
    assert counts(test["income"]) == {"<=50K": 12_435, ">50K": 3_846}
    assert train.slice(0, 1).to_pylist()[0]["native-country"] == "United-States"


def test_the_schema_fits_every_row_of_adult():
    schema = datasets.adult_schema()
    assert schema.label == "income" and schema.provenance == "declared"
    for part in datasets.adult():
        assert schema.names == tuple(part.column_names)
        check = schema.check(part)
        assert check.ok, check.describe()
        assert schema.decode(schema.encode(part)).to_pydict() == part.to_pydict()


def test_unknown_values_are_a_value_of_their_own():
    schema = datasets.adult_schema()
    marked = [
        name for name, column in schema.columns.items() if "?" in getattr(column, "values", ())
    ]
    assert marked == ["workclass", "occupation", "native-country"]


def test_the_bundled_file_is_small_and_attributed():
    folder = resources.files("nacre.datasets")
    assert len((folder / "adult.parquet").read_bytes()) < 500_000
    text = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for needed in ("Becker", "Kohavi", "CC BY 4.0", "10.24432/C5XW20", "Changes made"):
        assert needed in text
