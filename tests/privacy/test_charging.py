"""Charges: two threads cannot both take the last of a budget, and a draft is never free."""

import threading
import time

import pyarrow as pa
import pytest

from nacre.draft import private_draft
from nacre.errors import BudgetExceeded
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods.pearl import PEARL
from nacre.schema import Integer, Schema
from nacre.vault import Bound, Segment, Vault

TABLE = pa.table({"x": list(range(10)) * 40})
SCHEMA = Schema({"x": Integer(low=0, high=9)})
BOUND = Bound(segments=(Segment(size=1, norm=2**16, signed=False),))


def ask(vault, share):
    return vault.sum(lambda row: row.numbers, BOUND, share=share, name="x")


def test_threads_cannot_overspend():
    vault = Vault(TABLE, SCHEMA, epsilon=1, delta=1e-6, charge=lambda release: time.sleep(0.3))
    refused = []

    def one():
        try:
            ask(vault, 1.0)
        except BudgetExceeded:
            refused.append(1)

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2
    assert len(vault.releases) == 1
    assert vault.guarantee().epsilon <= 1


def test_shares_beyond_the_whole_are_refused_even_by_a_hair():
    vault = Vault(TABLE, SCHEMA, epsilon=1, delta=1e-6)
    ask(vault, 0.5)
    with pytest.raises(BudgetExceeded):
        ask(vault, 0.5000001)
    ask(vault, 0.5)


def test_a_draft_without_a_ledger_is_charged_with_the_fit(tmp_path):
    schema = private_draft(TABLE, epsilon=0.5, delta=1e-7, types={"x": "integer"})
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=5, delta=1e-5)
    quick = PEARL(frequencies=16, blocks=2, components=4, steps=5)
    model = fit(
        TABLE,
        schema,
        method=quick,
        epsilon=2,
        delta=1e-6,
        bad_rows="zero",
        ledger=ledger,
        dataset="d",
    )
    assert ledger.balance("d").spent_epsilon >= model.guarantee.epsilon
    assert {r["name"] for r in schema.releases} <= {r.name for r in model.guarantee.releases}
