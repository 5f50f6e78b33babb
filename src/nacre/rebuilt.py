"""The releases that a model's own settings ask for, beside those that its certificate lists."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any, final

from nacre.errors import NacreError
from nacre.methods import AbstractMethod
from nacre.methods.choice import find
from nacre.model import Model, versions
from nacre.plan import make_plan
from nacre.registry import METHODS
from nacre.vault import Plan, Release, Steps
from nacre.vault.budget import check_budget
from nacre.vault.doors.steps import ODDS
from nacre.vault.release import SHARED
from nacre.vault.shares import shared
from nacre.vault.sketch import shortfalls, sketched

SAME = 1e-9  # by which two numbers of one plan may differ, each in parts of itself
DECIDING = ("nacre", "dp-accounting")  # packages that decide what is released, and how noisy
MOST = 4  # differences that are told
LENGTH = 160  # letters of one
CLOSE = ("sensitivity", "noise", "rate", "epsilon", "delta")
PARTIES = ("sites", "dropouts", "colluding")
SEARCHED = ("noise", "epsilon")  # what only a search for noise finds
SAME_LIST, DIFFERS, NOT_COMPARED = "same", "differs", "not compared"
EXACT = ("mechanism", "theorem", "adjacency", "size", "steps", "unit", "by", *PARTIES)


@final
@dataclasses.dataclass(frozen=True)
class Comparison:
    """What the list of a certificate has otherwise than a plan with the same public facts.

    Attributes:
        differences: in words; none where the two agree.
        left_out: what was not compared, and why.
        elsewhere: the versions that made the model, where they are not those that compare.
        planned: whether there was a plan to compare with.
    """

    differences: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    elsewhere: str = ""
    planned: bool = True

    @property
    def outcome(self) -> str:
        """Whether the two lists are the "same", one "differs", or there was "not compared" one."""
        if not self.planned:
            return NOT_COMPARED
        return DIFFERS if self.differences else SAME_LIST

    @property
    def refused(self) -> bool:
        """Whether the list cannot be what these versions have released."""
        return bool(self.differences) and not self.elsewhere

    def __str__(self) -> str:
        told = "; ".join(self.differences[:MOST])
        if len(self.differences) > MOST:
            told += f"; and {len(self.differences) - MOST} more"
        if self.refused:
            said = (
                "The releases listed are not those that follow from the schema, method, settings, "
                f"ε and δ of the same file: {told}. It was edited, or no fit made it: do not rely "
                "on this guarantee."
            )
        elif self.differences:
            said = (
                f"The file says that it was made with {self.elsewhere}; the versions here would "
                f"have released otherwise: {told}. Install those, and verify again; until then do "
                "not rely on this guarantee."
            )
        elif self.planned:
            said = "They are those that its schema, method and settings ask for, at that ε and δ."
        elif self.elsewhere:
            said = (
                f"What the method asks for is not known here. Install {self.elsewhere}, with which "
                "the file says that it was made, and verify again."
            )
        else:
            said = (
                "What the method asks for is not known here, though the file names this very "
                "version: ask who made it for the method's code, or do not rely on this guarantee."
            )
        left = "; ".join(self.left_out)
        return f"{said} Not compared: {left}." if left else said


def compare(model: Model) -> Comparison:
    """Plan the model's fit again from what its file says, and compare the two lists.

    Names (in any order), sizes, sensitivities and noise.  A list may be edited so that what is left
    of it costs no more than is claimed; then it is not the one of this plan.  A file that somebody
    made up from a plan of its own has the right list, whatever was done with the rows.
    """
    elsewhere = _elsewhere(model)
    names = [name for name in METHODS if find(name).title == model.method]
    if not names:
        none = _short(f"all releases, as this nacre has no method '{model.method}'")
        return Comparison((), (none,), elsewhere, planned=False)
    try:
        method = find(names[0])(**_settings(model))
        # A stranger chose the settings, and noise may take minutes to find: what is free is first.
        plan = _sketch(method, model) if model.guarantee.private else None
        differences = [] if plan is None else _at_once(plan, model)
        if plan is None or not differences:
            plan = _plan(method, model)
            differences = _differences(plan, _planned(plan, model), model)
    except Exception as error:  # of any kind: a stranger may have written the settings
        why = str(error) if isinstance(error, NacreError) else type(error).__name__
        return Comparison((f"nothing can be planned with them ({_short(why)})",), (), elsewhere)
    if method.protected != model.guarantee.hidden:
        differences.append("other columns are said to be hidden than the settings hide")
    return Comparison(tuple(map(_short, differences)), tuple(_left_out(plan, model)), elsewhere)


def _elsewhere(model: Model) -> str:
    """The versions that decide and are others than those here."""
    here = versions()
    others = [n for n in DECIDING if str(model.versions.get(n, "unknown")) != here[n]]
    return _short(" and ".join(f"{n} {model.versions.get(n, 'unknown')}" for n in others))


def _settings(model: Model) -> dict[str, Any]:
    """The settings as the method takes them: JSON has lists in place of tuples."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in model.settings.items()}


def _sketch(method: AbstractMethod, model: Model) -> Plan:
    """The plan but for its noise: the settings' questions, without a search."""
    guarantee = model.guarantee
    plan = sketched(
        method.questions(model.encoder, guarantee.adjacency, model.rows),
        epsilon=_budget(model),
        delta=guarantee.delta,
        adjacency=guarantee.adjacency,
        rows=model.rows,
        unit=model.encoder.unit,
        prior=tuple(Release.from_dict(release) for release in model.encoder.releases),
    )
    return _as_shared(plan, model)


