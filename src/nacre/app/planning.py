"""What a fit would release, in plain words, for the choices that a person makes on the page."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import warnings
from collections.abc import Mapping
from typing import Any, Self, final

from nacre.errors import NacreError
from nacre.ledger.names import normalized
from nacre.plan import plan
from nacre.schema import Schema
from nacre.vault import Plan
from nacre.vault.guarantee import unit_name

EPSILON, DELTA = 1.0, 1e-6  # where the slider stands at first; the person confirms what is spent
LARGE = 10.0  # at which the best attack finds a third of the people


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Choices:
    """What a person chooses; everything that `nacre fit` would be told beside table and schema.

    Attributes:
        epsilon: of the fit.
        delta: likewise.
        method: a name, or "auto".
        adjacency: which tables must be hard to tell apart.
        rows: a public number of rows, if there is one.
        seed: of public randomness.
        bad_rows: what to do about rows that do not fit.
        dataset: the name of the budget.
        budget_epsilon: what a budget is opened with, if none is open.
        budget_delta: likewise.
        settings: of the method.
    """

    epsilon: float = EPSILON
    delta: float = DELTA
    method: str = "auto"
    adjacency: str = "add-remove"
    rows: int | None = None
    seed: int | None = None
    bad_rows: str = "check"
    dataset: str = ""
    budget_epsilon: float = 2 * EPSILON
    budget_delta: float = 10 * DELTA
    settings: tuple[str, ...] = ()

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Self:
        """From text that a person wrote; NacreError says which number is none."""
        found: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            if field.name not in said:
                continue
            value = said[field.name]
            kind = str(field.type)
            if field.name == "settings":
                found[field.name] = tuple(value)
            elif kind == "str":
                # As the ledger writes names, so that what it has charged is found again.
                found[field.name] = normalized(str(value))
            elif value in ("", None):
                if "None" not in kind:
                    raise NacreError(f"Give a number for {NAMES[field.name]}.")
                found[field.name] = None
            else:
                found[field.name] = _number(NAMES[field.name], value, whole="int" in kind)
        return cls(**found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return dataclasses.asdict(self)

    def digest(self, schema: Mapping[str, Any]) -> str:
        """Changes with every choice and with the schema.

        A button names what was shown, and nothing else is spent.
        """
        said = json.dumps([self.to_dict(), schema], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


NAMES = {
    "epsilon": "ε",
    "delta": "δ",
    "rows": "the number of rows",
    "seed": "the seed",
    "budget_epsilon": "the budget’s ε",
    "budget_delta": "the budget’s δ",
}


def _number(name: str, value: Any, *, whole: bool) -> float | int:
    try:
        number = float(str(value).replace(",", "").replace("_", "x"))
        if not math.isfinite(number):
            raise ValueError
        if whole:
            if number != int(number):
                raise ValueError
            return int(number)
        return number
    except (ValueError, OverflowError):
        kind = "a whole number" if whole else "a number"
        raise NacreError(f"{name} must be {kind}, such as {'30000' if whole else '0.5'}.") from None


def outline(schema: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """The plan as the page shows it; plain data, as it is made in another process."""
    facts, chosen = Schema.from_dict(schema), Choices.read(choices)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        planned = _plan(facts, chosen, chosen.epsilon)
        remarks = [str(each.message) for each in caught if each.category is UserWarning]
    if chosen.epsilon > LARGE:
        remarks.append(
            f"ε = {chosen.epsilon:g} protects little: at {LARGE:g} somebody who knows the other "
            "rows may find a third of the people. At most 1 is usual."
        )
    return {
        "method": planned.method,
        "reason": planned.reason,
        "outlook": planned.outlook,
        "each": unit_name(planned.unit),
        "releases": _releases(planned),
        "count_error": count_error(planned),
        "remarks": remarks,
        "example": example(facts),
    }


def _plan(schema: Schema, choices: Choices, epsilon: float) -> Plan:
    from nacre.app.method import method_of

    return plan(
        schema,
        epsilon=epsilon,
        delta=choices.delta,
        method=method_of(choices),
        adjacency=choices.adjacency,
        rows=choices.rows,
    )


def count_error(planned: Plan) -> float | None:
    """The standard error of one count of rows in the first release that counts by values.

    Or in the first that counts rows at all, where none has more.
    """
    expected = [each.question.expected(each.release, 1) for each in planned.asked]
    known = [e.error for e in expected if e.error is not None]
    known += [e.count_error for e in expected if e.count_error is not None]
    return float(known[0]) if known else None


def _releases(planned: Plan) -> list[dict[str, Any]]:
    """Each kind of question once: what it tells, how much of the budget it gets, how far off."""
    found = []
    alike = itertools.groupby(planned.asked, key=lambda p: (p.question.meaning, p.release.size))
    for _, group in alike:
        first, *others = group
        every = [first, *others]
        expected = first.question.expected(first.release, 1)
        count = expected.count_error if expected.error is None else expected.error
        said = first.expected
        found.append(
            {
                "name": first.release.name,
                "more": len(others),
                "meaning": first.question.meaning,
                "numbers": first.release.size,
                "steps": first.release.steps,
                "rate": first.release.rate,
                "mechanism": first.release.mechanism,
                "share": sum(each.question.share for each in every),
                "count_error": None if count is None else float(count),
                "error": said.error,
                "words": said.words,
            }
        )
    return found


def example(schema: Schema) -> dict[str, Any]:
    """A column to draw: its public name and the names of its values; its counts are made up."""
    names = [schema.label] if schema.label else []
    names += [name for name in schema.names if name not in names]
    for name in sorted(names, key=lambda n: not 4 <= (schema.columns[n].size or 0) <= 10):
        values = getattr(schema.columns[name], "values", None)
        if values and len(values) > 1:
            return {"column": name, "values": list(values[:8])}
    return {"column": "", "values": [f"group {letter}" for letter in "ABCDEF"]}
