"""A public page holds nothing but post-processing and what came out of the vault with noise."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.vaults import block_of, compiled_sum

import nacre
from nacre.ledger import Ledger
from nacre.methods.merf import MERF
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.publish import buying
from nacre.publish import table as table_room
from nacre.publish.predictor import train
from nacre.publish.table import synthetic_table
from nacre.rows import TableEncoder
from nacre.schema import Boolean, Categorical, Integer, Real, Schema
from nacre.vault import Adjacency
from nacre.vault.doors import sum as sum_door
from nacre.vault.exact_sum import ExactSum

SCHEMA = Schema(
    {
        "age": Integer(low=0, high=99),
        "wage": Real(low=0, high=1000, decimals=2, nullable=True),
        "member": Boolean(),
        "job": Categorical(values=("a", "b", "c")),
        "income": Categorical(values=("<=50K", ">50K")),
    },
    label="income",
)
SMALL = Mosaic(steps=5, components=4, fits=1)
PAY = {"epsilon": 0.5, "delta": 1e-6}


def people(n: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    return pd.DataFrame(
        {
            "age": age,
            "wage": np.where(rng.random(n) < 0.2, np.nan, rng.random(n).round(2) * 900),
            "member": rng.random(n) < 0.5,
            "job": rng.choice(["a", "b", "c"], n),
            "income": np.where(rng.random(n) < age / 120, ">50K", "<=50K"),
        }
    )


@pytest.fixture(scope="module")
def model() -> nacre.Model:
    return nacre.fit(people(), SCHEMA, method=SMALL, epsilon=2, delta=1e-6)


@pytest.fixture(scope="module")
def silent() -> nacre.Model:
    """A model that brings no histograms, so that all of them are bought."""
    method = MERF(frequencies=20, steps=5, components=4)
    return nacre.fit(people(), SCHEMA, method=method, epsilon=2, delta=1e-6)


@pytest.fixture
def same_noise(monkeypatch):
    """Noise that covers the sums wholly: whatever gets past it did not come through the vault."""

    def cover(sums, scale):
        hidden = np.random.default_rng(7).normal(50, 20, sums.shape) * scale
        return hidden.astype(np.int64)

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", cover)


def everything(page) -> tuple:
    return page.to_html(), page.to_json(), page.summary(), repr(page), page._repr_html_()


def test_without_data_no_table_is_opened(model, monkeypatch):
    def refuse(*_, **__):
        pytest.fail("a table was opened")

    monkeypatch.setattr(table_room, "open_source", refuse)
    for name in ("Stream", "Vault"):
        monkeypatch.setattr(buying, name, refuse)
    page = nacre.publish(model, rows=500)
    assert page.bought is None
    assert page.together.releases == model.guarantee.releases
    assert page.together.epsilon == model.guarantee.epsilon


def test_the_page_follows_from_the_model_file(model, tmp_path):
    model.save(tmp_path / "model.nacre")
    again = nacre.publish(nacre.load(tmp_path / "model.nacre"), rows=500)
    assert everything(again) == everything(nacre.publish(model, rows=500))


@pytest.mark.parametrize("scores", [["columns"], ["prediction"], None])
def test_all_that_reaches_the_page_comes_through_the_noise(silent, scores, same_noise):
    told = []
    pages = [
        nacre.publish(
            silent,
            rows=800,
            data=table,
            scores=scores,
            **PAY,
            on_progress=lambda *what: told[-1].append(what),
        )
        for table in (people(), people(40, seed=9))
        if told.append([]) is None
    ]
    assert everything(pages[0]) == everything(pages[1])
    assert told[0] == told[1]


def test_bad_rows_change_nothing_that_is_said(silent, same_noise):
    broken = people().astype({"age": float})
    broken.loc[0, "age"] = np.nan
    broken.loc[1, "job"] = "<script>"
    pages = [
        nacre.publish(silent, rows=500, data=table, bad_rows="zero", **PAY)
        for table in (people(), broken)
    ]
    assert everything(pages[0]) == everything(pages[1])
    with pytest.raises(nacre.SchemaError, match="nothing was spent") as caught:
        nacre.publish(silent, rows=500, data=broken, **PAY)
    assert "<script>" not in str(caught.value)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("columns", [True, False])
def test_one_row_moves_the_sum_by_the_sensitivity_and_no_more(model, adjacency, columns):
    predictor = train(synthetic_table(model, None, 400, 0, None).rows)
    wanted, layout = buying.order(model, predictor, columns), SCHEMA.layout
    bound = wanted.bound()
    summed = compiled_sum(wanted.features(layout), bound, TableEncoder(SCHEMA))
    weights = np.repeat([s.weight for s in bound.segments], [s.size for s in bound.segments])

    def weighted(table):
        encoded = SCHEMA.encode(pa.Table.from_pandas(table, preserve_index=False))
        return summed([block_of(encoded)])[0][0] * weights

    base = people(60)
    extreme = base.iloc[[0, 1]].copy()
    extreme["age"], extreme["wage"] = [0, 99], [np.nan, 1000.0]
    extreme["member"], extreme["job"] = [False, True], ["a", "c"]
    extreme["income"] = ["<=50K", ">50K"]
    before = weighted(pd.concat([base, extreme.iloc[[0]]]))
    others = [extreme.iloc[[1]], *(people(1, seed=s) for s in range(3))]
    moved = []
    for other in others:
        if adjacency is Adjacency.ADD_REMOVE:
            other = pd.concat([extreme.iloc[[0]], other])
        moved.append(np.linalg.norm(weighted(pd.concat([base, other])) - before))
    allowed = bound.sensitivity(adjacency)
    assert max(moved) <= allowed * (1 + 1e-9)
    assert max(moved) == pytest.approx(allowed), "a bound that is never reached is wasted noise"


@pytest.mark.parametrize("label", ["income", "job"])
def test_the_vault_runs_it_in_integers(model, label):
    schema = SCHEMA.with_label(label)
    model = dataclasses.replace(model, encoder=TableEncoder(schema))
    predictor = train(synthetic_table(model, None, 600, 0, None).rows)
    wanted = buying.order(model, predictor, True)
    summed = ExactSum(wanted.features(schema.layout), wanted.bound(), TableEncoder(schema))
    assert summed.exact and summed.integer


def test_it_is_charged_before_noise_is_drawn(model, tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=0.6, delta=1e-5)
    account = {"ledger": ledger, "dataset": "people"}
    page = nacre.publish(model, rows=400, data=people(), **PAY, **account)
    (entry,) = ledger.history("people")
    assert (entry.method, entry.status, entry.epsilon) == ("public report", "finished", 0.5)
    assert [dict(r) for r in entry.releases] == [page.bought.releases[0].to_dict()]

    def no_noise(*_):
        pytest.fail("noise was drawn")

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", no_noise)
    with pytest.raises(nacre.BudgetExceeded):
        nacre.publish(model, rows=400, data=people(), **PAY, **account)
    assert len(ledger.history("people")) == 1


def test_both_guarantees_and_their_sum_can_be_computed_again(model):
    page = nacre.publish(model, rows=400, data=people(), **PAY)
    assert page.bought.epsilon == pytest.approx(0.5, abs=1e-4) and page.bought.epsilon <= 0.5
    assert page.together.epsilon == pytest.approx(model.guarantee.epsilon + page.bought.epsilon)
    assert page.together.delta == pytest.approx(2e-6)
    assert len(page.together.releases) == len(model.guarantee.releases) + 1
    for guarantee in (page.bought, page.together):
        guarantee.verify()


def test_what_a_private_draft_cost_is_not_paid_twice():
    types = {"age": "integer", "income": "categorical"}
    table = pa.Table.from_pandas(people(2000)[list(types)], preserve_index=False)
    schema = nacre.private_draft(table, epsilon=5, delta=1e-4, types=types, label="income")
    assert schema.releases
    cost = {"epsilon": 8, "delta": 2e-4, "bad_rows": "zero"}
    model = nacre.fit(table, schema, method=SMALL, **cost)
    page = nacre.publish(model, rows=300, data=table, bad_rows="zero", **PAY)
    assert len(page.bought.releases) == 1
    assert len(page.together.releases) == len(model.guarantee.releases) + 1


def test_models_that_are_not_private_are_refused(model):
    bare = dataclasses.replace(model.guarantee, epsilon=math.inf, delta=1)
    with pytest.raises(ValueError, match="NOT PRIVATE"):
        nacre.publish(dataclasses.replace(model, guarantee=bare))
    claimed = dataclasses.replace(model.guarantee, epsilon=0.1)
    with pytest.raises(ValueError, match="more than the claimed"):
        nacre.publish(dataclasses.replace(model, guarantee=claimed))


def test_the_private_table_is_not_taken_for_the_synthetic_one(model, tmp_path):
    table, path = people(), tmp_path / "people.csv"
    table.to_csv(path, index=False)
    for data in (table, path, str(path)):
        with pytest.raises(ValueError, match="the same table"):
            nacre.publish(model, data, data=data, **PAY)


def test_a_table_that_was_given_is_called_so(model):
    drawn, given = nacre.publish(model, rows=300), nacre.publish(model, model.sample(300))
    assert drawn.first_line.startswith("Safe to publish: ")
    assert given.first_line.startswith("Safe to publish if the synthetic table was drawn from")
    assert "given by the publisher" in given.to_html()
