"""Methods of each door on a table in which a person may have several rows.

Mosaic, which sums and chooses, is in tests/privacy/test_persons.py.
"""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.archive import ArchiveError
from nacre.errors import LedgerError, NacreError
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods import find
from nacre.plan import plan
from nacre.publish import publish
from nacre.rebuilt import compare
from nacre.rows import TableEncoder
from nacre.schema import Categorical, Integer, Schema

pytestmark = pytest.mark.filterwarnings("ignore:.*few for this budget")
COLUMNS = {
    "sex": Categorical(values=("f", "m")),
    "age": Integer(low=0, high=99),
    "seen": Categorical(values=("no", "yes")),
}
SCHEMA = Schema(
    COLUMNS, label="seen", unit={"column": "who", "rows": 3, "constant": ["sex", "age"]}
)
DOORS = {"dpgan": "train", "pategan": "vote", "mst": "sum"}
PERSONS = 120


def visits():
    rng = np.random.default_rng(0)
    many = rng.choice([1, 2, 6], PERSONS)
    who = np.repeat(np.arange(PERSONS), many)
    return pd.DataFrame(
        {
            "who": who,
            "sex": np.repeat(rng.choice(["f", "m"], PERSONS), many),
            "age": np.repeat(rng.integers(0, 100, PERSONS), many),
            "seen": rng.choice(["no", "yes"], len(who)),
        }
    )


@pytest.fixture(scope="module", params=DOORS)
def fitted(request, tmp_path_factory):
    book = Ledger(tmp_path_factory.mktemp("ledger") / "budget.db")
    book.open("visits", epsilon=10, delta=1e-3)
    method = find(request.param)().small()
    model = fit(
        visits(), SCHEMA, method=method, epsilon=5, delta=1e-5, ledger=book, dataset="visits"
    )
    return model, book


def test_the_guarantee_is_per_person(fitted):
    model, _ = fitted
    assert "per person (up to 3 rows each)" in str(model.guarantee)
    assert {release.unit for release in model.guarantee.releases} == {"person"}
    assert any("128-bit hash" in said for said in model.guarantee.assumptions)
    model.guarantee.verify()
    assert not compare(model).differences


def test_samples_have_persons(fitted, tmp_path):
    model, _ = fitted
    model.save(tmp_path / "m.nacre")
    again = nacre.load(tmp_path / "m.nacre")
    assert again.guarantee == model.guarantee
    drawn = again.sample(400, seed=0)
    assert list(drawn.columns) == ["who", *COLUMNS]
    assert len(drawn) == 400
    by_person = drawn.groupby("who")
    assert by_person.size().max() <= 3
    assert (by_person[["sex", "age"]].nunique() == 1).all(axis=None)
    assert len(again.sample(0)) == 0
    assert set(again.sample(50, where={"sex": "m"}).sex) == {"m"}


def test_a_file_that_claims_persons_for_rows_is_refused(fitted, tmp_path):
    model, _ = fitted
    alone = TableEncoder.of(SCHEMA.counted)
    dataclasses.replace(model, encoder=alone).save(tmp_path / "m.nacre")
    with pytest.raises(ArchiveError, match="does not fit together"):
        nacre.load(tmp_path / "m.nacre")


def test_a_ledger_adds_no_rows_to_persons(fitted):
    _, book = fitted
    (entry,) = book.history("visits")
    assert entry.note == "per person (up to 3 rows each), by who"
    with pytest.raises(LedgerError, match="This is per row"):
        fit(visits(), Schema(COLUMNS), epsilon=1, delta=1e-6, ledger=book, dataset="visits")
    other = dataclasses.replace(SCHEMA, unit={"column": "visit", "rows": 3})
    with pytest.raises(LedgerError, match="per person by 'visit'"):
        more = visits().assign(visit=range(len(visits())))
        fit(more, other, epsilon=1, delta=1e-6, ledger=book, dataset="visits")
    assert len(book.history("visits")) == 1


def test_a_public_page_is_of_persons(fitted):
    page = publish(fitted[0], rows=300)
    assert page.table.persons < 300 and page.table.rows.total == pytest.approx(page.table.persons)


def test_a_plan_speaks_of_persons():
    said = str(plan(SCHEMA, epsilon=1, delta=1e-6, rows=50_000))
    assert "per person (up to 3 rows each)" in said
    assert "up to 3 rows, drawn at random, count as one row together" in said
    assert "of 50,000 persons will be off" in said
    assert plan(SCHEMA, epsilon=1, delta=1e-6).to_dict()["most_rows"] == 3


def test_a_draft_per_row_does_not_pay_for_a_fit_per_person():
    draft = nacre.private_draft(
        visits(),
        epsilon=1,
        delta=1e-5,
        types={"sex": "categorical", "age": "integer"},
        drop=["who", "seen"],
    )
    with pytest.raises(NacreError, match="per row and this is per person"):
        plan(
            Schema(draft.columns, provenance="private", releases=draft.releases, unit=SCHEMA.unit),
            epsilon=2,
            delta=1e-4,
        )


def test_a_private_draft_is_per_person_with_a_unit():
    draft = nacre.private_draft(
        visits(),
        epsilon=20,
        delta=1e-4,
        types={"sex": "categorical", "age": "integer", "seen": "categorical"},
        unit={"column": "who", "rows": 3},
    )
    assert draft.unit.rows == 3
    assert "who" not in draft.columns
    assert all(release["unit"] == "person" for release in draft.releases)
    assert draft == Schema.parse(draft.to_yaml())
    plan(draft, epsilon=30, delta=1e-3)
    other = dataclasses.replace(draft, unit={"column": "visit", "rows": 3})
    with pytest.raises(NacreError, match="by another column"):
        plan(other, epsilon=30, delta=1e-3)
