import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import nacre
from nacre import datasets
from nacre.datasets import benchmarks
from nacre.datasets.bundled import FOLDER, read_schema

# Rows, features and classes, as published; 0 classes where there is no label.
SHAPES = {
    "adult": (48_842, 14, 2),
    "census_income_kdd": (299_285, 40, 2),
    "cervical_cancer": (858, 35, 2),
    "covertype": (581_012, 54, 7),
    "creditcard": (284_807, 29, 2),
    "diabetes130": (71_518, 47, 3),
    "epileptic_seizure": (11_500, 178, 2),
    "icd": (71_518, 881, 0),
    "isolet": (7_797, 617, 2),
    "kddcup99_10pct": (494_021, 40, 5),
    "mimic_demo": (100, 275, 0),
}


def folder_of(name):
    folder = os.environ.get("NACRE_DATA")
    if name != "adult" and not folder:
        pytest.skip("set NACRE_DATA to the folder of public benchmarks to run this")
    return folder


def test_every_name_has_a_schema_and_no_other():
    files = sorted(path.name for path in (FOLDER / "schemas").iterdir())
    assert files == [f"{name}.yaml" for name in datasets.NAMES] and set(SHAPES) == {*datasets.NAMES}


@pytest.mark.parametrize("name", datasets.NAMES)
def test_schemas_say_what_is_published(name):
    _, features, classes = SHAPES[name]
    schema = read_schema(name)
    assert len(schema.columns) == features + (classes > 0)
    if classes:
        assert len(schema.columns[schema.label].values) == classes
    else:
        assert schema.label is None and {c.type for c in schema.columns.values()} == {"boolean"}
    assert schema.provenance == "declared"
    assert not {"split", "subset", "recording", "chunk", "patient_nbr"} & {*schema.names}


@pytest.mark.data
@pytest.mark.parametrize("name", datasets.NAMES)
def test_every_row_fits_its_schema(name):
    table, schema = datasets.load(name, folder_of(name))
    assert table.num_rows == SHAPES[name][0]
    check = schema.check(table)
    assert check.bad_rows == 0, check.describe()
    classes = 0 if schema.label is None else pc.count_distinct(table[schema.label]).as_py()
    assert classes == SHAPES[name][2], "a class that never occurs, or a label that was not derived"


@pytest.mark.data
def test_derived_labels_have_the_published_counts():
    folder = folder_of("isolet")
    expected = {
        "epileptic_seizure": {"seizure": 2_300, "no seizure": 9_200},
        "isolet": {"vowel": 1_500, "consonant": 6_297},
        "kddcup99_10pct": {
            "normal": 97_278,
            "dos": 391_458,
            "probe": 4_107,
            "r2l": 1_126,
            "u2r": 52,
        },
    }
    for name, counts in expected.items():
        table, schema = datasets.load(name, folder)
        found = pc.value_counts(table[schema.label]).to_pylist()
        assert {pair["values"]: pair["counts"] for pair in found} == counts


def test_one_row_a_patient():
    visits = pa.table({"patient_nbr": [7, 8, 7, 7], "encounter_id": [30, 20, 10, 40]})
    kept = benchmarks._first_encounters(visits)
    assert kept.to_pylist() == [
        {"patient_nbr": 8, "encounter_id": 20},
        {"patient_nbr": 7, "encounter_id": 10},
    ]


def test_the_folder_may_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "isolet").mkdir()
    rows = pa.table({"class": pa.array([1, 2, 21], pa.int8())})
    pq.write_table(rows, tmp_path / "isolet" / "isolet.parquet")
    monkeypatch.setenv("NACRE_DATA", str(tmp_path))
    table, schema = datasets.load("isolet")
    assert table["kind"].to_pylist() == ["vowel", "consonant", "vowel"] and schema.label == "kind"


def test_what_is_not_there_is_said(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="no data set 'iris'. There are: adult, census"):
        datasets.load("iris")
    with pytest.raises(nacre.NacreError, match=r"isolet\.parquet"):
        datasets.load("isolet", tmp_path)
    monkeypatch.delenv("NACRE_DATA", raising=False)
    with pytest.raises(nacre.NacreError, match="not bundled.*NACRE_DATA"):
        datasets.load("isolet")
    assert datasets.load("adult")[0].num_rows == 48_842
