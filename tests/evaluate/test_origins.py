"""A guarantee is shown only of a model that the table can have come from."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import nacre
from nacre.evaluate import evaluate
from nacre.methods.merf import MERF
from nacre.schema import Categorical, Integer, Ordinal, Schema
from nacre.vault.accountant import Adjacency
from nacre.vault.guarantee import Guarantee

MADE = Guarantee(epsilon=2.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE, releases=())


def model_of(schema):
    return SimpleNamespace(guarantee=MADE, schema=schema)


def judged(real, table, schema, model, **others):
    return evaluate(real, table, schema, metrics=["tv1"], guarantee=model, **others)


@pytest.mark.filterwarnings("ignore")  # of few steps
def test_a_model_may_be_the_path_of_its_file(real, good, schema, tmp_path):
    method = MERF(frequencies=20, steps=5, components=4)
    path = tmp_path / "m.nacre"
    nacre.fit(real, schema, method=method, epsilon=1, delta=1e-6).save(path)
    for given in (path, str(path), {"synthetic": str(path)}):
        found = judged(real, good, schema, given).guarantees["synthetic"]
        assert found["epsilon"] <= 1 and found["source"] == "of the model m.nacre"


def test_a_model_of_other_columns_lends_no_guarantee(real, good, schema):
    names = [name for name in schema.names if name != "job"]
    model = model_of(schema.select(names))
    for given in (model, {"synthetic": model}):
        with pytest.raises(ValueError, match="another table: it lacks 'job'"):
            judged(real, good, schema, given)
    with pytest.raises(ValueError, match="it has 'job', which the schema lacks"):
        judged(real, good, schema.select(names), model_of(schema))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"age": Integer(low=17, high=60)}, "'age' has `high: 60` in the model and 90 in the"),
        ({"sex": Categorical(values=["F", "M"])}, "'sex' has other `values`"),
        ({"sex": Ordinal(values=["Female", "Male"])}, "is ordinal in the model and categorical"),
        ({"age": Integer(low=17, high=90, nullable=True)}, "`nullable: true` in the model and fal"),
    ],
)
def test_a_model_of_other_facts_lends_no_guarantee(changed, words, real, good, schema):
    theirs = Schema({**schema.columns, **changed}, label=schema.label)
    with pytest.raises(ValueError, match="another table") as caught:
        judged(real, good, schema, model_of(theirs))
    assert words in str(caught.value)


def test_what_may_have_changed_since_the_fit(real, good, schema):
    spikes = dataclasses.replace(schema.columns["age"], spikes=(18,))
    order = Categorical(values=["Male", "Female"])
    theirs = Schema({**schema.columns, "age": spikes, "sex": order}, reviewed=True)
    found = judged(real, good, schema, model_of(theirs))  # which was fitted without a label
    assert found.guarantees["synthetic"]["epsilon"] == 2.0
    assert "Another model" not in {each.topic for each in found.findings["synthetic"]}


def test_a_model_of_another_label_says_so(real, good, schema):
    model = model_of(schema.with_label("sex"))
    with pytest.raises(ValueError, match="fitted with the label 'sex'.*--label sex"):
        judged(real, good, schema, model)
    assert judged(real, good, schema, model, label="sex").guarantees


def test_rows_that_the_model_never_draws_are_told(real, good, schema):
    theirs = schema.with_constraints(["income = '>50K' if age > 80"])
    broken = int(((good.age > 80) & (good.income != ">50K")).sum())
    assert broken
    strange = good.assign(age=np.where(np.arange(len(good)) < 7, 95, good.age))
    found = judged(real, strange, schema, model_of(theirs)).findings["synthetic"]
    assert found[0].topic == "Another model"
    assert "7 cells of 'age' out of range" in found[0].text
    assert 'rows break `income = ">50K" if age > 80`' in found[0].text
    held = good[(good.age <= 80) | (good.income == ">50K")]
    kept = judged(real, held, schema, model_of(theirs)).findings["synthetic"]
    assert "Another model" not in {each.topic for each in kept}


def test_columns_of_a_file_that_the_model_does_not_draw(real, good, schema, tmp_path):
    path = tmp_path / "synthetic.csv"
    good.assign(patient=1).to_csv(path, index=False)
    found = judged(real, str(path), schema, model_of(schema))
    (said,) = [f for f in found.findings["synthetic"] if f.topic == "Other columns"]
    assert "says nothing of 'patient'" in said.text
    assert not [
        f
        for f in judged(real, str(path), schema, MADE).findings["synthetic"]
        if f.topic == "Other columns"
    ]


def test_whose_word_a_guarantee_is(real, good, schema):
    found = judged(real, good, schema, model_of(schema))
    for text in (found.summary(), found.to_html()):
        assert "of the model that was given" in text
        assert "the word of whoever gave it" in text
    alone = judged(real, good, schema, MADE).summary()
    assert "ε = 2, δ = 1e-06, given without its model." in alone
    bare = {"epsilon": None, "delta": None}
    assert "Guarantee: NOT PRIVATE, given" in judged(real, good, schema, bare).summary()
