"""Ten sites of which two drop out; what each may learn, and what a false collector is refused."""

import contextlib
import dataclasses
import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from tests.sites.masked.conftest import SMALL, TWO_ROUNDS, Around

import nacre
from nacre import sites
from nacre.errors import LedgerError, NacreError
from nacre.rebuilt import compare
from nacre.sites.masked import turns
from nacre.sites.masked.collect import _Round
from nacre.sites.masked.holding import Holding
from nacre.sites.masked.keeper import Keeper
from nacre.sites.masked.message import Address
from nacre.sites.masked.setup import Roster
from nacre.sites.masked.site import answer, leave
from nacre.sites.masked.turns import Roll
from nacre.sites.sketch import summed
from nacre.vault.doors.grid import Grid
from nacre.vault.shares import share_scale

LEFT = [f"site{place}" for place in range(8)]


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    """Ten sites; two never send a vector.  With what each of the others has hidden."""
    around = Around.made(tmp_path_factory.mktemp("ten"), 10, dropouts=2).prepared()
    hidden, real = {}, turns.noisy_share

    def seen(*given):
        found = real(*given)
        hidden[len(hidden)] = found
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "noisy_share", seen)
        around.answer(*LEFT)
    assert around.collect().waiting == ("site8", "site9")
    assert "1.roll" in around.collect(close=True).wrote
    for name in LEFT:
        around.turn(name, None)
    assert around.collect().wrote == ("1.answers",)
    return around, list(hidden.values())


def grid_of(around, asked):
    release = around.session.plan.find(asked.question).release
    return Grid.of(asked.question, release, asked.exact)


def test_two_drop_outs_leave_the_pooled_integers_and_the_accounted_noise(ten):
    around, hidden = ten
    asked = around.session.terms.next_question(around.session.plan, [])
    grid = grid_of(around, asked)
    rows = pa.concat_tables([around.table(name) for name in LEFT])
    pooled = summed(asked, rows, bad_rows="zero")
    integers = grid.integers(pooled.sums, pooled.counts)
    # To the bit: what comes out is the sum of what sites have hidden, modulo 2^64 ...
    total = sum(hidden)
    values, counts = grid.values(total.astype(np.int64))
    found = sites.Answers.read(around.board.fetch("1.answers"))
    assert np.array_equal(found.given[0].sums.values, values)
    assert found.given[0].sums.counts is None or np.array_equal(found.given[0].sums.counts, counts)
    # ... which is what the rows of the eight have in common, and noise of eight shares.
    noise = (total - integers.astype(np.uint64)).astype(np.int64).astype(float).ravel()
    scale = share_scale(grid, around.session.parties) * math.sqrt(len(LEFT))
    assert scale == pytest.approx(grid.scale * math.sqrt(8 / 7), rel=1e-6)
    assert noise.size > 100 and abs(noise.std() / scale - 1) < 5 / math.sqrt(2 * noise.size)
    assert found.given[0].sums.noise[0] > around.session.plan.releases[0].noise
    assert not found.checked


def test_the_model_says_whose_noise_is_in_it(ten, tmp_path):
    around, _ = ten
    model = sites.train(sites.Answers.read(around.board.fetch("1.answers")))
    assert "10 sites of which 2 may drop out and 1 collude" in str(model.guarantee)
    assert {release.mechanism for release in model.guarantee.releases} == {"distributed-gaussian"}
    model.guarantee.verify()
    model.save(tmp_path / "m.nacre")
    again = nacre.load(tmp_path / "m.nacre")
    assert again.guarantee == model.guarantee
    words = str(compare(again))
    assert words.startswith("They are those")
    assert "Not compared: whether rows were checked first, and how many sites share" in words
    (only,) = model.guarantee.releases
    wrong = dataclasses.replace(only, noise=2 * only.noise)
    others = dataclasses.replace(model.guarantee, releases=(wrong,))
    assert compare(dataclasses.replace(again, guarantee=others)).refused


def test_a_late_vector_is_not_sent_and_not_counted(ten):
    around, _ = ten
    before = around.board.fetch("1.answers").read_bytes()
    assert around.answer("site8")["site8"] == ["site8.1.reveal"]
    assert "site8.1.masked" not in around.board.names()
    with Keeper.of(around.path / "site8") as keeper, pytest.raises(NacreError, match="its turn"):
        turns.mask(keeper, around.session, None, "", 1, None, Holding(data=None, bad_rows="zero"))
    assert around.board.fetch("1.answers").read_bytes() == before


def test_secrets_of_a_round_are_gone_after_it(ten):
    around, _ = ten
    with Keeper.of(around.path / "site0") as keeper:
        kept = keeper.read()
    assert kept.masked == (1,) and not (kept.masks or kept.seeds or kept.parts)
    assert (around.path / "site0" / "secrets.json").stat().st_mode & 0o077 == 0


