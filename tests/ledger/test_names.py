"""One table, one name: what looks alike is one budget, or warns, or is refused."""

import sqlite3
import warnings

import pytest

from nacre.ledger import BudgetExceeded, Ledger, LedgerError
from nacre.ledger.reservation import reserve_in
from nacre.vault import Plan, count_question

COST = {"epsilon": 1, "delta": 1e-7}
FIT = {"adjacency": "add-remove", "method": "PEARL"}


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("census 2020", epsilon=1, delta=1e-6)
    return ledger


@pytest.mark.parametrize(
    "name", [" census 2020\n", "census\u00a02020", "\uff43ensus 2020", "census \U0001d7da020"]
)
def test_one_name_in_other_letters_is_one_budget(ledger, name):
    assert ledger.open(name, epsilon=1, delta=1e-6).dataset == "census 2020"
    assert ledger.datasets() == ["census 2020"]
    ledger.reserve(name, **COST, **FIT)
    assert ledger.balance(name).spent_epsilon == 1
    assert [entry.dataset for entry in ledger.history(name)] == ["census 2020"]
    with pytest.raises(BudgetExceeded):
        ledger.reserve("census 2020", **COST, **FIT)
    plan = Plan.of([count_question(1.0)], **COST)
    assert reserve_in(ledger, name, plan) is not None


@pytest.mark.parametrize("name", ["Census 2020", "census2020", "census  2020", "CENSUS\u20032020"])
def test_a_name_that_looks_like_an_open_one_warns(ledger, name):
    with pytest.warns(UserWarning, match="'census 2020' already.*only by case, spaces"):
        ledger.open(name, epsilon=1, delta=1e-6)
    assert len(ledger.datasets()) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.open(name, epsilon=1, delta=1e-6)  # it is open now, and meant
        ledger.open("another", epsilon=1, delta=1e-6)


def test_where_warnings_are_errors_nothing_is_opened(ledger):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            ledger.open("CENSUS 2020", epsilon=1, delta=1e-6)
    assert ledger.datasets() == ["census 2020"]


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\ufeff", "\u00ad", "\x00", "\t", "\u202e", "\ufe0f", "\u3164"]
)
def test_what_is_not_shown_is_refused_in_new_names(ledger, hidden):
    with pytest.raises(LedgerError, match="not shown"):
        ledger.open(f"census{hidden} 2020", epsilon=1, delta=1e-6)
    assert ledger.datasets() == ["census 2020"]
    with pytest.raises(LedgerError, match="no budget"):
        ledger.balance(f"census{hidden} 2020")


def test_a_budget_of_before_stays_in_reach_and_is_not_opened_twice_unseen(ledger, tmp_path):
    with sqlite3.connect(tmp_path / "budget.db") as work:
        work.execute("UPDATE nacre_budgets SET dataset = ?", ("census\u200b ",))
    work.close()
    (name,) = ledger.datasets()
    ledger.reserve(name, **COST, **FIT)
    assert ledger.balance(name).spent_epsilon == 1
    assert len(ledger.history(name)) == 1
    with pytest.warns(UserWarning, match="already"):
        ledger.open("census", epsilon=1, delta=1e-6)
    assert ledger.balance("census").spent_epsilon == 0


@pytest.mark.parametrize("address", ["postgresql://host:port/x", "sqlite://::", "://", "x://:é"])
def test_addresses_that_mean_nothing_are_told(address):
    from nacre.ledger import Ledger, LedgerError

    with pytest.raises(LedgerError, match="address"):
        Ledger(address)
