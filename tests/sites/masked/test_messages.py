"""Messages that were changed, replayed, or come from elsewhere are refused, in words."""

import dataclasses
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.sites.masked.conftest import SMALL, TWO_ROUNDS, Around, rewritten, terms_of

import nacre
from nacre.archive import ArchiveError
from nacre.errors import NacreError
from nacre.plan import as_encoder
from nacre.schema import Schema, Unit
from nacre.signature import new_key, read_public_key, sign
from nacre.sites.masked import board, message, turns
from nacre.sites.masked.collect import verify
from nacre.sites.masked.keeper import Keeper
from nacre.sites.masked.message import Address
from nacre.sites.masked.session import Session
from nacre.sites.masked.turns import Roll


def test_a_changed_message_is_refused(around):
    path = around.board.fetch("site1.1.masked")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = around.collect()
    assert found.waiting == ("site1",) and len(found.refused) == 1
    assert "site1.1.masked" in found.refused[0]


def test_a_message_under_another_name_is_refused(around):
    board = around.board
    for source, target in (
        ("site0.1.masked", "site1.1.masked"),  # another site's
        ("site0.1.masked", "site0.2.masked"),  # an earlier round's
        ("site0.keys", "site0.shares"),  # another kind
    ):
        shutil.copyfile(board.fetch(source), board.fetch(target))
        with pytest.raises(ArchiveError, match=r"refused"):
            message.read(board.fetch(target), around.session, Address.parse(target))


def test_a_message_of_another_session_is_refused(around, tmp_path):
    (tmp_path / "other").mkdir()
    sites = {name: bytes.fromhex(key) for name, key in around.session.sites.items()}
    again = Session.new(around.session.terms, sites, epsilon=1.0, delta=1e-5, dropouts=1)
    assert again.id != around.session.id
    for name in ("site0.keys", "site0.1.masked"):
        with pytest.raises(ArchiveError, match="another session"):
            message.read(around.board.fetch(name), again, Address.parse(name))


def test_a_message_without_the_sites_own_signature_is_refused(around, tmp_path):
    path = around.board.fetch("site0.1.masked")
    new_key(tmp_path / "stranger.key")
    for context in (message.CONTEXT, b"nacre model signature 1\0"):
        sign(path, tmp_path / "stranger.key", context=context)
        with pytest.raises(ArchiveError, match="not signed by 'site0'|does not fit"):
            message.read(path, around.session, Address.parse(path.name))
    # The site's own key, but for a model: a signature serves one purpose.
    sign(path, around.path / "site0.key")
    with pytest.raises(ArchiveError, match="does not fit"):
        message.read(path, around.session, Address.parse(path.name))
    with zipfile.ZipFile(path) as archive:
        parts = {n: archive.read(n) for n in archive.namelist() if n != "signature.json"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(ArchiveError, match="not signed"):
        message.read(path, around.session, Address.parse(path.name))


def test_what_was_signed_is_what_is_used(around, tmp_path, monkeypatch):
    """Somebody exchanges files between two looks at them."""
    path, address = around.board.fetch("site1.keys"), Address("keys", "site1")
    body = dict(message.read(path, around.session, address).body)
    body = {k: v for k, v in body.items() if k not in ("nacre", "sha256")}
    shutil.copyfile(path, tmp_path / "genuine")
    path.unlink()
    nacre.archive.write(path, {**body, "channel": "ab" * 32}, {})  # nobody has signed it
    real = zipfile.ZipFile

    def exchanged(file, *given):
        found = real(file, *given)
        if (tmp_path / "genuine").exists():
            (tmp_path / "genuine").replace(path)
        return found

    monkeypatch.setattr(zipfile, "ZipFile", exchanged)
    with pytest.raises(ArchiveError, match="not signed by 'site1'"):
        message.read(path, around.session, address)
    assert message.read(path, around.session, address).body["channel"] != "ab" * 32


def test_only_plain_files_of_a_known_size_are_messages(around, tmp_path):
    path, address = around.board.fetch("site0.1.masked"), Address("masked", "site0", 1)
    shutil.move(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArchiveError, match="is a link"):
        message.read(path, around.session, address)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ArchiveError, match="not a file"):
        message.read(path, around.session, address)
    path.unlink()
    path.write_bytes(b"0" * (message.largest(around.session, address) + 1))
    with pytest.raises(ArchiveError, match="has more than"):
        message.read(path, around.session, address)


