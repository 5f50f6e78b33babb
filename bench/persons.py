"""Several rows a person against one row a person, at the same privacy of persons.

Diabetes 130-US hospitals: 101,766 encounters of 71,518 patients.  Four fifths of the patients are
fitted, with at most 1, 3 and 5 encounters of each; models that learn from the synthetic encounters
predict, for all encounters of the others, whether a patient was readmitted.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.protocol import Split, auc
from nacre.datasets.bundled import read_schema
from nacre.fit import fit
from nacre.schema import Categorical, Schema, Unit

# Without diagnoses, specialties and drugs that hardly anybody gets, so that a fit takes a minute.
COLUMNS = (
    "race",
    "gender",
    "age",
    "admission_type_id",
    "time_in_hospital",
    "num_lab_procedures",
    "num_procedures",
    "num_medications",
    "number_outpatient",
    "number_emergency",
    "number_inpatient",
    "number_diagnoses",
    "A1Cresult",
    "metformin",
    "insulin",
    "change",
    "diabetesMed",
)
LABEL = "again"
CONSTANT = ("race", "gender")
CLASSIFIERS = ("logistic regression", "random forest")


def main(arguments: list[str]) -> None:
    """Print AUC, rows a person and the shares of a few columns for each number of rows."""
    parser = argparse.ArgumentParser(prog="python -m bench persons", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 3, 5])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--method", default="mosaic")
    asked = parser.parse_args(arguments)
    print("| rows of a person that count | seed | " + " | ".join(CLASSIFIERS), end="")
    print(" | rows a person: real, synthetic | readmitted: real, synthetic | CPU s |")
    print("| --- " * (len(CLASSIFIERS) + 5) + "|")
    for seed in range(asked.seeds):
        split = patients(seed)
        scores = [f"{auc(split.train, split, name, seed):.4f}" for name in CLASSIFIERS]
        print(f"| the real rows | {seed} | {' | '.join(scores)} | | | |", flush=True)
        for rows in asked.rows:
            print(line(split, rows, asked.method, asked.epsilon, seed), flush=True)


def patients(seed: int) -> Split:
    """Encounters of four fifths of the patients, drawn at random, and of the others."""
    found = pq.read_table(Path(os.environ["NACRE_DATA"], "diabetes130", "diabetes130.parquet"))
    again = pc.if_else(pc.equal(found["readmitted"], "NO"), "no", "yes")
    table = found.select(["patient_nbr", *COLUMNS]).append_column(LABEL, again)
    columns = dict(read_schema("diabetes130").select(COLUMNS).columns)
    schema = Schema({**columns, LABEL: Categorical(values=("no", "yes"))}, label=LABEL)
    who = np.asarray(table["patient_nbr"])
    every = np.unique(who)
    held = np.random.default_rng(seed).permutation(every)[: len(every) // 5]
    test = np.isin(who, held)
    return Split(table.filter(pa.array(~test)), table.filter(pa.array(test)), schema)


def line(split: Split, rows: int, method: str, epsilon: float, seed: int) -> str:
    """One fit, scored."""
    unit = Unit(column="patient_nbr", rows=rows, constant=CONSTANT)
    schema = Schema(split.schema.columns, label=LABEL, unit=unit)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(split.train, schema, method=method, epsilon=epsilon, delta=1e-6, seed=seed)
    seconds = time.process_time() - start
    synthetic = model.sample_arrow(split.train.num_rows, seed=seed)
    scores = [f"{auc(synthetic, split, name, seed):.4f}" for name in CLASSIFIERS]
    many = [f"{_many(table, rows):.3f}" for table in (split.train, synthetic)]
    again = [f"{_again(table, rows):.3f}" for table in (split.train, synthetic)]
    return (
        f"| {rows} | {seed} | {' | '.join(scores)} | {', '.join(many)} | {', '.join(again)} "
        f"| {seconds:.0f} |"
    )


def _many(table: pa.Table, rows: int) -> float:
    """Rows a person, of which at most `rows` count."""
    _, counts = np.unique(np.asarray(table["patient_nbr"]), return_counts=True)
    return float(np.minimum(counts, rows).mean())


def _again(table: pa.Table, rows: int) -> float:
    """The share of encounters after which a patient came again, where at most `rows` count."""
    _, place, counts = np.unique(
        np.asarray(table["patient_nbr"]), return_inverse=True, return_counts=True
    )
    weight = np.minimum(1, rows / counts)[place]
    again = np.asarray(pc.equal(table[LABEL], "yes"))
    return float((weight * again).sum() / weight.sum())
