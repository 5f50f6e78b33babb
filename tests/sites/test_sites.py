"""Sites give the pooled integers, one noise is drawn, and the model is made without rows."""

import dataclasses
import stat

import numpy as np
import pytest
from scipy.stats import chi2
from tests.engines.conftest import SCHEMA, made

import nacre
from nacre import sites
from nacre.archive import ArchiveError
from nacre.errors import LedgerError, NacreError
from nacre.rebuilt import compare
from nacre.schema import Schema, Unit
from nacre.vault.rounds import Exact

SMALL = Schema({name: SCHEMA.columns[name] for name in ("age", "town", "paid")}, label="paid")
METHOD = nacre.Mosaic(whole=0, several=0, single=0, heaps=0, finer=0, cells=12).small()
TABLE = made(900).select(["age", "town", "paid"])
PARTS = [TABLE.slice(0, 100), TABLE.slice(100, 1), TABLE.slice(101, 0), TABLE.slice(101)]


def sketched(table, answers=None, **settings):
    settings = {"method": METHOD, "bad_rows": "zero", **settings}
    return sites.sketch(table, SMALL, answers=answers, **settings)


@pytest.fixture(scope="module")
def rounds():
    """Merged sketches and answers of both rounds."""
    found, answers = [], None
    for _ in range(2):
        merged = sites.merge([sketched(part, answers) for part in PARTS])
        budget = {} if answers else {"epsilon": 1.0, "delta": 1e-5}
        following = sites.release(merged, answers=answers, **budget)
        found.append((merged, answers, following))
        answers = following
    return found


def test_sites_give_the_pooled_integers_in_every_round(rounds):
    for merged, before, _ in rounds:
        pooled = sketched(TABLE, before)
        assert pooled.question == merged.question and merged.sites == len(PARTS)
        assert np.array_equal(pooled.exact.sums, merged.exact.sums)
        assert np.array_equal(pooled.exact.counts, merged.exact.counts)
        assert pooled.exact.program == merged.exact.program
    assert rounds[0][0].exact.sums.sum() > 0
    assert rounds[0][0].question != rounds[1][0].question


def test_the_answer_is_noisy_by_what_the_plan_says(rounds):
    merged, _, answers = rounds[0]
    sums = answers.given[0].sums
    off = (sums.values - merged.exact.sums) / sums.noise[0]
    assert sums.noise[0] > 1
    assert 1e-6 < chi2.cdf((off**2).sum(), off.size) < 1 - 1e-6


def test_a_model_is_made_of_answers_alone(rounds, tmp_path):
    *_, (_, _, answers) = rounds
    answers.save(tmp_path / "a.answers")
    model = sites.train(sites.Answers.read(tmp_path / "a.answers"))
    planned = nacre.plan(SMALL, epsilon=1.0, delta=1e-5, method=METHOD)
    assert model.guarantee.releases == planned.releases
    assert str(compare(model)).startswith("They are those")
    assert model.guarantee.epsilon <= 1.0 and not model.guarantee.checked
    model.save(tmp_path / "m.nacre")
    assert nacre.load(tmp_path / "m.nacre").sample(20).num_rows == 20


def test_a_round_cannot_be_left_out_or_used_twice(rounds):
    (first, _, after), (second, _, _) = rounds
    with pytest.raises(NacreError, match="has not been answered yet"):
        sites.train(after)
    with pytest.raises(NacreError, match="round 2.*Nothing was spent"):
        sites.release(second, epsilon=1.0, delta=1e-5)
    with pytest.raises(NacreError, match="round 1.*Nothing was spent"):
        sites.release(first, answers=after)
    with pytest.raises(NacreError, match="leave them out"):
        sites.release(second, answers=after, epsilon=1.0)
    with pytest.raises(NacreError, match="give epsilon and delta"):
        sites.release(first)


def test_sums_of_another_program_are_refused_before_a_charge(rounds):
    import dataclasses

    merged, _, _ = rounds[0]
    forged = dataclasses.replace(
        merged, exact=Exact("0" * 64, merged.exact.sums, merged.exact.counts)
    )
    with pytest.raises(NacreError, match="another question.*Nothing was spent"):
        sites.release(forged, epsilon=1.0, delta=1e-5)


