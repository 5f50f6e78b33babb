"""Columns that a constraint orders are drawn by how far they are apart."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.report.chapters import columns
from nacre.evaluate.report.figures.canvas import drawing
from nacre.report.builder import fill
from nacre.schema import Datetime, Integer, Real, Schema


def stays(days: float, unit: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    begin = np.datetime64("2021-01-01", "s") + rng.integers(0, 700, 400).astype("m8[D]")
    begin[0] = np.datetime64("NaT")
    apart = (rng.exponential(days, 400) * 24).astype("m8[h]").astype(f"m8[{unit}]")
    return pd.DataFrame(
        {"begin": begin, "end": begin + apart, "a": rng.integers(0, 5, 400), "b": rng.random(400)}
    )


@pytest.mark.parametrize(("step", "unit"), [("1d", "D"), ("1h", "h")])
def test_differences_have_figures_with_what_is_off(step, unit):
    schema = Schema(
        {
            "begin": Datetime(low="2021-01-01", high="2022-12-31", step=step, nullable=True),
            "end": Datetime(low="2021-01-01", high="2023-12-31", step=step, nullable=True),
            "a": Integer(low=0, high=9),
            "b": Real(low=0, high=9),
        },
        constraints=["begin <= end", "b > a"],
    )
    found = evaluate(stays(4, unit), stays(30, unit), schema, metrics=["tv1", "shifts"], jobs=1)
    with drawing():
        page = fill("columns.html", view=columns(found))
    assert 'aria-label="Difference end − begin, real and synthetic"' in page
    assert 'aria-label="Difference b − a, real and synthetic"' in page
    assert "<b>end − begin</b>, days" in page
    caption = page.split("<b>end − begin</b>, days")[1].split("</figcaption>")[0]
    assert 'class="bad">median' in caption


def test_without_constraints_there_are_none(page):
    assert "Difference " not in page.split('id="pairs"')[0].split('id="columns"')[1]
