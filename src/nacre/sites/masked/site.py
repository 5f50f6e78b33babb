"""answer(): everything that is a site's turn to do, as far as the messages on a board allow."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from nacre.errors import NacreError
from nacre.ledger import Ledger
from nacre.signature import public_key_of
from nacre.sites.answers import Answers
from nacre.sites.masked import setup, turns
from nacre.sites.masked.board import AbstractBoard
from nacre.sites.masked.holding import Holding
from nacre.sites.masked.keeper import Keeper, Kept
from nacre.sites.masked.message import Address
from nacre.sites.masked.session import Session
from nacre.sites.masked.turns import Report, Roll


def answer(
    board: AbstractBoard,
    holding: Holding | None,
    *,
    key: str | Path,
    state: str | Path,
    session: str | None = None,
    on_progress: Report | None = None,
) -> list[str]:
    """Do what is this site's turn, and send it; what was done, in words.

    Args:
        board: where messages lie.
        holding: the site's rows and its ledger; None for turns that need no row.
        key: the site's own secret Ed25519 key, by which the session knows it.
        state: a folder for the site's secrets in this session.
        session: the fingerprint of the session, the first time: that a person has looked at it.
        on_progress: as for `fit`.

    Releases:
        nothing but messages of which, together, only noisy totals can be learnt: one in each
        round, by the theorem of `Parties`.

    Guarantee:
        that of the session's plan, if no more sites collude than it says.

    Public:
        the board.
    """
    agreed = board.session()
    with Keeper.of(state) as keeper:
        kept = _recognized(keeper, agreed, key, session)
        done = _send(board, keeper, Address("keys", kept.site))
        roster = setup.Roster.of(board, agreed)
        if roster is None:
            return done
        kept = _same_keys(keeper, kept, roster)
        shares = Address("shares", kept.site)
        if not keeper.path(shares.name).exists():
            setup.write_shares(keeper.path(shares.name), agreed, roster, kept, key)
        done += _send(board, keeper, shares)
        if not kept.opened:
            addresses = {name: Address("shares", name) for name in agreed.names}
            if not board.names() >= {each.name for each in addresses.values()}:
                return done
            found = {name: board.message(agreed, each) for name, each in addresses.items()}
            parts = setup.opened(agreed, roster, kept, found)
            # The key is not needed again: who finds the folder later cannot open them with it.
            keeper.write(dataclasses.replace(kept, parts=parts, channel="", opened=True))
        for number in range(1, agreed.rounds + 1):
            done += _round(board, keeper, agreed, roster, key, number, holding, on_progress)
        if holding is not None and f"{agreed.rounds}.answers" in board.names():
            _finish(keeper, holding)
        return done


def leave(state: str | Path) -> str:
    """Forget all secrets of a session, whether it is over or not; the name of the site.

    The site sends nothing more in it.  Others may go on if it may drop out.  What it has spent
    stays spent.
    """
    with Keeper.of(state) as keeper:
        kept = keeper.read()
        if kept is None:
            raise NacreError(f"{keeper.folder} holds no secrets of a session.")
        keeper.write(kept.forgotten())
        return kept.site


def _round(
    board: AbstractBoard,
    keeper: Keeper,
    session: Session,
    roster: setup.Roster,
    key: str | Path,
    number: int,
    holding: Holding | None,
    on_progress: Report | None,
) -> list[str]:
    """A site's turn in one round, if it has one."""
    kept = keeper.read()
    names = board.names()
    before = f"{number - 1}.answers"
    if kept is None or (number > 1 and before not in names):
        return []
    masked, reveal = (Address(kind, kept.site, number) for kind in ("masked", "reveal"))
    called = f"{number}.roll"
    if called not in names:
        if holding is not None and number not in kept.masked:
            given = None if number == 1 else Answers.read(board.fetch(before))
            turns.mask(keeper, session, roster, key, number, given, holding, on_progress)
        return _send(board, keeper, masked)
    if not keeper.path(reveal.name).exists() or str(number) in kept.parts:
        roll = Roll.read(board.fetch(called), session, number)
        turns.reveal(keeper, session, key, roll)
    return _send(board, keeper, reveal)


def _recognized(keeper: Keeper, session: Session, key: str | Path, said: str | None) -> Kept:
    """Who this site is; its secrets of this session, made the first time."""
    public = public_key_of(key).hex()
    found = [name for name, each in session.sites.items() if each == public]
    if not found:
        raise NacreError(f"The session lists no site with the key {key}. Nothing was sent.")
    kept = keeper.read()
    if kept is None:
        if said is None:
            raise NacreError(
                f"Look at the session first (`nacre site show`): are these the sites' keys, and "
                f"is this the budget? Then say so: --session '{session.fingerprint}'."
            )
        session.require(said)
        kept = setup.joined(session, found[0])
        setup.write_keys(keeper.path(Address("keys", kept.site).name), session, kept, key)
        keeper.write(kept)
    if (kept.session, kept.site) != (session.id, found[0]):
        raise NacreError(
            f"{keeper.folder} holds secrets of another session or site. Give each its own folder."
        )
    if kept.left:
        raise NacreError(
            f"'{kept.site}' has left this session, and has no secrets of it any more. What it has "
            "spent stays spent."
        )
    return kept


def _same_keys(keeper: Keeper, kept: Kept, roster: setup.Roster) -> Kept:
    """Refuse keys that were changed after this site has worked with others."""
    transcript = roster.transcript.hex()
    if not kept.transcript:
        return keeper.write(dataclasses.replace(kept, transcript=transcript))
    if kept.transcript != transcript:
        raise NacreError("A site's keys were changed in the middle of the session: refused.")
    return kept


def _send(board: AbstractBoard, keeper: Keeper, address: Address) -> list[str]:
    """Send a message that is written; nothing if it is there already, or never came about."""
    path = keeper.path(address.name)
    if not path.exists() or address.name in board.names():
        return []
    board.post(path, address.name)
    return [address.name]


def _finish(keeper: Keeper, holding: Holding) -> None:
    """Say in the ledger that all is done; it stays charged."""
    kept = keeper.read()
    if kept is not None and kept.entry is not None and holding.ledger is not None:
        book = holding.ledger if isinstance(holding.ledger, Ledger) else Ledger(holding.ledger)
        book.finish(kept.entry)
