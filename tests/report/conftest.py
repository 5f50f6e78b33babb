"""A hostile table, and both reports on it: each is drawn once for all tests."""

import numpy as np
import pandas as pd
import pytest
from tests.report.outline import Outline

import nacre
from nacre.evaluate import Evaluation, evaluate
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.publish import PublicReport, publish
from nacre.schema import Categorical, Integer, Real, Schema

SCRIPT = "<script>alert(1)</script>"
NASTY = [SCRIPT, "$x^2$", '" onload="alert(2)', "--><b>", "]]>", "日本語", "a\nb\x07", "&amp;"]
COLUMN = "<img src=x onerror=alert(3)>"


@pytest.fixture(scope="session")
def hostile() -> tuple[Schema, pd.DataFrame, pd.DataFrame]:
    schema = Schema(
        {
            COLUMN: Categorical(values=NASTY),
            "$n$": Integer(low=0, high=5),
            "real": Real(low=0, high=1, nullable=True),
            "label</style>": Categorical(values=["no", SCRIPT]),
        },
        label="label</style>",
    )

    def make(n: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        first = rng.choice(NASTY, n)
        return pd.DataFrame(
            {
                COLUMN: first,
                "$n$": rng.integers(0, 6, n),
                "real": np.where(rng.random(n) < 0.1, np.nan, rng.random(n)),
                "label</style>": np.where((first == SCRIPT) | (rng.random(n) < 0.2), SCRIPT, "no"),
            }
        )

    return schema, make(400, 0), make(300, 1)


@pytest.fixture(scope="session")
def evaluation(hostile) -> Evaluation:
    schema, real, synthetic = hostile
    return evaluate(
        real,
        {SCRIPT: synthetic, "other": synthetic.head(200)},
        schema,
        metrics="all",
        classifiers=["logistic regression", "decision tree"],
        guarantee={
            SCRIPT: {
                "epsilon": 1.0,
                "delta": 1e-6,
                "adjacency": "add-remove",
                "releases": [{"name": SCRIPT, "mechanism": "gaussian", "noise": 3.7, "size": 10}],
            }
        },
        jobs=1,
    )


@pytest.fixture(scope="session")
def page(evaluation) -> str:
    return evaluation.to_html()


@pytest.fixture(scope="session")
def outline(page) -> Outline:
    return Outline(page)


@pytest.fixture(scope="session")
def public_report(hostile) -> PublicReport:
    schema, real, _ = hostile
    method = Mosaic(steps=5, components=4, fits=1)
    model = nacre.fit(real, schema, method=method, epsilon=50, delta=1e-4)
    return publish(model, rows=2000, data=real, epsilon=50, delta=1e-4)


@pytest.fixture(scope="session")
def public_page(public_report) -> str:
    return public_report.to_html()


@pytest.fixture(scope="session")
def public_outline(public_page) -> Outline:
    return Outline(public_page)
