"""Lists that a sentence cuts can be opened: in the page, in a notebook and in JSON."""

import json

import numpy as np
import pandas as pd
import pytest

from nacre.evaluate import evaluate
from nacre.evaluate.findings.finding import WHOLE
from nacre.evaluate.findings.words import LONGEST, listed
from nacre.schema import Integer, Schema

COLUMNS = 9


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    schema = Schema({f"number {k}": Integer(low=0, high=99) for k in range(COLUMNS)})
    real = {name: rng.integers(0, 50, 600) for name in schema.names}
    wrong = {name: rng.integers(30, 100, 600) for name in schema.names}
    return evaluate(pd.DataFrame(real), pd.DataFrame(wrong), schema, metrics=["tv1", "shifts"])


def test_what_a_sentence_counts_is_listed(found):
    columns = next(f for f in found.findings["synthetic"] if f.topic == "Columns")
    assert columns.text.count("number ") == 5 and " and 4 more: " in columns.text
    named = [name for name in found.schema.names if f"{name} (" in columns.text]
    assert {each.split(" (")[0] for each in columns.rest} == {*found.schema.names} - {*named}


def test_every_list_that_is_cut_can_be_opened(found):
    cut = [f for f in found.findings["synthetic"] if " more" in f.text]
    assert {f.topic for f in cut} == {"Columns", "Numbers"}
    assert all(len(f.rest) == int(f.text.partition(" more")[0].split()[-1]) for f in cut)
    for page in (found.to_html(), found._repr_html_()):
        assert page.count("<details>") == len(cut)
        assert all(each in page for f in cut for each in f.rest)
    said = json.loads(found.to_json())["findings"]["synthetic"]
    assert [tuple(f["rest"]) for f in said if f["rest"]] == [f.rest for f in cut]
    assert found.summary().count(WHOLE) == 1


def test_where_nothing_is_cut_nothing_is_said_of_it(real, good, schema):
    whole = evaluate(real, good, schema, metrics=["tv1"])
    assert WHOLE not in whole.summary() and "<details>" not in whole.to_html()


def test_a_list_that_can_be_opened_ends_somewhere():
    assert listed(["a"] * (3 + LONGEST), 3).rest == ("a",) * LONGEST
    assert listed(["a"] * (5 + LONGEST), 3).rest[-2:] == ("a", "and 2 more")
