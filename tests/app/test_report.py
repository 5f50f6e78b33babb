"""The confidential report is on the rows that were drawn, not on what a spreadsheet needs."""

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv

import nacre
from nacre.app import child, folder
from nacre.app import run as runs
from nacre.app.planning import Choices

VALUES = ("-1 to 0", "0 to 1")


def test_apostrophes_for_spreadsheets_are_no_values(tmp_path):
    rows = np.array(VALUES)[np.random.default_rng(0).integers(0, 2, 200)]
    table = pa.table({"a": rows, "b": rows[::-1]})
    schema = nacre.Schema({name: nacre.Categorical(values=VALUES) for name in "ab"})
    pa.csv.write_csv(table, tmp_path / "t.csv")
    here = runs.Run(tmp_path, 1)
    schema.write(here / runs.SCHEMA)
    nacre.Ledger(tmp_path / "b.db").open("t", epsilon=1, delta=1e-6)
    task = {"table": str(tmp_path / "t.csv"), "ledger": str(tmp_path / "b.db")}
    folder.write_json(here / "task.json", task | {"choices": Choices(dataset="t").to_dict()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = nacre.MERF(frequencies=8, steps=2, components=2)
        model = nacre.fit(table, schema, method=small, epsilon=9, delta=1e-6)
        child.draw(model, 100, 3, tmp_path / "drawn.csv")
        status = child.Status(tmp_path / "status.json")
        child.evaluate(model, here, (100, 3), tmp_path / "report.html", status)
    drawn = pyarrow.csv.read_csv(tmp_path / "drawn.csv").column("a").to_pylist()
    assert "'-1 to 0" in drawn
    assert [text.lstrip("'") for text in drawn] == model.sample_arrow(100, seed=3)["a"].to_pylist()
    assert "0% instead of" not in (tmp_path / "report.html").read_text()
