"""A small table for the documentation's examples, and settings under which they run quickly."""

import dataclasses
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import nacre
from nacre.evaluate import run as _evaluation  # noqa: F401
from nacre.methods.mosaic.mosaic import Mosaic

from .pages import DOCS, blocks

ROWS = 1500
FEW = {"steps": 2, "components": 4, "fits": 1, "frequencies": 80}


def people() -> pa.Table:
    """Made-up people who fit the quickstart's schema."""
    rng = np.random.default_rng(0)
    age = rng.integers(17, 91, ROWS)
    wage = np.round(rng.gamma(2.0, 60.0, ROWS).clip(0, 1000), 2)
    rich = rng.random(ROWS) < 0.2 + 0.004 * (age - 17)
    days = rng.integers(0, 9000, ROWS)
    return pa.table(
        {
            "age": age,
            "wage": pa.array(wage, mask=rng.random(ROWS) < 0.1),
            "sex": np.where(rng.random(ROWS) < 0.5, "Female", "Male"),
            "seen": pa.array(np.datetime64("2000-01-01") + days.astype("timedelta64[D]")),
            "income": np.where(rich, ">50K", "<=50K"),
        }
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """people.csv, people.nacre (which the quickstart saves) and every titled file of the pages."""
    folder = tmp_path_factory.mktemp("files")
    pyarrow.csv.write_csv(people(), folder / "people.csv")
    for page in DOCS.glob("*.md"):
        for block in blocks(page):
            if block.title is not None:
                (folder / block.title).write_text(block.text, encoding="utf-8")
    schema = nacre.Schema.read(folder / "people.yaml")
    assert schema.check(people()).ok
    quick = Mosaic(steps=2, components=4, fits=1)
    model = nacre.fit(folder / "people.csv", schema, method=quick, epsilon=1, delta=1e-6)
    model.save(folder / "people.nacre")
    return folder


@pytest.fixture
def desk(files, tmp_path, monkeypatch):
    """A folder of one's own with these files; methods take few steps, evaluation one model."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    fitting = sys.modules["nacre.fit"]
    choose = fitting.choose

    def quick(*arguments):
        method, reason = choose(*arguments)
        names = {field.name for field in dataclasses.fields(method)}
        few = {name: value for name, value in FEW.items() if name in names}
        return dataclasses.replace(method, **few), reason

    monkeypatch.setattr(fitting, "choose", quick)
    monkeypatch.setattr(sys.modules["nacre.evaluate.run"], "QUICK", ("logistic regression",))
    return tmp_path
