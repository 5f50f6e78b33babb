"""Patients by the categories of their ICD-9 diagnoses: wide tables of two-valued columns.

DP-auto-GAN (Tantipongpipat et al., 2019) is tried on such a table, made from MIMIC-III: one row a
patient, 1,071 columns, each whether any of the patient's visits has a code of that category.
MIMIC-III itself may not be passed on.  Two public tables stand in for it:

- `icd`, the Diabetes 130-US hospitals file: 71,518 patients, 881 categories, at most three
  diagnoses a visit, so it is far sparser;
- `mimic_demo`, the open demo of MIMIC-III: 100 patients, 275 categories, too few rows to fit much.

The list of columns is public, because ICD-9 is a published list of codes.  The schemas hold the
categories that occur in these public files, which stand in for the whole list.  For a private file
that choice would leak which codes occur: take the published list, all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

DIGITS = 3
_VISIT_COLUMNS = ("diag_1", "diag_2", "diag_3")


def category(code: str) -> str:
    """The three-digit category of an ICD-9 code, written with or without its point.

    Categories of external causes are an E and three digits, supplementary ones a V and two.  A
    number that a spreadsheet has robbed of its leading zeros gets them back, where a point or its
    length shows it to be a category.

    Examples:
        >>> [category(code) for code in ("250.83", "25083", "8", "V5867", "V58", "E8791")]
        ['250', '250', '008', 'V58', 'V58', 'E879']
    """
    whole = code.split(".")[0]
    if whole[:1].isdigit():
        return whole[:DIGITS].zfill(DIGITS)
    return whole[: DIGITS + 1 if whole.startswith("E") else DIGITS]


def diabetes_codes(visits: pa.Table, categories: Sequence[str]) -> pa.Table:
    """One row a patient of Diabetes-130, from the three diagnoses of each visit."""
    patients = np.tile(visits["patient_nbr"].to_numpy(), len(_VISIT_COLUMNS))
    codes = pa.concat_arrays([visits[name].combine_chunks() for name in _VISIT_COLUMNS])
    return _by_patient("patient_nbr", patients, codes, categories)


def mimic_codes(diagnoses: pa.Table, categories: Sequence[str]) -> pa.Table:
    """One row a patient of MIMIC-III, from its table of diagnoses."""
    patients = diagnoses["subject_id"].to_numpy()
    return _by_patient("subject_id", patients, diagnoses["icd9_code"].combine_chunks(), categories)


def _by_patient(
    identifier: str, patients: np.ndarray, codes: pa.Array, categories: Sequence[str]
) -> pa.Table:
    """The patients in order, and for each category whether any of a patient's codes is of it."""
    people, row = np.unique(patients, return_inverse=True)
    places = {name: place for place, name in enumerate(categories)}
    said = codes.dictionary_encode()
    place_of = np.array(
        [places.get(category(code or ""), -1) for code in said.dictionary.to_pylist()]
    )
    columns = place_of[said.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    known = (columns >= 0) & ~codes.is_null().to_numpy(zero_copy_only=False)
    found = np.zeros((len(categories), len(people)), bool)
    found[columns[known], row[known]] = True
    return pa.table(
        {identifier: people, **{name: pa.array(found[i]) for i, name in enumerate(categories)}}
    )
