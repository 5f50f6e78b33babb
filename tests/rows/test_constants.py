"""Values that a rule demands are set, and nothing else in a row changes."""

from __future__ import annotations

import dataclasses
import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from nacre.rejection import Rejection
from nacre.rows import TableEncoder
from nacre.rows.constants import find_constants, set_constants
from nacre.schema import Boolean, Categorical, Datetime, Integer, Real, Schema

COLUMNS = {
    "hazmat": Categorical(values=("no", "yes")),
    "fee": Integer(low=0, high=2000, nullable=True),
    "paid": Real(low=0, high=100, decimals=2),
    "sex": Categorical(values=("F", "M"), nullable=True),
    "pregnant": Boolean(),
    "total": Integer(low=0, high=4000),
    "end": Datetime(low="2024-01-01", high="2024-12-31", step="1d"),
}


def schema(*constraints, facts=()):
    return Schema(COLUMNS, constraints=constraints, facts=facts)


def drawn(schema, n=200, seed=0):
    """Rows that know of no rule."""
    rng, layout = np.random.default_rng(seed), schema.layout
    ticks = np.stack([rng.integers(0, number.ticks + 1, n) for number in layout.numbers], axis=1)
    codes = np.stack([rng.integers(0, code.size, n) for code in layout.codes], axis=1)
    return layout.encoded(ticks, codes)


@pytest.mark.parametrize(
    ("rule", "column", "wanted"),
    [
        ("fee = 250 if hazmat = yes", "fee", 250),
        ("paid = 19.99 if hazmat = yes", "paid", 19.99),
        ("sex = F if pregnant = true", "sex", "F"),
        ("end = 2024-12-30 if hazmat = yes", "end", datetime.date(2024, 12, 30)),
        ("fee is missing if hazmat = yes", "fee", None),
        ("sex is missing if hazmat = yes", "sex", None),
    ],
)
def test_the_value_is_set_and_nothing_else(rule, column, wanted):
    of = schema(rule)
    rows = drawn(of)
    found = set_constants(rows, find_constants(of, ()), of.columns, np.random.default_rng(0))
    before, after = (of.decode(each).to_pandas() for each in (rows, found))
    premise = before["hazmat"] == "yes" if "hazmat" in rule else before["pregnant"]
    values = after.loc[premise, column]
    assert premise.sum() > 20
    assert values.isna().all() if wanted is None else (values.dropna() == wanted).all()
    others = ~premise & (before[column] != wanted)  # of those who had it by chance one may give it
    pd.testing.assert_frame_equal(before[others], after[others])
    pd.testing.assert_frame_equal(before.drop(columns=column), after.drop(columns=column))


@pytest.mark.parametrize(
    "rule",
    [
        "fee >= 250 if hazmat = yes",  # many values
        "fee in [250, 300] if hazmat = yes",
        "fee = 250",  # no premise: conditions do it
        "fee = 250 if fee > 200",  # about itself
        "fee <= total if hazmat = yes",
        {"forbid": {"sex": "M", "pregnant": True}},
    ],
)
def test_what_leaves_a_choice_is_left_to_others(rule):
    assert find_constants(schema(rule), ()) == ()


def test_what_others_had_by_chance_is_taken_from_them():
    # 60 rows of 250 were drawn, none of them for hazmat: the model knows the fee, not whose it is.
    of = schema("fee = 250 if hazmat = yes")
    rows = drawn(of, 1000)
    fee, hazmat = rows.layout.number("fee"), rows.codes[:, rows.layout.code("hazmat")] == 1
    rows.ticks[np.flatnonzero(~hazmat)[:60], fee] = 250
    found = set_constants(rows, find_constants(of, ()), of.columns, np.random.default_rng(0))
    assert not ((found.ticks[:, fee] == 250) & ~hazmat & ~found.missing("fee")).any()
    before, after = (set(each.ticks[~each.missing("fee"), fee]) for each in (rows, found))
    given = found.ticks[np.flatnonzero(~hazmat)[:60], fee]
    assert after <= before and len(set(given)) > 30


def test_what_another_rule_demands_is_not_taken():
    of = schema("fee = 250 if hazmat = yes", "fee = 250 if pregnant = true")
    found = set_constants(drawn(of), find_constants(of, ()), of.columns, np.random.default_rng(0))
    table = of.decode(found).to_pandas()
    bound = (table["hazmat"] == "yes") | table["pregnant"]
    assert (table.loc[bound, "fee"].dropna() == 250).all()


def test_what_facts_compute_from_is_not_set():
    assert find_constants(schema("fee = 250 if hazmat = yes"), {"fee"}) == ()


def test_one_rule_sets_the_premise_of_another():
    rules = ("end = 2024-12-30 if total = 7", "total = 7 if fee = 5", "fee = 5 if sex = F")
    of = schema(*rules, "sex = F if pregnant = true", "pregnant = true if hazmat = yes")
    found = of.decode(
        set_constants(drawn(of), find_constants(of, ()), of.columns, np.random.default_rng(0))
    ).to_pandas()
    last = found.loc[(found["hazmat"] == "yes") & found["sex"].notna() & found["fee"].notna()]
    assert len(last) > 20
    assert (last["end"] == datetime.date(2024, 12, 30)).all()


def test_rules_that_contradict_each_other_come_to_an_end():
    of = schema("fee = 1 if hazmat = yes", "fee = 2 if pregnant = true")
    found = set_constants(drawn(of), find_constants(of, ()), of.columns, np.random.default_rng(0))
    fee = of.decode(found).to_pandas()["fee"]
    assert fee.isin([1, 2]).sum() > 50


@dataclasses.dataclass(frozen=True)
class Ignorant:
    """Draws rows of which none has what the rule demands."""

    of: Schema

    def sample(self, n, rng):
        rows = drawn(self.of, n, int(rng.integers(1 << 30)))
        rows.ticks[:, rows.layout.number("fee")] = 300
        rows.codes[:, rows.layout.code("hazmat")] = rng.random(n) < 0.02
        return rows


def test_a_group_stays_though_its_value_is_never_drawn():
    of = schema("fee = 250 if hazmat = yes")
    rejection = Rejection(Ignorant(of), TableEncoder.of(of))
    batches = list(rejection.batches(4000, np.random.default_rng(0)))
    found = pa.concat_tables(batches).to_pandas()
    kept = found["hazmat"] == "yes"
    assert (found.loc[kept, "fee"].dropna() == 250).all()
    assert 0.01 < kept.mean() < 0.03  # 80 rows, with a deviation of 9
    assert rejection.rate == 1
