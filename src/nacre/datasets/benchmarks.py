"""The papers' other public tables, read from `$NACRE_DATA/<name>/<name>.parquet`.

`icd` and `mimic_demo` are made from other tables' files; see `diagnoses`.

Features and labels are those of DP-MERF (Harder, Adamczewski and Park, 2021, appendix) where it
uses the table.  A label that the paper derives is added as a new column; columns that are no
features (`split`, `subset`, `recording`, `chunk`, identifiers) stay in the table, so that it can
be split by them, and are not in the schema.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nacre.datasets.bundled import adult_table, read_schema
from nacre.datasets.diagnoses import diabetes_codes, mimic_codes
from nacre.errors import NacreError
from nacre.schema import Schema

# The task description of KDD Cup 1999 groups its labels so.
ATTACKS = {
    "dos": ("back", "land", "neptune", "pod", "smurf", "teardrop"),
    "probe": ("ipsweep", "nmap", "portsweep", "satan"),
    "r2l": (
        "ftp_write",
        "guess_passwd",
        "imap",
        "multihop",
        "phf",
        "spy",
        "warezclient",
        "warezmaster",
    ),
    "u2r": ("buffer_overflow", "loadmodule", "perl", "rootkit"),
}
VOWELS = [1, 5, 9, 15, 21]  # A, E, I, O, U among the letters 1..26


def _with_attack_category(table: pa.Table) -> pa.Table:
    groups = {label: group for group, labels in ATTACKS.items() for label in labels}
    names = table["label"].combine_chunks().dictionary_encode()
    categories = pa.array([groups.get(str(label), "normal") for label in names.dictionary])
    return table.append_column("category", categories.take(names.indices))


def _with_letter_kind(table: pa.Table) -> pa.Table:
    vowel = pc.is_in(table["class"], value_set=pa.array(VOWELS, table["class"].type))
    return table.append_column("kind", pc.if_else(vowel, "vowel", "consonant"))


def _with_seizure_state(table: pa.Table) -> pa.Table:
    return table.append_column(
        "state", pc.if_else(pc.equal(table["y"], 1), "seizure", "no seizure")
    )


def _first_encounters(table: pa.Table) -> pa.Table:
    """One row a patient: a guarantee for one row is then one for one person."""
    first = table.group_by("patient_nbr").aggregate([("encounter_id", "min")])
    return table.filter(pc.is_in(table["encounter_id"], value_set=first["encounter_id_min"]))


def _patients_by_code(table: pa.Table) -> pa.Table:
    return diabetes_codes(table, read_schema("icd").names)


def _mimic_by_code(table: pa.Table) -> pa.Table:
    return mimic_codes(table, read_schema("mimic_demo").names)


_PREPARE: dict[str, Callable[[pa.Table], pa.Table] | None] = {
    "adult": None,
    "census_income_kdd": None,
    "cervical_cancer": None,
    "covertype": None,
    "creditcard": None,
    "diabetes130": _first_encounters,
    "epileptic_seizure": _with_seizure_state,
    "icd": _patients_by_code,
    "isolet": _with_letter_kind,
    "kddcup99_10pct": _with_attack_category,
    "mimic_demo": _mimic_by_code,
}
_FILES = {
    "icd": Path("diabetes130", "diabetes130.parquet"),
    "mimic_demo": Path("mimic3_demo", "diagnoses_icd.parquet"),
}
NAMES = tuple(_PREPARE)


def load(name: str, folder: str | os.PathLike[str] | None = None) -> tuple[pa.Table, Schema]:
    """A public benchmark and its schema; Adult needs no folder.

    Args:
        name: One of `NAMES`.
        folder: Where the tables are; by default the environment variable NACRE_DATA.
    """
    if name not in _PREPARE:
        raise NacreError(f"There is no data set {name!r}. There are: {', '.join(NAMES)}.")
    table = adult_table() if name == "adult" else pq.read_table(_find(name, folder))
    prepare = _PREPARE[name]
    return (table if prepare is None else prepare(table)), read_schema(name)


def _find(name: str, folder: str | os.PathLike[str] | None) -> Path:
    place = os.environ.get("NACRE_DATA") if folder is None else folder
    file = _FILES.get(name, Path(name, f"{name}.parquet"))
    if not place:
        raise NacreError(
            f"The data set {name!r} is not bundled. Give its folder, or set NACRE_DATA to the "
            f"folder that holds {file.as_posix()}."
        )
    path = Path(place) / file
    if not path.is_file():
        raise NacreError(f"There is no {path}. NACRE_DATA or `folder` must lead to it.")
    return path
