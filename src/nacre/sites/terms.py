"""What all sites must have in common before their sums may be added; all of it public."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self, final

from nacre.errors import NacreError
from nacre.methods import AbstractMethod, choose
from nacre.methods.choice import find
from nacre.methods.settings import as_data
from nacre.plan import make_plan
from nacre.registry import ENCODERS, METHODS, load_class
from nacre.rows import AbstractEncoder
from nacre.vault import Adjacency, Plan
from nacre.vault.doors.choose import Choice
from nacre.vault.doors.sum import Sum
from nacre.vault.rounds import ONLY_SUMS, Answered, Asked, RoundVault

# Until the first release says what is to be spent; more if the schema itself was bought.
NOMINAL, ROOMY = {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": 50.0, "delta": 1e-3}


@final
@dataclasses.dataclass(frozen=True)
class Terms:
    """Schema, method and public randomness of a model that several sites make together.

    Attributes:
        encoder: as `AbstractEncoder.to_dict` tells it.
        method: its name in the registry.
        settings: of the method.
        seed: of public randomness.
        adjacency: under which the guarantee will hold.
        rows: a public number of rows of all sites, or None.
    """

    encoder: Mapping[str, Any]
    method: str
    settings: Mapping[str, Any]
    seed: int
    adjacency: str
    rows: int | None

    @classmethod
    def of(
        cls,
        encoder: AbstractEncoder,
        method: str | AbstractMethod,
        *,
        seed: int,
        adjacency: Adjacency | str,
        rows: int | None,
    ) -> Self:
        """Refuses what sums of sites cannot serve."""
        _require_rows(encoder)
        chosen, _ = choose(method, encoder.kind, encoder.protect)
        (name,) = [name for name in METHODS if find(name) is type(chosen)]
        encoded = {"kind": encoder.kind, **encoder.to_dict()}
        return cls(encoded, name, as_data(chosen), int(seed), Adjacency(adjacency).value, rows)

    def opened(self) -> tuple[AbstractEncoder, AbstractMethod]:
        """Encoder and method; raises ValueError or KeyError for what does not fit together."""
        said = dict(self.encoder)
        encoder: AbstractEncoder = load_class(ENCODERS, said.pop("kind")).from_dict(said)
        _require_rows(encoder)  # a stranger may have written the terms
        settings = {k: tuple(v) if isinstance(v, list) else v for k, v in self.settings.items()}
        return encoder, find(self.method)(**settings)

    def plan(self, epsilon: float, delta: float | None) -> Plan:
        """What will be released in all rounds together."""
        encoder, method = self.opened()
        encoder.require_usable()
        found = make_plan(
            method,
            "Chosen by the sites.",
            encoder,
            epsilon=epsilon,
            delta=delta,
            adjacency=Adjacency(self.adjacency),
            rows=self.rows,
        )
        for planned in found.asked:
            if not isinstance(planned.question, Sum | Choice):
                raise NacreError(ONLY_SUMS.format(name=f"'{planned.question.name}'"))
        return found

    def nominal(self) -> Plan:
        """A plan to come to the first question with, which no budget decides."""
        encoder, _ = self.opened()
        return self.plan(**(ROOMY if encoder.releases else NOMINAL))

    def learn(self, vault: RoundVault) -> Any:
        """Run the method; raises `Asked` at the first question that has no answer."""
        import jax

        _, method = self.opened()
        return method.learn(vault, vault.plan, key=jax.random.key(self.seed))  # type: ignore[arg-type]

    def next_question(self, plan: Plan, given: list[Answered], on_progress: Any = None) -> Asked:
        """What is to be summed next; refuses if everything has been answered."""
        encoder, _ = self.opened()
        try:
            self.learn(RoundVault(encoder, plan, given, on_progress=on_progress))
        except Asked as asked:
            return asked
        raise NacreError("All questions have been answered: make the model with `nacre train`.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(**{field.name: said[field.name] for field in dataclasses.fields(cls)})


def _require_rows(encoder: AbstractEncoder) -> None:
    """Refuse images, and persons of several rows."""
    if encoder.kind != "table":
        raise NacreError("Sites sketch tables; images are fitted in one place.")
    if encoder.unit is not None:
        raise NacreError(
            "The schema has a `unit`, and one person may have rows at several sites, so no "
            "guarantee per person would be true. Bring each person to one row at one site."
        )
