"""What the report says of persons: numbers of rows, constant columns, rows that hang together."""

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.tables.persons import whose
from nacre.schema import Categorical, Integer, Schema

COLUMNS = {"sex": Categorical(values=("f", "m")), "cost": Integer(low=0, high=999)}
SCHEMA = Schema(COLUMNS, unit={"column": "who", "rows": 3, "constant": ["sex"]})


def visits(seed, *, odds=(0.5, 0.3, 0.1, 0.1), alike=True, sex=True):
    rng = np.random.default_rng(seed)
    many = rng.choice([1, 2, 3, 8], 800, p=odds)
    who = np.repeat(np.arange(800), many)
    own = rng.integers(0, 1000, 800)[who]
    every = rng.integers(0, 1000, len(who))
    return pd.DataFrame(
        {
            "who": who,
            "sex": rng.choice(["f", "m"], 800)[who] if sex else rng.choice(["f", "m"], len(who)),
            "cost": own if alike else every,
        }
    )


def said(synthetic, schema=SCHEMA):
    found = evaluate(visits(0), synthetic, schema, metrics=["tv1"], jobs=1)
    return found, [f for f in found.findings["synthetic"] if f.topic == "Persons"]


def test_numbers_are_those_of_the_tables():
    table = visits(0)
    found, many = whose(table, SCHEMA), table.groupby("who").size()
    assert (found.rows, found.persons) == (len(table), 800)
    assert found.beyond == (many > 3).sum() and found.uncounted == (many - many.clip(upper=3)).sum()
    np.testing.assert_allclose(found.many, [(many.clip(upper=3) == k).mean() for k in (1, 2, 3)])
    assert found.mean == pytest.approx(many.clip(upper=3).mean())
    assert found.alike == {"sex": 1.0, "cost": 1.0}


def test_a_good_table_is_good():
    _, found = said(visits(1, odds=(0.5, 0.3, 0.2, 0)))
    assert [finding.level for finding in found] == ["good"]
    assert "have more than 3 rows, of which 3 count in a fit" in found[0].text


def test_wrong_numbers_broken_constants_and_lost_courses_are_named():
    _, found = said(visits(1, odds=(0.1, 0.1, 0.8, 0), alike=False, sex=False))
    texts = [finding.text for finding in found]
    assert any("Do not study how many rows a person has" in text for text in texts)
    assert any("should not change within a person do in this table" in text for text in texts)
    assert any(
        "Do not follow one person" in text and "cost (100% of the real" in text for text in texts
    )


def test_a_table_without_ids_is_told():
    found, about = said(visits(1).drop(columns="who"))
    assert not about
    assert any(
        "Persons were not compared: 'synthetic' has no column 'who'" in n for n in found.notes
    )
    _, nothing = said(visits(1), Schema(COLUMNS))
    assert not nothing
