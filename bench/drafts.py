"""Ten public tables drafted without a look at them: which columns must a careful person edit?

A column must be edited that is an identifier and was kept, or none and was left out; whose type
(number, time, list, ordered list) is not that of the schema that we wrote by hand; or of which a
bound or listed values are held by fewer than ten rows.  `--rare other` is given.  Every draft is
planned, as if all that it suggests had been confirmed; with `--fit` some rows are fitted, too.
"""

import argparse
import dataclasses
import os
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import nacre
from nacre.datasets.bundled import adult_table, read_schema
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Categorical, Column, Ordinal, Schema
from nacre.schema.draft.found import Draft

# Files below NACRE_DATA, and the schema that was written by hand, where there is one.
TABLES = {
    "Adult": (None, "adult"),
    "Census-Income": ("census_income_kdd/census_income_kdd.parquet", "census_income_kdd"),
    "Cervical cancer": ("cervical_cancer/cervical_cancer.parquet", "cervical_cancer"),
    "Covertype": ("covertype/covertype.parquet", "covertype"),
    "Credit card": ("creditcard/creditcard.parquet", "creditcard"),
    "Diabetes 130": ("diabetes130/diabetes130.parquet", "diabetes130"),
    "Epileptic seizure": ("epileptic_seizure/epileptic_seizure.parquet", "epileptic_seizure"),
    "KDD Cup 99": ("kddcup99_10pct/kddcup99_10pct.parquet", "kddcup99_10pct"),
    "MIMIC-III demo, admissions": ("mimic3_demo/admissions.parquet", None),
    "MIMIC-III demo, prescriptions": ("mimic3_demo/prescriptions.parquet", None),
}
IDS = {"encounter_id", "patient_nbr", "row_id", "subject_id", "hadm_id", "icustay_id"}
FITTED = 2000  # rows of each table that are fitted


@dataclasses.dataclass
class Edits:
    """The columns of a draft that must be edited, by reason; one may stand in several."""

    identifiers: list[str]
    types: list[str]
    bounds: list[str]
    values: list[str]

    @property
    def columns(self) -> set[str]:
        """All of them."""
        return {*self.identifiers, *self.types, *self.bounds, *self.values}


def edits(found: Draft, names: list[str], truth: Schema | None) -> Edits:
    """What is left to do in a draft of a table with these columns."""
    columns = found.schema.columns
    kept = [name for name in names if name in columns and name.lower() in IDS]
    known = {} if truth is None else truth.columns
    lost = [name for name in known if name in names and name not in columns]
    types = [n for n, c in known.items() if n in columns and kind(columns[n]) != kind(c)]
    rare = [name for name, facts in found.rare.items() if facts]
    listed = [name for name in rare if isinstance(columns[name], Categorical | Ordinal)]
    return Edits(kept + lost, types, [name for name in rare if name not in listed], listed)


def kind(column: Column) -> str:
    """What a column is modeled as."""
    if isinstance(column, Ordinal):
        return "ordered"
    if column.ticks is None:
        return "list"
    return "time" if column.type == "datetime" else "number"


def confirmed(found: Draft) -> Schema:
    """The draft, reviewed, with all that it suggests."""
    said = yaml.safe_load(found.to_yaml()) | {"reviewed": True}
    said["constraints"] = list(found.suggested.constraints)
    said["facts"] = list(found.suggested.facts)
    return Schema.parse(yaml.safe_dump(said, sort_keys=False, allow_unicode=True))


def read(file: str | None) -> pa.Table:
    """A table as its file has it."""
    return adult_table() if file is None else pq.read_table(Path(os.environ["NACRE_DATA"], file))


def main(arguments: list[str]) -> None:
    """Print the table of docs/schema.md, and which columns they are."""
    parser = argparse.ArgumentParser(prog="python -m bench drafts", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args(arguments)
    print(
        "| table | columns | edits | of these: identifier, type, bound, values | facts offered |",
        end="",
    )
    print(" fits | CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.tables:
        file, schema = TABLES[name]
        table, start = read(file), time.process_time()
        truth = None if schema is None else read_schema(schema)
        label = truth.label if truth is not None and truth.label in table.column_names else None
        found = nacre.draft(table, label=label, rare="other")
        spent = time.process_time() - start
        left = edits(found, table.column_names, truth)
        reasons = (left.identifiers, left.types, left.bounds, left.values)
        each = ", ".join(str(len(some)) for some in reasons) if left.columns else ""
        offered = len(found.suggested.facts) + len(found.suggested.constraints)
        done = tried(confirmed(found), table, fit=options.fit)
        print(
            f"| {name} | {table.num_columns} | {len(left.columns)} | {each} | {offered} | {done} "
            f"| {spent:.0f} |",
            flush=True,
        )
        for reason, some in zip(("identifier", "type", "bound", "values"), reasons, strict=True):
            if some:
                print(f"<!-- {reason}: {', '.join(some)} -->", flush=True)


def tried(schema: Schema, table: pa.Table, *, fit: bool) -> str:
    """Plan the schema and perhaps fit some rows; an error stops the bench, as none is expected."""
    nacre.plan(schema, epsilon=1, delta=1e-6)
    if not fit:
        return "planned"
    rows = table.slice(0, FITTED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = nacre.fit(rows, schema, method=Mosaic().small(), epsilon=1, delta=1e-6, seed=0)
    sampled = model.sample_arrow(100, seed=0)
    return "yes" if schema.check(sampled).ok else "no"