def test_messages_fit_into_what_is_allowed_for_their_kind(tmp_path):
    """With much room: other Pythons write JSON and zips a little otherwise."""
    around = Around.made(tmp_path, 5, method=TWO_ROUNDS, dropouts=1).prepared()
    around.answer()
    around.collect()
    for name in around.names:
        around.turn(name, None)
    for name in around.board.names():
        if address := Address.parse(name):
            size = around.board.fetch(name).stat().st_size
            most = message.largest(around.session, address)
            assert size < most - (8 << 10), name


def test_a_folder_that_others_write_to_does_not_lead_elsewhere(around, tmp_path, monkeypatch):
    """The file that is being written gives way to a link to one of the victim's own."""
    victim = tmp_path / "mine"
    victim.write_text("mine")
    victim.chmod(0o600)
    real = board.tempfile.mkstemp

    def exchanged(**settings):
        handle, name = real(**settings)
        Path(name).unlink()
        Path(name).symlink_to(victim)
        return handle, name

    monkeypatch.setattr(board.tempfile, "mkstemp", exchanged)
    with pytest.raises(NacreError, match="Another site0.1.reveal"):
        around.board.post(around.board.fetch("site0.1.masked"), "site0.1.reveal")
    assert victim.read_text() == "mine" and victim.stat().st_mode & 0o777 == 0o600


def test_a_site_cannot_sign_for_another(around):
    with pytest.raises(NacreError, match="not the one of 'site1'"):
        message.write(
            around.path / "x", around.session, Address("keys", "site1"),
            around.path / "site0.key", {},
        )  # fmt: skip
    assert not (around.path / "x").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda body, arrays: body.update(program="0" * 64), "another question"),
        (lambda body, arrays: body.update(transcript="0" * 64), "other keys"),
        (lambda body, arrays: arrays.update(words=arrays["words"][:-1]), "as many words"),
        (lambda body, arrays: arrays.update(words=arrays["words"].astype(float)), "as many words"),
        (lambda body, arrays: arrays.clear(), "as many words"),
    ],
)
def test_a_vector_that_does_not_fit_counts_as_missing(around, change, words):
    rewritten(around, "site2.1.masked", change)
    found = around.collect()
    assert found.waiting == ("site2",) and words in found.refused[0]
    assert around.collect(close=True).wrote == ("1.roll",)


def test_a_session_of_persons_or_images_is_refused_whoever_wrote_it(tmp_path):
    around = Around.made(tmp_path, 2)
    persons = Schema(SMALL.columns, label="paid", unit=Unit(column="who", rows=2))
    encoder = {"kind": "table", **as_encoder(persons).to_dict()}
    terms = dataclasses.replace(around.session.terms, encoder=encoder)
    forged = dataclasses.replace(around.session, terms=terms)
    forged.save(tmp_path / "board" / "session.nacre")
    with pytest.raises(NacreError, match="several sites"):
        Around(tmp_path, forged).turn("site0", None)


def test_rolls_of_other_sessions_rounds_or_sites_are_refused(around, tmp_path):
    names, session = tuple(around.names), around.session
    for roll in (
        Roll("0" * 64, 1, names),
        Roll(session.id, 2, names),
        Roll(session.id, 1, (*names, "stranger")),
        Roll(session.id, 1, (*names, names[0])),
    ):
        roll.save(tmp_path / "roll")
        with pytest.raises(NacreError, match="refused"):
            Roll.read(tmp_path / "roll", session, 1)


