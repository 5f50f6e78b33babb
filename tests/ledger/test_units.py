"""Costs per row and per person never add up in one budget, however fits come together."""

import concurrent.futures
import threading

import pytest

from nacre.ledger import Ledger, LedgerError
from nacre.ledger.reservation import reserve_in
from nacre.schema import Unit
from nacre.vault import Bound, Plan, Sum

FIT = {"epsilon": 0.01, "delta": 0, "adjacency": "add-remove", "method": "PEARL"}
NOTES = ("", "per person, by patient")


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("visits", epsilon=3, delta=1e-6)
    return ledger


def test_another_unit_is_refused_in_the_transaction_that_charges(ledger):
    count = Sum(name="n", share=1.0, bound=Bound(segments=(), count=1.0))
    unit = Unit(column="patient", rows=5)
    plan = Plan.of([count], epsilon=1, delta=1e-7, adjacency="add-remove", unit=unit)
    reservation = reserve_in(ledger, "visits", plan)  # nothing speaks against it yet
    first = ledger.reserve("visits", **FIT)  # somebody else's fit, by row, comes between
    with pytest.raises(LedgerError, match=f"per person by 'patient', and entry {first}"):
        reservation(plan.releases[0])
    assert reservation.entry is None
    assert len(ledger.history("visits")) == 1


@pytest.mark.parametrize(
    "note", ["", "per person, by visit", "per person (up to 2 rows each), by v"]
)
def test_units_of_all_entries_are_the_same(note, ledger):
    ledger.reserve("visits", **FIT, note="per person (up to 5 rows each), by patient")
    with pytest.raises(LedgerError, match="cannot be added"):
        ledger.reserve("visits", **FIT, note=note)
    ledger.reserve("visits", **FIT, note="per person, by patient")  # of fewer rows, the same people


def test_of_many_at_once_only_one_unit_is_charged(ledger):
    together = threading.Barrier(8)

    def one(note):
        together.wait()
        try:
            return ledger.reserve("visits", **FIT, note=note)
        except LedgerError:
            return None

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(one, NOTES * 4))
    charged = {entry.note for entry in ledger.history("visits")}
    assert len(charged) == 1
    assert sum(entry is not None for entry in entries) == 4


def test_a_column_that_notes_could_not_tell_from_others_is_refused(ledger):
    count = Sum(name="n", share=1.0, bound=Bound(segments=(), count=1.0))
    unit = Unit(column="patient\x1e2", rows=5)
    plan = Plan.of([count], epsilon=1, delta=1e-7, adjacency="add-remove", unit=unit)
    with pytest.raises(LedgerError, match="control character"):
        reserve_in(ledger, "visits", plan)
