"""A site's two turns in a round: its masked vector, and parts of others' secrets for a roll."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Self, final

import numpy as np

from nacre import archive
from nacre.errors import NacreError
from nacre.ledger import Reservation
from nacre.sites.answers import Answers, opening
from nacre.sites.masked import masks
from nacre.sites.masked.holding import Holding, account_of
from nacre.sites.masked.keeper import Keeper, Kept
from nacre.sites.masked.message import Address, write
from nacre.sites.masked.session import Session
from nacre.sites.masked.setup import Roster
from nacre.sites.sketch import require_known, summed
from nacre.sites.terms import Terms
from nacre.vault.rounds import Answered, Asked
from nacre.vault.shares import fingerprint, grid_of, noisy_share

Report = Callable[[str, float | None], None]


@final
@dataclasses.dataclass(frozen=True)
class Roll:
    """Whose vectors are to be added up in a round, as whoever collects says; not believed."""

    session: str
    round: int
    present: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write it."""
        said = {"file": "roll", **dataclasses.asdict(self), "present": list(self.present)}
        archive.write(path, said, {})

    @classmethod
    def read(cls, path: Path, session: Session, number: int) -> Self:
        """A roll of this session and round, with sites that there are, each once."""
        document, _ = archive.read(path)
        with opening(path, document, "roll"):
            found = cls(
                str(document["session"]),
                int(document["round"]),
                tuple(str(name) for name in document["present"]),
            )
        known = len(set(found.present)) == len(found.present) and (
            set(found.present) <= set(session.names)
        )
        if (found.session, found.round) != (session.id, number) or not known:
            raise NacreError(f"{path} is the roll of another session or round: refused.")
        return found


def mask(
    keeper: Keeper,
    session: Session,
    roster: Roster,
    key: str | Path,
    number: int,
    before: Answers | None,
    holding: Holding,
    on_progress: Report | None = None,
) -> Path:
    """A site's sums of a round, with its share of the noise, under its masks; once.

    Whatever the answers before say, a round answers the question at its own place in the plan.

    Releases:
        nothing by itself; see `noisy_share`.  Written down as done, then charged, before the noise
        is drawn: a site that is stopped in between has dropped out of the round.
    """
    kept = _kept(keeper)
    address = Address("masked", kept.site, number)
    if number in kept.masked or str(number) in kept.revealed:
        raise NacreError(
            f"'{kept.site}' has had its turn in round {number}: a second vector under the same "
            "masks would show the difference of both. It is missing in this round."
        )
    require_known(holding.bad_rows)
    given = [] if before is None else list(require_given(before, session, number).given)
    reservation = holding.reservation(session, kept)
    asked = next_asked(session, given, on_progress)
    program, size = fingerprint(session.plan, asked), math.prod(grid_of(session.plan, asked).shape)
    hiding = masks.masked(  # before the charge: a key that is none is not paid for
        np.zeros(size, np.uint64),
        masks.Occasion(roster.transcript, number, program),
        session.names.index(kept.site),
        bytes.fromhex(kept.masks[str(number)]),
        bytes.fromhex(kept.seeds[str(number)]),
        roster.keys(number),
    )
    exact = summed(asked, holding.data, bad_rows=holding.bad_rows, engine=holding.engine)
    words = noisy_share(
        session.plan, asked, exact, lambda: _charge(keeper, kept, session, number, reservation)
    )
    body = {
        "transcript": roster.transcript.hex(),
        "program": program,
        "checked": holding.bad_rows == "check",
    }
    path = keeper.path(address.name)
    write(path, session, address, key, body, {"words": words.reshape(-1) + hiding})
    return path


def _charge(
    keeper: Keeper, kept: Kept, session: Session, number: int, reservation: Reservation | None
) -> None:
    """Write down that the round was had, then charge it: no noise is drawn or paid for twice.

    If this is stopped in between, the next round finds the ledger's entry by its mark.
    """
    done = dataclasses.replace(kept, masked=(*kept.masked, number), account=account_of(reservation))
    keeper.write(done)
    if reservation is None:
        return
    try:
        reservation(session.plan.asked[number - 1].release)
    except Exception:
        if reservation.entry is None:  # refused, and no noise was drawn: not had
            keeper.write(kept)
        raise
    keeper.write(dataclasses.replace(done, entry=reservation.entry))


def next_asked(session: Session, given: list[Answered], on_progress: Report | None = None) -> Asked:
    """The question of the round after these answers: the one at that place in the plan, or none.

    Answers are not signed.  So false ones must not lead to a question that was answered before.
    """
    number = len(given) + 1
    if number > session.rounds:
        raise NacreError(f"The session has {session.rounds} rounds, and no round {number}.")
    asked = session.terms.next_question(session.plan, given, on_progress)
    planned = session.plan.asked[number - 1].question
    if asked.question != planned:
        raise NacreError(
            f"The answers before round {number} lead to '{asked.question.name}', and the plan has "
            f"'{planned.name}' there: they are false, and the round is refused."
        )
    return asked


def require_given(before: Answers, session: Session, number: int) -> Answers:
    """Answers of this session and of all rounds before, each as the plan has it at its place."""
    known = (session.epsilon, session.delta, session.parties, number - 1)
    if (before.epsilon, before.delta, before.parties, len(before.given)) != known or (
        _text(before.terms) != _text(session.terms)
    ):
        raise NacreError(f"The answers before round {number} are those of another session.")
    for each, planned in zip(before.given, session.plan.asked, strict=False):
        if each.name != planned.question.name:
            raise NacreError(
                f"'{each.name}' was answered where the plan has '{planned.question.name}'. Refused."
            )
    before.require_planned(session.plan)
    return before


def _text(terms: Terms) -> str:
    return json.dumps(terms.to_dict(), sort_keys=True)


def reveal(keeper: Keeper, session: Session, key: str | Path, roll: Roll) -> Path:
    """Parts of others' secrets, for one roll a round and no other.

    Of a site that is there the part of its seed, of one that is missing the part of its key: never
    both, so that no vector of a site by itself comes to light (see `Parties`).
    """
    kept = _kept(keeper)
    number = str(roll.round)
    if len(session.names) - len(roll.present) > session.parties.dropouts:
        raise NacreError(
            f"The roll of round {number} leaves out more than {session.parties.dropouts} sites: "
            "too little noise would be left. Refused."
        )
    if kept.revealed.get(number, list(roll.present)) != list(roll.present):
        raise NacreError(
            f"'{kept.site}' has answered another roll of round {number}. Two answers could lay "
            "open one site's vector: refused. Whoever collects must keep to the first roll."
        )
    path = keeper.path(Address("reveal", kept.site, roll.round).name)
    kept = keeper.write(
        dataclasses.replace(kept, revealed={**kept.revealed, number: list(roll.present)})
    )
    held = kept.parts[number]
    parts = {name: held[name][1 if name in roll.present else 0] for name in session.names}
    body = {"present": list(roll.present), "parts": parts}
    write(path, session, Address("reveal", kept.site, roll.round), key, body)
    keeper.write(kept.without(number))
    return path


def _kept(keeper: Keeper) -> Kept:
    found = keeper.read()
    if found is None:
        raise NacreError(f"{keeper.folder} holds no secrets of a session.")
    return found
