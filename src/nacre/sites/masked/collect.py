"""collect(): rolls, and the noisy total of each round; anybody can, and learns nothing else."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import tempfile
from pathlib import Path
from typing import final

import numpy as np

from nacre.errors import NacreError
from nacre.sites.answers import Answers
from nacre.sites.masked import masks, setup, shamir
from nacre.sites.masked.board import AbstractBoard
from nacre.sites.masked.masks import Occasion, Words
from nacre.sites.masked.message import Address, Message
from nacre.sites.masked.session import Session
from nacre.sites.masked.turns import Roll, next_asked, require_given
from nacre.vault import shares
from nacre.vault.rounds import Answered


@final
@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a session stands.

    Attributes:
        wrote: messages of whoever collects that were written now.
        stage: what sites are asked for next: keys, shares, masked, reveal; or nothing.
        round: of which round; 0 before the first.
        waiting: sites whose message is missing.
        refused: what is wrong with messages that do not count.
    """

    wrote: tuple[str, ...]
    stage: str
    round: int = 0
    waiting: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def collect(board: AbstractBoard, *, close: bool = False) -> Progress:
    """Write what is next for whoever collects: a roll, or the answers of a round.

    Args:
        board: where messages lie.
        close: go on without sites whose vectors are missing, if there are not too many.

    Releases:
        the total of a round, which has its noise already.
    """
    session = board.session()
    for kind in ("keys", "shares"):
        missing = [n for n in session.names if Address(kind, n).name not in board.names()]
        if missing:
            return Progress((), kind, waiting=tuple(missing))
    roster = setup.Roster.of(board, session)
    if roster is None:
        return Progress((), "keys")
    wrote: list[str] = []
    answers = Answers(session.terms, session.epsilon, session.delta, (), parties=session.parties)
    for number in range(1, session.rounds + 1):
        if f"{number}.answers" in board.names():
            told = Answers.read(board.fetch(f"{number}.answers"))
            answers = require_given(told, session, number + 1)
            continue
        found = _Round(board, session, roster, number, answers)
        if f"{number}.roll" not in board.names():
            waiting, refused = found.call(close=close)
            if waiting:
                return Progress(tuple(wrote), "masked", number, waiting, refused)
            wrote.append(f"{number}.roll")
        finished, waiting, refused = found.finish()
        if finished is None:
            return Progress(tuple(wrote), "reveal", number, waiting, refused)
        answers = finished
        found.post(answers, f"{number}.answers")
        wrote.append(f"{number}.answers")
    return Progress(tuple(wrote), "")


def verify(board: AbstractBoard, answers: Answers | None = None) -> int:
    """How many rounds there were, if the answers of all follow from the sites' messages.

    Refuses if those of any round are missing, cannot be worked out, or are others; and `answers`,
    from which a model is to be made, if they are not those of the last round.  Anybody can:
    whoever collects is not to be believed.
    """
    session = board.session()
    roster = setup.Roster.of(board, session)
    if roster is None:
        raise NacreError("The keys of a site are missing: nothing can be worked out again.")
    told = Answers(session.terms, session.epsilon, session.delta, (), parties=session.parties)
    for number in range(1, session.rounds + 1):
        if not board.names() >= {f"{number}.roll", f"{number}.answers"}:
            raise NacreError(
                f"The session has {session.rounds} rounds, and roll or answers of round {number} "
                "are missing: not all can be worked out again."
            )
        found, _, _ = _Round(board, session, roster, number, told).finish()
        told = Answers.read(board.fetch(f"{number}.answers"))
        if found is None or not found.same(told):
            raise NacreError(
                f"The answers of round {number} do not follow from the sites' messages. Do not "
                "use them; see who wrote them."
            )
        told = found
    if answers is not None and not told.same(answers):
        raise NacreError(
            "The answers given are not those that follow from the sites' messages. Do not use them."
        )
    return session.rounds