def test_answers_of_another_session_do_not_lead_on(around, tmp_path):
    found = around.collect()
    for name in around.names:
        around.turn(name, None)
    around.collect()
    answers = nacre.sites.Answers.read(around.board.fetch("1.answers"))
    other = dataclasses.replace(answers, epsilon=5.0)
    assert found.wrote == ("1.roll",)
    with pytest.raises(NacreError, match="another session"):
        turns.require_given(other, around.session, 2)
    assert turns.require_given(answers, around.session, 2) is answers


def test_a_false_answer_of_whoever_collects_is_noticed(around):
    around.collect()
    with pytest.raises(NacreError, match="of round 1 are missing"):
        verify(around.board)
    for name in around.names:
        around.turn(name, None)
    around.collect()
    path = around.board.fetch("1.answers")
    answers = nacre.sites.Answers.read(path)
    assert verify(around.board) == verify(around.board, answers) == 1
    with pytest.raises(NacreError, match="not those that follow"):
        verify(around.board, dataclasses.replace(answers, checked=not answers.checked))
    keys = around.board.fetch("site2.keys")
    keys.rename(around.path / "held back")
    with pytest.raises(NacreError, match="keys of a site are missing"):
        verify(around.board)
    (around.path / "held back").rename(keys)
    values = answers.given[0].sums.values.copy()
    values[0, 0] = np.nextafter(values[0, 0], np.inf)
    for changed in (
        {"sums": dataclasses.replace(answers.given[0].sums, values=values)},
        {"name": "another"},
    ):
        given = (dataclasses.replace(answers.given[0], **changed),)
        dataclasses.replace(answers, given=given).save(path, replace=True)
        with pytest.raises(NacreError, match="do not follow from the sites' messages"):
            verify(around.board)


def test_two_programs_cannot_work_with_one_sites_secrets(around):
    with Keeper.of(around.path / "site0"), pytest.raises(NacreError, match="Another program"):
        around.turn("site0", None)


def test_another_sessions_folder_and_foreign_keys_are_refused(around, tmp_path):
    with pytest.raises(NacreError, match="another session or site"):
        nacre.sites.masked.site.answer(
            around.board, None, key=around.path / "site0.key", state=around.path / "site1"
        )
    new_key(tmp_path / "stranger.key")
    with pytest.raises(NacreError, match="lists no site"):
        nacre.sites.masked.site.answer(
            around.board, None, key=tmp_path / "stranger.key", state=tmp_path / "x"
        )
    (around.path / "site2" / "secrets.json").write_text("{")
    with pytest.raises(NacreError, match="must drop out"):
        around.turn("site2", None)


def test_a_session_says_what_is_wrong_with_it(tmp_path):
    keys = [read_public_key(new_key(tmp_path / f"{place}.key")) for place in range(3)]
    terms = terms_of(TWO_ROUNDS)
    budget = {"epsilon": 1.0, "delta": 1e-5}
    with pytest.raises(NacreError, match="small letters"):
        Session.new(terms, {"A b": keys[0], "c": keys[1]}, **budget)
    with pytest.raises(NacreError, match="key of its own"):
        Session.new(terms, {"a": keys[0], "b": keys[0]}, **budget)
    with pytest.raises(NacreError, match="more than sites"):
        Session.new(terms, dict(zip("abc", keys, strict=True)), dropouts=1, **budget)
    session = Session.new(terms, dict(zip("abc", keys, strict=True)), **budget)
    session.save(tmp_path / "s")
    assert Session.read(tmp_path / "s").id == session.id
    assert dataclasses.replace(session, epsilon=2.0).id != session.id
    forged = dataclasses.replace(
        session, sites=dict(zip("abc", map(bytes.hex, keys[::-1]), strict=True))
    )
    assert forged.id != session.id
    with pytest.raises(NacreError, match="only sums and choices|a choice needs"):
        Session.new(terms_of(nacre.AIM()), dict(zip("abc", keys, strict=True)), **budget)


def test_words_of_a_message_are_unsigned(around):
    found = around.board.message(around.session, Address("masked", "site0", 1))
    assert found.arrays["words"].dtype == np.uint64
