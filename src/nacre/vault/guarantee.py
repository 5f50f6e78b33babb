"""The guarantee as a value: what was released, what it cost, and how to recompute it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from nacre.errors import NacreError
from nacre.schema import Unit
from nacre.vault.accountant import LARGEST_EPSILON, LEAST_DELTA, LEAST_EPSILON, epsilon_of
from nacre.vault.bound import Adjacency
from nacre.vault.budget import LARGEST_DELTA, check_budget
from nacre.vault.parties import Parties
from nacre.vault.release import SHARED, UNITS, Release

MOST_RELEASES = 10_000  # far more than any fit asks for
ONE_SHOT = (
    "Sums are integers with exact discrete Gaussian noise; its bits come from OpenSSL's generator, "
    "seeded by the system (computational)."
)
SHARES = (
    "Sums are integers with exact discrete Gaussian noise in shares, one of each of {sites} sites, "
    "and hidden by masks until they were added up. At most {dropouts} sites were to be missing in "
    "a round, and at most {colluding} work together, with whoever collects or without: the others "
    "follow the protocol, draw noise from OpenSSL's generator, and keep it secret. Keys, masks and "
    "signatures are X25519, HKDF-SHA256, ChaCha20-Poly1305 and Ed25519 (computational). A row is "
    "at one site, and what is promised is promised to rows of those others."
)
CHOICES = (
    "Choices are exact exponential mechanisms on integer scores; their bits come from OpenSSL's "
    "generator, seeded by the system (computational)."
)
STEP_WISE = (
    "Step-wise releases are integer sums with discrete Gaussian noise; its bits come from two "
    "64-bit Threefry keys of the system (computational). Unless rows are worked off one at a time, "
    "it is assumed that a row's place in a chunk of 64 changes no bit of its contribution."
)
CHECKED = (
    "All rows were checked to fit the schema before anything was released: that they do, and that "
    "there are two at least, is known. The guarantee is among tables of which that is true."
)
READING = (
    "A row is what is read as one: a frame was built row by row, a CSV record is a row, and the "
    "table does not change while it is fitted."
)
NOT_PRIVATE = "NOT PRIVATE: no noise was added; rows may be recognizable"
NOTHING = (
    "Nothing is promised: the model, and every table that is drawn from it, may show rows of the "
    "table as they are. Treat both as the table itself."
)
PERSONS = (
    "A person is all rows of the same id, a row without an id one person; at most {rows} of a "
    "person's rows, drawn at random, count, and together they weigh as much as one row. Ids are "
    "told apart by a keyed 128-bit hash (computational), and are in nothing that was released."
)
ONE_ROW = (
    "A person is all rows of the same id, a row without an id one person; one of a person's rows, "
    "drawn at random, counts. Ids are told apart by a keyed 128-bit hash (computational), and are "
    "in nothing that was released."
)
METADATA = "The schema, the types that were stated, and all settings are public."
LMDP = (
    "α-LMDP was asked for: that in samples the joint distribution of {sets} differ from the "
    "table's, so that a test of level α rejects that the two are equal. It hides an aggregate. It "
    "is no differential privacy and protects no single row, and only `nacre.lmdp_report`, on the "
    "table itself, can say whether samples have it."
)
PARTLY = (
    "Noise was added to {names} only, which by itself costs {cost}. That protects no whole row: "
    "the other releases had no noise, and a row is in all of them."
)


@dataclasses.dataclass(frozen=True)
class Hidden:
    """Columns whose joint distribution was to be hidden (α-LMDP), and the level of the test."""

    columns: tuple[str, ...]
    alpha: float

    def __post_init__(self) -> None:
        names = self.columns and all(isinstance(name, str) for name in self.columns)
        if not names or not 0 < self.alpha < 1:
            raise NacreError("Hidden columns need names, and a level between 0 and 1.")
        if not all(name.isprintable() for name in self.columns):
            raise NacreError("A hidden column's name has a control character.")

    def __str__(self) -> str:
        return f"{', '.join(self.columns)} (α = {self.alpha:g})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guarantee:
    """(epsilon, delta)-differential privacy for one row, or one person, under `adjacency`.

    With an infinite epsilon, and delta one, it says that nothing is promised.

    Attributes:
        epsilon: the privacy parameter.
        delta: likewise.
        adjacency: which tables must be hard to tell apart.
        releases: what the numbers follow from.
        unit: whose privacy it is: that of a "row", or of a "person" of any number of rows.
        most_rows: how many rows of a person count, at most; None if a row is a person.
        checked: whether the rows were found to fit the schema first; the guarantee then holds
            among tables that fit it.
        hidden: columns for which α-LMDP was asked; nothing of epsilon and delta follows from it.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    releases: tuple[Release, ...] = ()
    unit: str = "row"
    most_rows: int | None = None
    checked: bool = False
    hidden: tuple[Hidden, ...] = ()

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise NacreError(f"epsilon must be positive, got {self.epsilon}.")
        if not self.private and self.delta != 1:
            raise NacreError(f"Without privacy delta is 1, got {self.delta}.")
        if self.private and not 0 < self.delta < 1:
            raise NacreError(f"delta must lie strictly between 0 and 1, got {self.delta}.")
        if self.private and not all(release.private for release in self.releases):
            raise NacreError("A release without noise is in the list, so epsilon is infinite.")
        if self.unit not in UNITS or any(r.unit != self.unit for r in self.releases):
            raise NacreError(
                f"The unit of privacy is a row or a person, and that of all releases; got "
                f"{self.unit!r}."
            )
        if (self.most_rows is None) is not (self.unit == "row") or (self.most_rows or 1) < 1:
            raise NacreError("How many rows of a person count is said where the unit is a person.")

    @property
    def private(self) -> bool:
        """Whether anything is promised."""
        return math.isfinite(self.epsilon)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the numbers rest on, in words."""
        if not self.private:
            return (NOTHING, *self._partly(), *self._hides())
        kinds = {release.mechanism for release in self.releases}
        said = [METADATA, READING]
        if self.most_rows is not None:
            said.append(ONE_ROW if self.most_rows == 1 else PERSONS.format(rows=self.most_rows))
        if self.checked:
            said.append(CHECKED)
        if "gaussian" in kinds:
            said.append(ONE_SHOT)
        said += [SHARES.format(**p.to_dict()) for p in self._parties()]
        if "exponential" in kinds:
            said.append(CHOICES)
        if "subsampled-gaussian" in kinds:
            said.append(STEP_WISE)
        return (*said, *self._hides())

    def _parties(self) -> list[Parties]:
        """Sites that share the noise of some release."""
        found = [r.parties for r in self.releases if r.mechanism == SHARED]
        return list(dict.fromkeys(found))

    def _hides(self) -> tuple[str, ...]:
        """What α-LMDP means, where it was asked for."""
        return (LMDP.format(sets=_listed(self.hidden)),) if self.hidden else ()

    def _noisy(self) -> tuple[Release, ...]:
        """Releases with noise among others without."""
        return () if self.private else tuple(r for r in self.releases if r.private)

    def _partly(self) -> tuple[str, ...]:
        """What noise in some releases is worth, where others had none."""
        noisy = [release for release in self._noisy() if release.delta > 0]
        if not noisy:
            return ()
        epsilon, delta = math.fsum(r.epsilon for r in noisy), math.fsum(r.delta for r in noisy)
        cost = f"(ε = {upwards(epsilon, 4):g}, δ = {upwards(delta, 6):g})"
        names = " and ".join(f"'{release.name}'" for release in noisy)
        return (PARTLY.format(names=names, cost=cost),)

    def recompute(self) -> float:
        """epsilon at delta, from the releases alone."""
        return epsilon_of(self.releases, self.delta, self.adjacency)

    def verify(self) -> None:
        """Raise ValueError unless the releases really cost no more than what is claimed."""
        if not self.private:
            raise NacreError(f"{NOT_PRIVATE}. There is no guarantee to verify.")
        if not self.releases:
            raise NacreError(
                "The guarantee lists no releases: there is nothing to compute it from."
            )
        self._require_proved()
        try:
            found = self.recompute()
        except (ArithmeticError, MemoryError):  # of numbers that somebody made up
            found = math.inf
        if math.isinf(found):
            raise NacreError(
                f"What the releases listed cost at delta={self.delta:g} cannot be verified: delta "
                "is used up by what was reserved, or there is so little noise, or so many steps, "
                "that no epsilon can be worked out. Do not rely on this guarantee."
            )
        if not found <= self.epsilon * (1 + 1e-9):
            raise NacreError(
                f"The releases listed cost epsilon={found:.6g} at delta={self.delta:g}, "
                f"more than the claimed {self.epsilon:.6g}. Do not rely on this guarantee."
            )

    def _require_proved(self) -> None:
        """Refuse what no fit would be asked for: what noise costs is not proved there."""
        # A fit may cost a thousandth less than what was asked for.
        asked = self.epsilon if self.epsilon > 1 else self.epsilon * (1 + 1e-3)
        try:
            check_budget(asked, self.delta)
        except NacreError:
            raise NacreError(
                f"epsilon={self.epsilon:g} at delta={self.delta:g} cannot be verified: what noise "
                f"costs is proved for an epsilon above {LEAST_EPSILON:g} and at most "
                f"{LARGEST_EPSILON:g}, and a delta above {LEAST_DELTA:g} and below "
                f"{LARGEST_DELTA:g}. Do not rely on this guarantee."
            ) from None

    def __str__(self) -> str:
        if not self.private:
            said = NOT_PRIVATE
            if noisy := self._noisy():
                names = ", ".join(f"'{release.name}'" for release in noisy)
                said = f"NOT PRIVATE: noise in {names} only protects no whole row"
            if not self.hidden:
                return said
            sets = _listed(self.hidden)
            return f"{said}; no differential privacy, α-LMDP only was asked for, of {sets}"
        number = len(self.releases)
        beside = f"; beside it α-LMDP was asked for, of {_listed(self.hidden)}"
        return (
            f"(ε = {upwards(self.epsilon, 4):g}, δ = {upwards(self.delta, 6):g}), "
            f"{self.adjacency.value}, "
            f"{per(self.unit, self.most_rows)}, {number} release{'' if number == 1 else 's'}"
            f"{''.join(f', noise of {parties}' for parties in self._parties())}"
            f"{', among tables that fit the schema' if self.checked else ''}"
            f"{beside if self.hidden else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; without privacy epsilon and delta are null."""
        return {
            "claim": str(self),
            "epsilon": self.epsilon if self.private else None,
            "delta": self.delta if self.private else None,
            "adjacency": self.adjacency.value,
            "unit": self.unit,
            **({} if self.most_rows is None else {"most_rows": self.most_rows}),
            "checked": self.checked,
            "hidden": [{"columns": list(h.columns), "alpha": h.alpha} for h in self.hidden],
            "releases": [release.to_dict() for release in self.releases],
            "assumptions": list(self.assumptions),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Guarantee:
        """The inverse of `to_dict`."""
        epsilon, delta = data["epsilon"], data["delta"]
        if len(data["releases"]) > MOST_RELEASES:
            raise NacreError(
                f"A guarantee lists at most {MOST_RELEASES:,} releases, not "
                f"{len(data['releases']):,}."
            )
        if isinstance(epsilon, str) or isinstance(delta, str):
            raise NacreError("epsilon and delta must be numbers, not text.")
        return Guarantee(
            epsilon=math.inf if epsilon is None else float(epsilon),
            delta=1.0 if delta is None else float(delta),
            adjacency=Adjacency(data["adjacency"]),
            releases=tuple(Release.from_dict(r) for r in data["releases"]),
            unit=str(data["unit"]),
            most_rows=None if data.get("most_rows") is None else int(data["most_rows"]),
            checked=data["checked"] is True,
            hidden=tuple(
                Hidden(tuple(said["columns"]), float(said["alpha"]))
                for said in data.get("hidden", ())
            ),
        )


def unit_name(unit: Unit | None) -> str:
    """Whose privacy it is, in a word."""
    return "row" if unit is None else "person"


def unit_column(unit: Unit | None) -> str:
    """The column that tells persons apart; none where a row is a person."""
    return "" if unit is None else unit.column


def per(unit: str, most_rows: int | None) -> str:
    """Whose privacy it is, as claims say it.

    Examples:
        >>> per("row", None), per("person", 5)
        ('per row', 'per person (up to 5 rows each)')
    """
    if most_rows is None:
        return f"per {unit}"
    return f"per {unit} (up to {most_rows} row{'' if most_rows == 1 else 's'} each)"


def _listed(hidden: tuple[Hidden, ...]) -> str:
    return "; of ".join(map(str, hidden))


def upwards(value: float, digits: int) -> float:
    """A positive number to so many digits, never less than it is: what is printed is believed."""
    if not (math.isfinite(value) and value > 1e-300):  # below there are no digits to round to
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(value / unit * (1 - 1e-12)) * unit
