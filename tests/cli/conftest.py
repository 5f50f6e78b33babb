"""A small table of people, its schema, an open budget, and one model fitted from the terminal."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from nacre.cli import app
from nacre.ledger import Ledger

SCHEMA = """\
nacre: 1
label: income
columns:
  age: {type: integer, low: 17, high: 90}
  sex: {type: categorical, values: [Female, Male]}
  wage: {type: real, low: 0, high: 1000, decimals: 2, nullable: true}
  income: {type: categorical, values: ["<=50K", ">50K"]}
"""
ROWS = 600
# Settings that keep a fit short; the numbers do not matter here.
SMALL = [
    "--method",
    "pearl",
    "--set",
    "frequencies=32",
    "--set",
    "steps=20",
    "--set",
    "components=4",
]


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder to run commands in, with a ledger in which a budget for 'people' is open."""

    path: Path

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def run(self, *arguments: str | Path) -> Any:
        """Run a command; a traceback is a failed test."""
        done = CliRunner(env={"NACRE_TRACEBACK": ""}).invoke(app, [str(a) for a in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    def fit(self, table: str = "people.csv", *more: str | Path, **changed: str) -> Any:
        """`nacre fit` charged to the ledger, with some options changed."""
        options = {
            "schema": self / "people.yaml",
            "epsilon": "1",
            "delta": "1e-5",
            "output": self / "out.nacre",
            "ledger": self / "budget.db",
            "dataset": "people",
            **changed,
        }
        given = [text for name, value in options.items() for text in (f"--{name}", value)]
        return self.run("fit", self / table, *given, *SMALL, *more)

    def spent(self) -> tuple[float, int]:
        """What the ledger says."""
        ledger = Ledger(self / "budget.db")
        return ledger.balance("people").spent_epsilon, len(ledger.history("people"))


def people(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(0)
    wage = np.round(rng.gamma(2, 100, rows).clip(0, 1000), 2)
    age = rng.integers(18, 90, rows)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["Female", "Male"], rows),
            "wage": pa.array(wage, mask=rng.random(rows) < 0.1),
            "income": np.where(wage + 3 * age > 350, ">50K", "<=50K"),
        }
    )


def make(path: Path) -> Folder:
    table = people()
    pa.csv.write_csv(table, path / "people.csv")
    pa.parquet.write_table(table, path / "people.parquet")
    (path / "people.yaml").write_text(SCHEMA)
    Ledger(path / "budget.db").open("people", epsilon=3, delta=1e-4)
    return Folder(path)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make(tmp_path)


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder in which people.csv was fitted to out.nacre; tests must not change these files."""
    folder = make(tmp_path_factory.mktemp("fitted"))
    done = folder.fit("people.csv", "--seed", "0", "--json")
    assert done.exit_code == 0, done.output
    (folder / "fit.json").write_text(done.stdout)
    (folder / "fit.err").write_text(done.stderr)
    (folder / "out.nacre").chmod(0o444)
    return folder
