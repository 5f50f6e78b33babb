"""What a process does while it is killed or crowded: the real verbs, again and again.

Each sends what it has done through a pipe; what was sent is what a user may rely on.
"""

from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

SHARE = 0.01
ROWS = 2_000


def table() -> tuple[Any, Any]:
    """A small made-up table and its schema."""
    import pyarrow as pa

    import nacre

    schema = nacre.Schema(
        {
            "age": nacre.Integer(low=0, high=99),
            "sex": nacre.Categorical(values=("f", "m")),
            "income": nacre.Categorical(values=("low", "high")),
        },
        label="income",
    )
    rng = np.random.default_rng(0)
    rows = {
        "age": rng.integers(0, 100, 300),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, 300)],
        "income": np.array(["low", "high"])[rng.integers(0, 2, 300)],
    }
    return pa.table(rows), schema


def method() -> Any:
    """The smallest there is."""
    from nacre.methods.merf import MERF

    return MERF(frequencies=8, steps=2, components=2)


def fit(pipe: Connection, ledger: str, folder: Path) -> None:
    """Fit, charged to a ledger, and save, until the budget ends."""
    import warnings

    import nacre

    warnings.simplefilter("ignore")
    rows, schema = table()
    settings: dict[str, Any] = {"ledger": ledger, "dataset": "census", "method": method()}
    pipe.send(None)
    while True:
        model = nacre.fit(rows, schema, epsilon=SHARE, delta=1e-9, **settings)
        pipe.send(model.ledger["entry"])
        model.save(folder / "fitted.nacre", replace=True)


def noise(pipe: Connection, ledger: str, folder: Path) -> None:
    """The same, and it says when the first noise of each fit has been drawn."""
    import warnings

    import nacre

    warnings.simplefilter("ignore")
    rows, schema = table()
    settings: dict[str, Any] = {"ledger": ledger, "dataset": "census", "method": method()}

    def released(stage: str, done: float | None) -> None:
        if done == 1.0:
            pipe.send(None)

    pipe.send(None)
    while True:
        model = nacre.fit(rows, schema, epsilon=SHARE, delta=1e-9, on_progress=released, **settings)
        pipe.send(model.ledger["entry"])
        model.save(folder / "fitted.nacre", replace=True)


def save(pipe: Connection, ledger: str, folder: Path) -> None:
    """Save one of two models under one name."""
    import nacre

    models = [nacre.load(folder / f"{name}.nacre") for name in "ab"]
    pipe.send(None)
    while True:
        for model in models:
            model.save(folder / "saved.nacre", replace=True)


def sample(pipe: Connection, ledger: str, folder: Path) -> None:
    """Draw rows as `nacre sample` does, to CSV and to Parquet."""
    from nacre.cli import app

    pipe.send(None)
    while True:
        for kind in ("csv", "parquet"):
            words = ["sample", str(folder / "a.nacre"), "-n", str(ROWS), "--force", "--quiet"]
            app([*words, "-o", str(folder / f"drawn.{kind}")], standalone_mode=False)


def spend(pipe: Connection, ledger: str, share: float) -> None:
    """Reserve, record and finish until nothing is left."""
    from nacre.ledger import BudgetExceeded, Ledger

    book = Ledger(ledger)
    cost: dict[str, Any] = {"epsilon": share, "delta": 0, "adjacency": "add-remove"}
    pipe.send(None)
    while True:
        try:
            entry = book.reserve("census", method="PEARL", **cost)
        except BudgetExceeded:
            return
        pipe.send(entry)
        book.record(entry, {"name": "first"})
        book.finish(entry)


def write_ledger(pipe: Connection, ledger: str, folder: Path) -> None:
    """Only the ledger's own writes, as quickly as they go."""
    spend(pipe, ledger, SHARE)
