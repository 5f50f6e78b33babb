"""release(): noise on the sums of all sites, once a round; train(): the model from all answers."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path

from nacre.errors import LedgerError, NacreError
from nacre.ledger import Entry, Ledger, Reservation, check_account, reserve_in
from nacre.model import Model
from nacre.sites.answers import Answers
from nacre.sites.sketch import Sketch
from nacre.vault import Plan
from nacre.vault.rounds import Asked, RoundVault
from nacre.vault.vault import promised

Report = Callable[[str, float | None], None]


def release(
    merged: Sketch,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    answers: Answers | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    on_progress: Report | None = None,
) -> Answers:
    """Answer the question of a merged sketch with noise; the sketch is used up by it.

    Args:
        merged: the sums of all sites.
        epsilon: of all rounds together, said in the first of them.
        delta: likewise.
        answers: of the rounds before; None in the first.
        ledger: where the budget is kept; the first round reserves the cost of all.
        dataset: the name under which it was opened.
        on_progress: as for `fit`.

    Releases:
        the answer to one question of the plan: a noisy sum, or choices.

    Adjacency:
        that of the terms, of the rows of all sites together.

    Sensitivity:
        `Bound.sensitivity`, enforced at each site on its own rows; a row is at one site.

    Guarantee:
        that of the plan, for all rounds together, provided that each sketch is released once: a
        second release of the same sums costs its part of epsilon again.  A ledger notices; without
        one nothing can.

    Public:
        terms, epsilon, delta.
    """
    if answers is None:
        if epsilon is None or delta is None:
            raise NacreError("The first release says what is spent in all: give epsilon and delta.")
        answers = Answers(merged.terms, epsilon, delta, ())
    elif epsilon is not None or delta is not None:
        raise NacreError("epsilon and delta were said in the first round: leave them out.")
    _require_round(merged, answers)
    plan = answers.plan
    answers.require_planned(plan)
    check_account(ledger, dataset, plan)
    reservation = reserve_in(ledger, dataset, plan)
    if answers.ledger is not None or answers.given:
        _continue(reservation, answers)
    encoder, _ = answers.terms.opened()
    vault = RoundVault(
        encoder,
        plan,
        answers.given,
        fresh=merged.exact,
        charge=reservation,
        on_progress=on_progress,
    )
    with contextlib.suppress(Asked):  # the next round's question: this one is answered
        answers.terms.learn(vault)
    entry = None if reservation is None else {"dataset": dataset, "entry": reservation.entry}
    return dataclasses.replace(
        answers,
        given=tuple(vault.answers),
        checked=answers.checked and merged.checked,
        ledger=entry,
    )


def _require_round(merged: Sketch, answers: Answers) -> None:
    """Refuse a sketch that does not go on with these answers."""
    if answers.parties is not None:
        raise NacreError(
            "These answers are of sites that mask their sums, and so are all rounds: a sketch "
            "does not go on with them. Nothing was spent."
        )
    if merged.terms != answers.terms or merged.answers != len(answers.given):
        raise NacreError(
            f"The sketch is of round {merged.answers + 1}, and the answers are those of "
            f"{len(answers.given)} rounds; or they are of other terms. Nothing was spent."
        )


def _continue(reservation: Reservation | None, answers: Answers) -> None:
    """Go on with the entry of the first round; refuse a round that was charged already."""
    if (reservation is None) != (answers.ledger is None):
        raise LedgerError("Give the ledger of the first round in all rounds, or in none.")
    if reservation is None or answers.ledger is None:
        return
    history = reservation.ledger.history(reservation.dataset)
    found = [entry for entry in history if entry.id == answers.ledger["entry"]]
    if not found or answers.ledger["dataset"] != reservation.dataset:
        raise LedgerError(f"The ledger has no entry {answers.ledger['entry']} of this data set.")
    if len(found[0].releases) != len(answers.given):
        raise LedgerError(
            f"The ledger has {len(found[0].releases)} releases of entry {found[0].id}, and the "
            f"answers hold {len(answers.given)}: this round was released before. Use the answers "
            "that it gave; a second release would cost budget that nobody reserved."
        )
    require_same(found[0], answers.plan)
    reservation.entry, reservation.recorded = found[0].id, len(answers.given)


def require_same(entry: Entry, plan: Plan) -> None:
    """Refuse answers that say another budget than the one that was reserved for them."""
    known = [release.to_dict() for release in plan.releases]
    if (
        (entry.epsilon, entry.delta, entry.mu) != (plan.epsilon, plan.delta, plan.mu)
        or entry.adjacency is not plan.adjacency
        or not all(release in known for release in entry.releases)
    ):
        raise LedgerError(
            f"Entry {entry.id} of the ledger was reserved for another epsilon, delta or plan than "
            "the answers say. Were they changed? Nothing more was spent."
        )


def train(
    answers: Answers,
    *,
    ledger: Ledger | str | Path | None = None,
    on_progress: Report | None = None,
) -> Model:
    """The model, once all questions have been answered; no row and no sketch is needed."""
    from nacre.methods.settings import as_data

    encoder, method = answers.terms.opened()
    plan = answers.plan
    answers.require_planned(plan)
    vault = RoundVault(encoder, plan, answers.given, on_progress=on_progress)
    try:
        generator = answers.terms.learn(vault)
    except Asked as asked:
        raise NacreError(
            f"'{asked.question.name}' has not been answered yet: sites sketch again with these "
            f"answers, for round {len(answers.given) + 1}."
        ) from None
    if ledger is not None and answers.ledger is not None:
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        book.finish(answers.ledger["entry"])
    return Model(
        encoder=encoder,
        generator=generator,
        guarantee=promised(plan, {}, checked=answers.checked, hidden=method.protected),
        method=method.title,
        settings=as_data(method),
        kind="file",
        ledger=answers.ledger,
        budget=plan.epsilon if plan.private else None,
        rows=plan.rows,
    )