class _Round:
    """One round, as whoever collects sees it."""

    def __init__(
        self,
        board: AbstractBoard,
        session: Session,
        roster: setup.Roster,
        number: int,
        before: Answers,
    ):
        self.board, self.session, self.roster = board, session, roster
        self.number, self.before = number, before
        self.asked = next_asked(session, list(before.given))
        self.shape = shares.grid_of(session.plan, self.asked).shape
        self.program = shares.fingerprint(session.plan, self.asked)

    def call(self, *, close: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Write the roll; or say who is missing, and what is wrong with what some have sent."""
        present, refused = [], []
        for name in self.session.names:
            if Address("masked", name, self.number).name in self.board.names():
                try:
                    self.vector(name)
                    present.append(name)
                except NacreError as error:
                    refused.append(str(error))
        missing = tuple(name for name in self.session.names if name not in present)
        if missing and not (close and len(missing) <= self.session.parties.dropouts):
            return missing, tuple(refused)
        self.post(Roll(self.session.id, self.number, tuple(present)), f"{self.number}.roll")
        return (), tuple(refused)

    def vector(self, name: str) -> tuple[Words, Message]:
        """The masked vector of a site, of the right question and length."""
        address = Address("masked", name, self.number)
        message = self.board.message(self.session, address)
        words = message.arrays.get("words")
        wanted = (self.program, self.roster.transcript.hex())
        if (message.body.get("program"), message.body.get("transcript")) != wanted:
            raise NacreError(
                f"{address.name} is of another question, or made with other keys, settings or "
                "versions of nacre and JAX."
            )
        if words is None or words.dtype != np.uint64 or words.shape != (int(np.prod(self.shape)),):
            raise NacreError(f"{address.name} has not as many words as the question.")
        return words, message

    def finish(self) -> tuple[Answers | None, tuple[str, ...], tuple[str, ...]]:
        """The answers, as soon as enough sites have answered the roll."""
        name = f"{self.number}.roll"
        roll = Roll.read(self.board.fetch(name), self.session, self.number)
        revealed, refused = {}, []
        for site in self.session.names:
            address = Address("reveal", site, self.number)
            if address.name in self.board.names():
                try:
                    revealed[site] = self._parts(address, roll)
                except (NacreError, KeyError, TypeError, ValueError) as error:
                    refused.append(f"{address.name}: {error}")
        if len(revealed) < self.session.parties.threshold:
            waiting = tuple(site for site in self.session.names if site not in revealed)
            return None, waiting, tuple(refused)
        return self._answers(roll, self.unmasked(roll, revealed)), (), tuple(refused)

    def _parts(self, address: Address, roll: Roll) -> dict[str, bytes]:
        """Parts that a site has revealed, each as its owner said that it would be."""
        message = self.board.message(self.session, address)
        if message.body["present"] != list(roll.present):
            raise NacreError("It answers another roll.")
        found = {}
        for owner in self.session.names:
            part = bytes.fromhex(message.body["parts"][owner])
            dealt = self.board.message(self.session, Address("shares", owner))
            told = setup.digests_of(dealt, address.site, self.number)
            if hashlib.sha256(part).hexdigest() != told[1 if owner in roll.present else 0]:
                raise NacreError(f"The part of '{owner}' is false.")
            found[owner] = part
        return found

    def unmasked(self, roll: Roll, revealed: dict[str, dict[str, bytes]]) -> Words:
        """The sum of the vectors that are there, without masks, modulo 2^64."""
        secrets = {name: self._secret(name, roll, revealed) for name in self.session.names}
        keys = self.roster.keys(self.number)
        occasion = Occasion(self.roster.transcript, self.number, self.program)
        size = int(np.prod(self.shape))
        total = np.zeros(size, np.uint64)
        places = {name: place for place, name in enumerate(self.session.names)}
        for name in roll.present:
            words, _ = self.vector(name)
            total += words - masks.self_mask(occasion, secrets[name], places[name], size)
            for other in set(places) - set(roll.present):
                between = (places[name], places[other])
                total -= masks.pair_mask(occasion, secrets[other], between, keys, size)
        return total

    def _secret(self, name: str, roll: Roll, revealed: dict[str, dict[str, bytes]]) -> bytes:
        """Put a site's seed, or its key if it is missing, together, and see that it is the one."""
        chosen = list(revealed)[: self.session.parties.threshold]
        place = self.session.names.index(name)
        parts = {self.session.names.index(each) + 1: revealed[each][name] for each in chosen}
        found, right = b"", False
        with contextlib.suppress(NacreError):
            found = shamir.combine(parts, 32)
            if name in roll.present:
                session = bytes.fromhex(self.session.id)
                told = self.roster.commitments(self.number)[place]
                right = masks.commitment(found, session, place, self.number) == told
            else:
                right = masks.public_of(found) == self.roster.keys(self.number)[place]
        if not right:
            raise NacreError(
                f"The parts that '{name}' has dealt out do not make up its secret: it has not kept "
                "to the protocol. This session may be spent already, also without an answer, as "
                "somebody may know more than is seen here: another one without the site costs its "
                "budget once more."
            )
        return found

    def _answers(self, roll: Roll, total: Words) -> Answers:
        """The answer to the round's question, in the units of features."""
        question, program = self.asked.question, self.asked.program
        integers = total.astype(np.int64).reshape(self.shape)
        sums = shares.total(self.session.plan, self.asked, integers, len(roll.present))
        answered = Answered(question.name, program, sums=sums)
        checked = [self.vector(name)[1].body.get("checked") is True for name in roll.present]
        return dataclasses.replace(
            self.before,
            given=(*self.before.given, answered),
            checked=self.before.checked and all(checked),
        )

    def post(self, what: Roll | Answers, name: str) -> None:
        """Put a message of whoever collects on the board."""
        with tempfile.TemporaryDirectory() as folder:
            what.save(Path(folder) / name)
            self.board.post(Path(folder) / name, name)
