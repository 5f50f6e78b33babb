"""What the rounds have released so far, in a file that anybody may have."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre import archive
from nacre.errors import NacreError
from nacre.sites.terms import Terms
from nacre.vault import Plan
from nacre.vault.doors.sum import Sum, Sums
from nacre.vault.parties import Parties
from nacre.vault.plan import Planned
from nacre.vault.rounds import WRONG_KIND, Answered
from nacre.vault.shares import shared

KIND = "answers"


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Answers:
    """Noisy answers of the rounds so far, and under which terms; public.

    Attributes:
        terms: what all sites have in common.
        epsilon: of all rounds together.
        delta: likewise.
        given: the answers.
        checked: whether all rows of all sites were found to fit the schema.
        ledger: data set and number of the ledger's entry, if there is one.
        parties: sites that each added a share of the noise; None if it was added in one place.
    """

    terms: Terms
    epsilon: float
    delta: float
    given: tuple[Answered, ...]
    checked: bool = True
    ledger: Mapping[str, Any] | None = None
    parties: Parties | None = None

    @property
    def plan(self) -> Plan:
        """What all rounds release."""
        plan = self.terms.plan(self.epsilon, self.delta)
        return plan if self.parties is None else shared(plan, self.parties)

    def require_planned(self, plan: Plan) -> None:
        """Refuse answers that the plan does not ask for, or that are not as it asks for them.

        Each is of a question that is asked as often at least, of its kind and shape, and says no
        less noise: whoever could pass off something else might have a question answered twice.
        """
        open_ = list(plan.asked)
        for each in self.given:
            found = [planned for planned in open_ if planned.question.name == each.name]
            if not found:
                raise NacreError(f"'{each.name}' is no question of this plan, or is there twice.")
            open_.remove(found[0])
            _require_fit(each, found[0], self.epsilon)

    def same(self, other: Answers) -> bool:
        """Whether both say the same, to the bit."""
        (said, arrays), (says, others) = self._written(), other._written()
        return json.dumps(said) == json.dumps(says) and (
            {name: array.tobytes() for name, array in arrays.items()}
            == {name: array.tobytes() for name, array in others.items()}
        )

    def save(self, path: str | Path, *, replace: bool = False) -> None:
        """Write it; nothing in it is private.  A file that is there stays without `replace`."""
        archive.write(Path(path), *self._written(), replace=replace)

    def _written(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """As a document and arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        listed = []
        for place, each in enumerate(self.given):
            said: dict[str, Any] = {"name": each.name, "program": each.program}
            if each.sums is None:
                said["picks"] = list(each.picks)
            else:
                arrays[f"values{place}"] = each.sums.values
                said |= {"noise": list(each.sums.noise), "count_noise": each.sums.count_noise}
                if each.sums.counts is not None:
                    arrays[f"counts{place}"] = each.sums.counts
            listed.append(said)
        document = {
            "file": KIND,
            "terms": self.terms.to_dict(),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "given": listed,
            "checked": self.checked,
            "ledger": None if self.ledger is None else dict(self.ledger),
            "parties": None if self.parties is None else self.parties.to_dict(),
        }
        return document, arrays

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The inverse of `save`."""
        document, arrays = archive.read(Path(path))
        with opening(path, document, KIND):
            return cls(
                Terms.from_dict(document["terms"]),
                float(document["epsilon"]),
                float(document["delta"]),
                tuple(_answer(said, i, arrays) for i, said in enumerate(document["given"])),
                bool(document["checked"]),
                _entry(document["ledger"]),
                None if document.get("parties") is None else Parties(**document["parties"]),
            )


def _answer(said: Mapping[str, Any], place: int, arrays: Mapping[str, NDArray[Any]]) -> Answered:
    name, program = str(said["name"]), str(said["program"])
    if "picks" in said:
        return Answered(name, program, picks=tuple(int(pick) for pick in said["picks"]))
    values, counts = arrays[f"values{place}"], arrays.get(f"counts{place}")
    if not np.isfinite(values).all():
        raise NacreError("An answer is not finite.")
    noise = tuple(float(part) for part in said["noise"])
    return Answered(name, program, sums=Sums(values, noise, counts, float(said["count_noise"])))


def _require_fit(answer: Answered, planned: Planned, epsilon: float) -> None:
    """Refuse an answer of another kind or shape than its question, or with less noise."""
    question, sums = planned.question, answer.sums
    if not isinstance(question, Sum):
        if sums is not None:
            raise NacreError(WRONG_KIND.format(name=answer.name))
        return
    if sums is None:
        raise NacreError(WRONG_KIND.format(name=answer.name))
    bound, noise = question.bound, planned.release.noise * (1 - 1e-9)
    counts = None if sums.counts is None else sums.counts.shape
    if sums.values.shape != (bound.classes, bound.size) or (
        counts != ((bound.classes,) if bound.count else None)
    ):
        raise NacreError(f"The answer '{answer.name}' has another shape than its question.")
    least = [noise / segment.weight for segment in bound.segments]
    if (
        len(sums.noise) != len(least)
        or not all(one >= other for one, other in zip(sums.noise, least, strict=True))
        or (bound.count and not sums.count_noise >= noise / bound.count)
    ):
        raise NacreError(
            f"The answer '{answer.name}' has less noise than epsilon={epsilon:g} asks for. Was the "
            "file changed?"
        )


def _entry(said: Any) -> dict[str, Any] | None:
    return None if said is None else {"dataset": str(said["dataset"]), "entry": int(said["entry"])}


@contextlib.contextmanager
def opening(path: str | Path, document: Mapping[str, Any], kind: str) -> Iterator[None]:
    """What is wrong with a file, in words, whoever wrote it."""
    if document.get("file") != kind:
        raise archive.ArchiveError(f"{path} is a nacre file, but not one with {kind}.")
    try:
        yield
    except Exception as error:  # of any kind: a stranger may have written it
        raise archive.ArchiveError(
            f"{path} does not fit together ({type(error).__name__}). It is damaged or was edited."
        ) from None