def test_sketches_of_other_terms_do_not_add_up(rounds):
    one, other = sketched(PARTS[0]), sketched(PARTS[0], seed=1)
    with pytest.raises(NacreError, match="another seed"):
        sites.merge([one, other])
    with pytest.raises(NacreError, match="another round"):
        sites.merge([one, rounds[1][0]])


def test_a_sketch_is_for_its_owner_alone(tmp_path, rounds):
    file = tmp_path / "s.sketch"
    rounds[0][0].save(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = sites.Sketch.read(file)
    assert again.terms == rounds[0][0].terms
    assert np.array_equal(again.exact.sums, rounds[0][0].exact.sums)
    with pytest.raises(ArchiveError, match="not one with answers"):
        sites.Answers.read(file)


def test_the_ledger_is_charged_once_and_notices_a_second_release(tmp_path, rounds):
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1.0, delta=1e-4)
    book = {"ledger": ledger, "dataset": "people"}
    (first, _, _), _ = rounds
    after = sites.release(first, epsilon=1.0, delta=1e-5, **book)
    assert ledger.balance("people").spent_epsilon == pytest.approx(1.0)
    second = sites.merge([sketched(part, after) for part in PARTS])
    with pytest.raises(LedgerError, match="in all rounds, or in none"):
        sites.release(second, answers=after)
    sites.release(second, answers=after, **book)
    with pytest.raises(LedgerError, match="this round was released before"):
        sites.release(second, answers=after, **book)
    with pytest.raises(nacre.BudgetExceeded):
        sites.release(first, epsilon=1.0, delta=1e-5, **book)
    (entry,) = ledger.history("people")
    assert [each["name"] for each in entry.releases] == [first.question, second.question]


def test_what_does_not_add_up_over_sites_is_refused():
    with pytest.raises(NacreError, match="only sums and choices add up"):
        sketched(TABLE, method="dpgan", rows=900)
    persons = Schema(SMALL.columns, label="paid", unit=Unit(column="who", rows=2))
    with pytest.raises(NacreError, match="several sites"):
        sites.sketch(TABLE, persons)
    with pytest.raises(NacreError, match="does not fit"):
        wrong = TABLE.set_column(0, "age", [[200] * 900])
        sketched(wrong, bad_rows="check")


def test_no_site_counts_twice(rounds, tmp_path):
    one, other = sketched(PARTS[0]), sketched(PARTS[3])
    one.save(tmp_path / "a.sketch")
    copy, again = sites.Sketch.read(tmp_path / "a.sketch"), sketched(PARTS[0])
    for twice in ([one, copy], [one, again], [sites.merge([one, other]), copy]):
        with pytest.raises(NacreError, match="there twice.*Nothing was spent"):
            sites.merge(twice)
    nothing = [sketched(PARTS[2]), sketched(PARTS[2])]
    assert sites.merge([one, *nothing]).sites == 3


@pytest.fixture
def begun(tmp_path):
    """The first round, charged to a ledger, and the sketch of the second."""
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("sites", epsilon=1.0, delta=1e-5)
    account = {"ledger": ledger, "dataset": "sites"}
    first = sites.release(sketched(TABLE), epsilon=1.0, delta=1e-5, **account)
    return first, sketched(TABLE, first), account


def test_a_later_round_cannot_say_another_epsilon(begun):
    first, second, account = begun
    for changed in ({"epsilon": 100.0}, {"delta": 1e-4}):
        altered = dataclasses.replace(first, **changed)
        with pytest.raises(LedgerError, match="another epsilon, delta or plan"):
            sites.release(second, answers=altered, **account)
    quieter = dataclasses.replace(first, epsilon=0.5)
    with pytest.raises(NacreError, match="less noise than epsilon=0.5"):
        sites.release(second, answers=quieter)
    with pytest.raises(NacreError, match="less noise than epsilon=0.5"):
        sites.train(quieter)


def test_two_processes_cannot_both_release_a_round(begun, monkeypatch):
    first, second, account = begun
    ledger = account["ledger"]
    stale = ledger.history("sites")
    sites.release(second, answers=first, **account)
    # As another process sees it that has looked before the first one wrote.
    monkeypatch.setattr(ledger, "history", lambda dataset: stale)
    with pytest.raises(LedgerError, match="has been made already"):
        sites.release(second, answers=first, **account)
