"""What whoever collects, or one site, could make the others answer twice or pay for nothing."""

import dataclasses

import numpy as np
import pytest
from tests.sites.masked.conftest import SMALL, TWO_ROUNDS, Around
from tests.sites.masked.test_messages import rewritten

import nacre
from nacre import sites
from nacre.errors import LedgerError, NacreError
from nacre.sites.masked import turns
from nacre.sites.masked.keeper import Keeper
from nacre.vault.rounds import Answered


def finished(around):
    """A round, collected."""
    around.collect()
    for name in around.names:
        around.turn(name, None)
    around.collect()


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Two sites before the first round."""
    return Around.made(tmp_path_factory.mktemp("two"), 2, method=TWO_ROUNDS).prepared()


@pytest.fixture(scope="module")
def halfway(begun, tmp_path_factory):
    """The same after the first round."""
    around = begun.copied(tmp_path_factory.mktemp("halfway"))
    around.answer()
    finished(around)
    return around


def changed(answers, what):
    """Answers of the first round as a liar writes them."""
    (first,) = answers.given
    kinds = {
        "kind": {"given": (Answered(first.name, first.program),)},
        "name": {"given": (dataclasses.replace(first, name="another"),)},
        "terms": {"terms": dataclasses.replace(answers.terms, seed=1)},
        "shape": {"values": np.pad(first.sums.values, 1)},
        "noise": {"noise": tuple(0 * n for n in first.sums.noise), "count_noise": 0.0},
    }
    said = kinds[what]
    if what in ("shape", "noise"):
        sums = dataclasses.replace(first.sums, **said)
        said = {"given": (dataclasses.replace(first, sums=sums),)}
    return dataclasses.replace(answers, **said)


@pytest.mark.parametrize("what", ["kind", "name", "terms", "shape", "noise"])
def test_false_answers_do_not_lead_on(halfway, tmp_path, what):
    around = halfway.copied(tmp_path)
    path = around.board.fetch("1.answers")
    changed(sites.Answers.read(path), what).save(path, replace=True)
    with pytest.raises(NacreError, match="kind|where the plan has|another session|shape|noise"):
        around.answer("site0")
    with Keeper.of(around.path / "site0") as keeper:
        assert keeper.read().masked == (1,)  # nothing was drawn for it
    with pytest.raises(NacreError, match="kind|where the plan has|another session|shape|noise"):
        around.collect()


def test_a_round_answers_the_question_at_its_place_alone(halfway, tmp_path, monkeypatch):
    """Even if a method could be led to ask an earlier question again."""
    around = halfway.copied(tmp_path)
    terms = type(around.session.terms)
    first = around.session.terms.next_question(around.session.plan, [])
    monkeypatch.setattr(terms, "next_question", lambda *_: first)
    with pytest.raises(NacreError, match="lead to .* and the plan has"):
        around.answer("site0")


def test_a_plain_release_does_not_go_on_with_answers_of_another_kind(halfway):
    answers = sites.Answers.read(halfway.board.fetch("1.answers"))
    plain = dataclasses.replace(answers, parties=None)
    sketch = sites.sketch(
        halfway.table("site0"),
        SMALL,
        answers=plain,
        bad_rows="zero",
    )
    for given in ((Answered(answers.given[0].name, answers.given[0].program),), answers.given * 2):
        forged = dataclasses.replace(plain, given=given)
        again = dataclasses.replace(sketch, answers=len(given))
        with pytest.raises(NacreError, match="not of the kind|there twice"):
            sites.release(again, answers=forged)
        with pytest.raises(NacreError, match="not of the kind|there twice"):
            sites.train(forged)


@pytest.fixture
def book(tmp_path):
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("mine", epsilon=5.0, delta=1e-3)
    return {"ledger": ledger, "dataset": "mine"}


def test_a_key_that_is_none_is_refused_before_anybody_pays(tmp_path, book):
    around = Around.made(tmp_path, 2)
    for name in around.names:
        around.turn(name, None)
    rewritten(around, "site1.keys", lambda body, arrays: body.update(masks=["00" * 32]))
    with pytest.raises(NacreError, match="'site1' shows keys that are none"):
        around.answer("site0", **book)
    assert book["ledger"].history("mine") == []


def test_masks_are_made_before_the_charge(begun, tmp_path, book, monkeypatch):
    around = begun.copied(tmp_path)
    monkeypatch.setattr(turns.masks, "agree", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        around.answer("site0", **book)
    monkeypatch.undo()
    assert book["ledger"].history("mine") == []
    assert around.answer("site0", **book) == {"site0": ["site0.1.masked"]}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_around_the_charge_costs_a_round_and_no_second_charge(
    halfway, tmp_path, book, monkeypatch, when
):
    """Stopped before or after the ledger has written; in round 2 the entry is found again."""
    around = halfway.copied(tmp_path)
    ledger = book["ledger"]
    with Keeper.of(around.path / "site0") as keeper:  # as if round 1 was such a crash
        kept = keeper.read()
        keeper.write(dataclasses.replace(kept, masked=()))
    real, write = ledger.reserve, Keeper.write

    def stopped(self, kept):
        if kept.entry is not None:
            raise KeyboardInterrupt
        return write(self, kept)

    with monkeypatch.context() as patch:
        if when == "before":
            patch.setattr(ledger, "reserve", lambda *_, **__: (_ for _ in ()).throw(SystemExit))
        else:
            patch.setattr(Keeper, "write", stopped)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            around.answer("site0", **book)
    assert ledger.reserve == real
    assert len(ledger.history("mine")) == (1 if when == "after" else 0)
    assert around.answer("site0", **book) == {"site0": []}  # it is missing in this round
    with Keeper.of(around.path / "site0") as keeper:
        kept = keeper.read()
        assert kept.masked == (2,) and kept.entry is None
        # Were there another round, it would go on with the same entry, and not with a new one.
        holding = nacre.sites.masked.holding.Holding(data=None, **book)
        found = holding.reservation(around.session, kept)
    assert found.entry == (ledger.history("mine")[0].id if when == "after" else None)


def test_the_ledger_of_the_first_round_pays_for_all(begun, tmp_path, book):
    around = begun.copied(tmp_path)
    around.answer("site0", **book)
    around.answer("site1")
    finished(around)
    other = nacre.Ledger(tmp_path / "other.db")
    for name in ("mine", "theirs"):
        other.open(name, epsilon=5.0, delta=1e-3)
    book["ledger"].open("theirs", epsilon=5.0, delta=1e-3)
    for wrong in (
        {},
        {"ledger": other, "dataset": "mine"},
        {"ledger": book["ledger"], "dataset": "theirs"},
    ):
        with pytest.raises(LedgerError, match="first round in all rounds"):
            around.answer("site0", **wrong)
    # The path may be spelled in another way: it is the same ledger.
    around.answer("site0", ledger=str(tmp_path / "." / "budget.db"), dataset="mine")
    (entry,) = book["ledger"].history("mine")
    assert [each["name"] for each in entry.releases] == [
        release.name for release in around.session.plan.releases[:2]
    ]


def test_a_ledger_knows_a_session_whose_secrets_were_made_anew(begun, tmp_path, book):
    first, again = begun.copied(tmp_path / "a"), begun.copied(tmp_path / "b")
    first.answer("site0", **book)
    with pytest.raises(LedgerError, match="charged for this session before"):
        again.answer("site0", **book)
    assert len(book["ledger"].history("mine")) == 1
