import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre import datasets
from nacre.datasets.diagnoses import diabetes_codes, mimic_codes


def test_a_patient_has_the_codes_of_all_visits():
    visits = pa.table(
        {
            "patient_nbr": [9, 4, 9],
            "diag_1": ["250.83", "V58", "8"],
            "diag_2": ["?", "250", "250.01"],
            "diag_3": [None, "E888", "V58.6"],
        }
    )
    found = diabetes_codes(visits, ["008", "250", "E888", "V58", "999"])
    assert found.to_pylist() == [
        {"patient_nbr": 4, "008": False, "250": True, "E888": True, "V58": True, "999": False},
        {"patient_nbr": 9, "008": True, "250": True, "E888": False, "V58": True, "999": False},
    ]


def test_a_code_that_is_not_listed_is_left_out_and_its_patient_kept():
    diagnoses = pa.table({"subject_id": [2, 1, 1], "icd9_code": ["0388", "99591", None]})
    found = mimic_codes(diagnoses, ["995"])
    assert found.to_pylist() == [
        {"subject_id": 1, "995": True},
        {"subject_id": 2, "995": False},
    ]


def test_files_of_other_names_are_found(tmp_path):
    (tmp_path / "mimic3_demo").mkdir()
    rows = pa.table({"subject_id": [5], "icd9_code": ["4280"]})
    pq.write_table(rows, tmp_path / "mimic3_demo" / "diagnoses_icd.parquet")
    table, schema = datasets.load("mimic_demo", tmp_path)
    assert [name for name in schema.names if table[name][0].as_py()] == ["428"]
    with pytest.raises(ValueError, match=r"diabetes130\.parquet"):
        datasets.load("icd", tmp_path)


@pytest.mark.data
def test_the_demo_is_what_others_made_of_it():
    folder = os.environ.get("NACRE_DATA")
    if not folder:
        pytest.skip("set NACRE_DATA to the folder of public benchmarks to run this")
    other = pq.read_table(Path(folder, "mimic3_demo", "patient_icd9_3digit_binary.parquet"))
    table, schema = datasets.load("mimic_demo", folder)
    other = other.sort_by("subject_id")
    assert other.column_names == ["subject_id", *schema.names]
    assert other["subject_id"].to_pylist() == table["subject_id"].to_pylist()
    for name in schema.names:
        ours = table[name].to_numpy(zero_copy_only=False)
        assert np.array_equal(ours, other[name].to_numpy() == 1)