@pytest.fixture
def called(sent, tmp_path):
    """Four sites of which all have sent vectors, and no roll yet."""
    return sent.copied(tmp_path)


def test_a_collector_cannot_ask_for_both_secrets_of_a_site(called):
    """First as if all were there, then as if one had dropped out, whose vector it has."""
    names = called.names
    everyone, without = Roll(called.session.id, 1, tuple(names)), tuple(names[1:])
    for name in names:
        with Keeper.of(called.path / name) as keeper:
            key = called.path / f"{name}.key"
            first = turns.reveal(keeper, called.session, key, everyone).read_bytes()
            with pytest.raises(NacreError, match="answered another roll"):
                turns.reveal(
                    keeper, called.session, key, dataclasses.replace(everyone, present=without)
                )
            assert keeper.path(Address("reveal", name, 1).name).read_bytes() == first


def test_why_a_site_answers_one_roll(called, tmp_path):
    """Brought back from an old copy, sites answer twice: one site's vector lies open."""
    again = called.copied(tmp_path / "old")
    names = called.names
    rounds = []
    for around, present in ((called, tuple(names)), (again, tuple(names[1:]))):
        around.board.post(_saved(Roll(around.session.id, 1, present), tmp_path / "r"), "1.roll")
        for name in names:
            around.turn(name, None)
        found = _Round(
            around.board, around.session, Roster.of(around.board, around.session), 1,
            sites.Answers(around.session.terms, 1.0, 1e-5, (), parties=around.session.parties),
        )  # fmt: skip
        rounds.append((found, Roll.read(around.board.fetch("1.roll"), around.session, 1)))
    whole, rest = (
        found.unmasked(
            roll, {name: found._parts(Address("reveal", name, 1), roll) for name in names}
        )
        for found, roll in rounds
    )
    asked = called.session.terms.next_question(called.session.plan, [])
    grid = grid_of(called, asked)
    alone = summed(asked, called.table("site0"), bad_rows="zero")
    integers = grid.integers(alone.sums, alone.counts).astype(np.uint64).ravel()
    off = (whole - rest - integers).astype(np.int64).astype(float)
    scale = share_scale(grid, called.session.parties)
    assert 0.5 < off.std() / scale < 1.5  # one share of noise: less than was promised
    assert scale < grid.scale / 1.4


def _saved(roll, path):
    roll.save(path)
    return path


def test_a_roll_that_leaves_out_too_many_is_refused(called):
    roll = Roll(called.session.id, 1, tuple(called.names[:2]))
    with (
        Keeper.of(called.path / "site0") as keeper,
        pytest.raises(NacreError, match="too little noise"),
    ):
        turns.reveal(keeper, called.session, called.path / "site0.key", roll)
    with Keeper.of(called.path / "site0") as keeper:
        assert keeper.read().revealed == {}


def test_different_rolls_for_different_sites_open_nothing(called):
    """Two sites are told that all are there, two that the first is missing."""
    names = called.names
    for place, name in enumerate(names):
        present = tuple(names if place < 2 else names[1:])
        with Keeper.of(called.path / name) as keeper:
            roll = Roll(called.session.id, 1, present)
            path = turns.reveal(keeper, called.session, called.path / f"{name}.key", roll)
        called.board.post(path, path.name)
    found = called.collect()
    assert found.stage == "reveal" and found.waiting == ("site2", "site3")
    assert all("another roll" in said for said in found.refused)
    assert "1.answers" not in called.board.names()


def test_no_answer_without_enough_sites(called):
    assert called.collect().wrote == ("1.roll",)
    for name in called.names[:2]:
        called.turn(name, None)
    assert called.collect().waiting == ("site2", "site3")
    called.turn("site2", None)  # three of four are enough
    assert called.collect().wrote == ("1.answers",)


def test_a_site_masks_one_vector_a_round(called):
    again = called.answer("site0")
    assert again == {"site0": []}
    sent = called.board.fetch("site0.1.masked")
    first = sent.read_bytes()
    sent.unlink()
    called.answer("site0")  # the same message once more, not another one
    assert sent.read_bytes() == first