def _at_once(plan: Plan, model: Model) -> list[str]:
    """What differs, as far as that can be told without a search for noise."""
    asked, claimed = plan.epsilon, model.guarantee.epsilon
    if not claimed <= asked * (1 + 1e-8):
        return [f"ε = {_told(claimed)} is claimed and ε = {_told(asked)} was asked for"]
    found = _differences(plan, _planned(plan, model, search=False), model, SEARCHED)
    return found or [
        f"{name} costs ε = {_told(cost)}, where noise for ε = {_told(budget)} was asked for"
        for name, cost, budget in shortfalls(plan, model.guarantee)
    ]


def _budget(model: Model) -> float:
    """The epsilon that was asked for, which every file of a private model says."""
    if not model.guarantee.private:
        return math.inf
    if model.budget is None:
        raise NacreError("no ε was asked for")
    check_budget(model.budget, model.guarantee.delta)
    return model.budget


def _plan(method: AbstractMethod, model: Model) -> Plan:
    guarantee = model.guarantee
    plan = make_plan(
        method,
        "",
        model.encoder,
        epsilon=_budget(model),
        delta=guarantee.delta if guarantee.private else None,
        adjacency=guarantee.adjacency,
        rows=model.rows,
    )
    return _as_shared(plan, model)


def _as_shared(plan: Plan, model: Model) -> Plan:
    """The plan with its noise in shares of sites, where the file lists such noise."""
    releases = model.guarantee.releases
    parties = {release.parties for release in releases if release.mechanism == SHARED}
    return shared(plan, parties.pop()) if len(parties) == 1 else plan


def _differences(
    plan: Plan, own: Sequence[Release], model: Model, unknown: Sequence[str] = ()
) -> list[str]:
    """What is missing in the list, what is in it beyond the plan, and what is otherwise.

    `own` are the plan's releases, of which some facts may be `unknown`.
    """
    asked = _by_name([*plan.prior, *own])
    listed = _by_name(model.guarantee.releases)
    found = []
    for name in {**asked, **listed}:
        mine, theirs = asked.get(name, []), listed.get(name, [])
        if len(mine) != len(theirs):
            found.append(f"'{name}' is listed {_times(theirs)} and asked for {_times(mine)}")
            continue
        for one, other in zip(mine, theirs, strict=True):
            found += [f"'{name}' has {each}" for each in _otherwise(one, other, unknown)]
    return found


def _planned(plan: Plan, model: Model, *, search: bool = True) -> list[Release]:
    """The plan's own releases, with the rates that followed, and with the noise if `search`."""
    rates = {release.name: release.rate for release in model.guarantee.releases}
    found = []
    for planned in plan.asked:
        question, release = planned.question, planned.release
        if isinstance(question, Steps) and release.mechanism != "subsampled-gaussian":
            rate = _rate(question, rates.get(question.name))
            if rate is not None and search:
                release = question.at_rate(release, rate)
            elif rate is not None:
                release = question.as_reserved(release, rate, 1.0)
        found.append(release)
    return found


def _rate(question: Steps, listed: float | None) -> float | None:
    """Of public rows; after a noisy count the one that is listed, or the nearest there can be."""
    if question.rows is not None:
        return question.threshold(question.rows) / ODDS
    return None if listed is None else min(max(round(listed * ODDS), 1), ODDS - 1) / ODDS


def _open(plan: Plan) -> list[Steps]:
    """Questions whose rate followed from a noisy count."""
    questions = [planned.question for planned in plan.asked]
    return [q for q in questions if isinstance(q, Steps) and q.rows is None]


def _by_name(releases: Iterable[Release]) -> dict[str, list[Release]]:
    """Releases by their names, those of one name by size and noise."""
    found: dict[str, list[Release]] = {}
    for release in releases:
        found.setdefault(release.name, []).append(release)
    return {name: sorted(each, key=_order) for name, each in found.items()}


def _order(release: Release) -> tuple[Any, ...]:
    r = release
    return r.mechanism, r.size, r.steps, r.noise, r.epsilon, r.delta


def _otherwise(asked: Release, listed: Release, unknown: Sequence[str]) -> list[str]:
    """Which facts of a release are others than they should be."""
    facts = [(n, getattr(asked, n), getattr(listed, n)) for n in (*EXACT, *CLOSE)]
    return [
        f"{name} {_told(theirs)}, not {_told(mine)}"
        for name, mine, theirs in facts
        if name not in unknown
        and not (math.isclose(mine, theirs, rel_tol=SAME) if name in CLOSE else mine == theirs)
    ]


def _left_out(plan: Plan, model: Model) -> list[str]:
    """What the file alone says."""
    found = [
        f"rate of '{question.name}', which followed from a noisy count (its noise is compared with "
        "what the listed rate needs)"
        for question in _open(plan)
    ]
    shares = any(release.mechanism == SHARED for release in model.guarantee.releases)
    sites = "how many sites share the noise" if shares else "whether sites shared the noise"
    return [*found, f"whether rows were checked first, and {sites}"]


def _times(releases: Sequence[Release]) -> str:
    return {0: "not at all", 1: "once"}.get(len(releases), f"{len(releases):,} times")


def _told(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else f"'{value}'"


def _short(text: str) -> str:
    return "".join(letter for letter in text[:LENGTH] if letter.isprintable())
