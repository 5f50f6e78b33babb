"""Methods under names of their own: with their defaults, or as their papers have them."""

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from nacre.errors import NacreError
from nacre.methods import METHODS, AbstractMethod, find
from nacre.plan import as_encoder
from nacre.schema import Boolean, Integer, Schema
from nacre.vault import Adjacency, Steps

_SMALL = Schema({"x": Integer(low=0, high=9), "y": Boolean()}, label="y")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Variant:
    """A method with settings.

    Attributes:
        title: its name for people.
        method: its name in the registry.
        preset: the method's own function that makes it, such as "as_published"; its defaults if "".
        settings: what differs from that.
        seconds: CPU seconds of a fit to some ten thousand rows, about: only to put runs in order.
    """

    title: str
    method: str
    preset: str = ""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float = 30

    @property
    def registered(self) -> bool:
        """Whether this version has the method."""
        return self.method in METHODS

    @property
    def private(self) -> bool:
        """Whether it can be fitted with an epsilon that is a number."""
        return not self.registered or bool(find(self.method).private)

    def make(self, settings: Mapping[str, Any] | None = None) -> AbstractMethod:
        """The method, with some more settings."""
        kind: Any = find(self.method)
        base = getattr(kind, self.preset)() if self.preset else kind()
        return dataclasses.replace(base, **{**self.settings, **(settings or {})})


_NAMED = {
    "mosaic": Variant(title="Mosaic", method="mosaic", seconds=15),
    "aim": Variant(title="AIM", method="aim", seconds=65),
    "mst": Variant(title="MST", method="mst", seconds=18),
    "pearl": Variant(title="PEARL", method="pearl", seconds=20),
    "pearl-network": Variant(
        title="PEARL, as published", method="pearl", preset="as_published", seconds=300
    ),
    "merf": Variant(title="DP-MERF", method="merf", seconds=10),
    "merf-network": Variant(
        title="DP-MERF, as published", method="merf", preset="as_published", seconds=300
    ),
    "autogan": Variant(title="DP-auto-GAN", method="autogan", seconds=120),
    "autogan-published": Variant(
        title="DP-auto-GAN, as published", method="autogan", preset="as_published", seconds=900
    ),
    "dpgan": Variant(title="DPGAN", method="dpgan", seconds=50),
    "dpcgan": Variant(title="DP-CGAN", method="dpcgan", seconds=50),
    "pategan": Variant(title="PATE-GAN", method="pategan", seconds=60),
    "wgan": Variant(title="WGAN", method="wgan", seconds=100),
    "energygan": Variant(title="EnergyGAN", method="energygan", seconds=100),
    "steingan": Variant(title="SteinGAN", method="steingan", seconds=100),
    "medgan": Variant(title="medGAN", method="medgan", seconds=100),
    "functional": Variant(title="Functional", method="functional", seconds=30),
    "functional-features": Variant(
        title="Functional, by steps",
        method="functional",
        settings={"release": "features"},
        seconds=600,
    ),
    "functional-exact": Variant(
        title="Functional, exact", method="functional", settings={"release": "exact"}, seconds=1200
    ),
}


def variants() -> dict[str, Variant]:
    """The named ones, and each other registered method of tables with its defaults."""
    others = [name for name in METHODS if name not in _NAMED and "table" in find(name).data]
    return _NAMED | {name: Variant(title=find(name).title, method=name) for name in others}


def usable(names: Iterable[str] | None = None) -> tuple[dict[str, Variant], list[str]]:
    """The variants of these names (None: all) that can be run here, and why others cannot."""
    known, found, problems = variants(), {}, []
    for name in known if names is None else names:
        if name not in known:
            problems.append(f"There is no method '{name}': skipped. There are: {', '.join(known)}.")
        elif not known[name].registered:
            problems.append(f"{name}: this version has no method '{known[name].method}': skipped.")
        elif problem := _problem(known[name]):
            problems.append(f"{name}: {problem}: skipped.")
        else:
            found[name] = known[name]
    return found, problems


def _problem(variant: Variant) -> str:
    """Why a variant cannot be made here, if so: an extra or a setting that is not there."""
    try:
        is_stepwise(variant.make())
    except (AttributeError, ImportError, NacreError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@functools.cache
def is_stepwise(method: AbstractMethod) -> bool:
    """Whether the method trains on batches of rows, step by step."""
    questions = method.questions(as_encoder(_SMALL), Adjacency.ADD_REMOVE, None)
    return any(isinstance(question, Steps) for question in questions)