def test_a_site_that_was_stopped_while_it_drew_noise_has_dropped_out(
    prepared, tmp_path, monkeypatch
):
    around = prepared.copied(tmp_path)
    monkeypatch.setattr(turns, "write", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        around.answer("site0")
    monkeypatch.undo()
    assert around.answer("site0") == {"site0": []}
    around.answer(*around.names[1:])
    assert around.collect(close=True).wrote == ("1.roll",)
    assert Roll.read(around.board.fetch("1.roll"), around.session, 1).present == (
        "site1", "site2", "site3",
    )  # fmt: skip


def test_each_site_charges_its_own_ledger_before_noise(prepared, tmp_path, monkeypatch):
    around = prepared.copied(tmp_path)
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("mine", epsilon=1.0, delta=1e-5)
    book = {"ledger": ledger, "dataset": "mine"}
    real, seen = turns.noisy_share, []

    def noted(plan, asked, exact, charge):
        def charged():
            charge()
            seen.append(len(ledger.history("mine")[0].releases))

        return real(plan, asked, exact, charged)

    monkeypatch.setattr(turns, "noisy_share", noted)
    around.answer("site0", **book)
    assert seen == [1]
    (entry,) = ledger.history("mine")
    assert entry.releases[0]["sites"] == 4 and entry.epsilon == 1.0
    with pytest.raises(nacre.BudgetExceeded):
        around.answer("site1", **book)
    assert "site1.1.masked" not in around.board.names()
    assert around.answer("site1") == {"site1": ["site1.1.masked"]}  # nothing had been drawn


def test_two_rounds_with_another_site_missing_in_each(tmp_path):
    around = Around.made(tmp_path, 4, method=TWO_ROUNDS, dropouts=1).prepared()
    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("mine", epsilon=1.0, delta=1e-5)
    book = {"ledger": ledger, "dataset": "mine"}
    for number, gone in ((1, "site3"), (2, "site0")):
        here = [name for name in around.names if name != gone]
        around.answer(*(name for name in here if name != "site1"))
        with pytest.raises(LedgerError) if number == 2 else contextlib.nullcontext():
            around.answer("site1", **({} if number == 2 else book))
        around.answer("site1", **book)
        assert around.collect(close=True).wrote == (f"{number}.roll",)
        for name in here:
            around.turn(name, None)
        assert around.collect().wrote == (f"{number}.answers",)
    around.answer("site1", **book)
    (entry,) = ledger.history("mine")
    assert len(entry.releases) == 2 and entry.status == "finished"
    answers = sites.Answers.read(around.board.fetch("2.answers"))
    assert [each.name for each in answers.given] == [r.name for r in around.session.plan.releases]
    model = sites.train(answers)
    assert model.guarantee.epsilon <= 1 and model.sample(5).num_rows == 5
    with pytest.raises(NacreError, match="a sketch does not go on"):
        sketch = sites.sketch(around.table("site0"), SMALL, method=TWO_ROUNDS, bad_rows="zero")
        sites.release(sketch, answers=answers)


def test_masked_vectors_on_the_board_look_like_nothing(ten):
    around, hidden = ten
    vectors = [
        around.board.message(around.session, Address("masked", name, 1)).arrays["words"]
        for name in LEFT
    ]
    for vector, plain in zip(vectors, hidden, strict=True):
        assert not np.array_equal(vector, plain.ravel())
        assert abs(np.unpackbits(vector.view(np.uint8)).mean() - 0.5) < 5 * 0.5 / math.sqrt(
            vector.size * 64
        )
    for one, other in itertools.combinations(vectors, 2):
        assert not (one == other).any()


def test_a_session_is_joined_only_by_who_has_looked_at_it(tmp_path):
    around = Around.made(tmp_path, 2)
    holding = Holding(data=around.table("site0"), bad_rows="zero")
    settings = {"key": tmp_path / "site0.key", "state": tmp_path / "site0"}
    with pytest.raises(NacreError, match="Look at the session first"):
        answer(around.board, holding, **settings)
    half = around.session.fingerprint[:39]  # of 32 digits
    for wrong in ("0" * 64, around.session.fingerprint[:9], half, around.session.id[:-1]):
        with pytest.raises(NacreError, match="not the one given"):
            answer(around.board, holding, session=wrong, **settings)
    assert around.board.names() == {"session.nacre"}


def test_a_site_that_leaves_forgets_its_secrets(called):
    folder = called.path / "site0"
    (folder / ".secrets.json.left").write_text("of a program that was stopped")
    with Keeper.of(folder) as keeper:
        before = keeper.read()
    assert not (folder / ".secrets.json.left").exists()
    assert before.masks and before.seeds and before.parts
    assert leave(folder) == "site0"
    text = (folder / "secrets.json").read_text()
    for secret in (*before.masks.values(), *before.seeds.values()):
        assert secret not in text
    assert not any(part in text for held in before.parts["1"].values() for part in held)
    with pytest.raises(NacreError, match="has left this session"):
        called.answer("site0")
    called.collect()
    for name in called.names[1:]:
        called.turn(name, None)
    assert called.collect().wrote == ("1.answers",)  # three others are enough
    with pytest.raises(NacreError, match="no secrets"):
        leave(called.path / "nobody")
