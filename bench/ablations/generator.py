"""A mixture against the papers' network, frequencies on one or two columns or on whole rows."""

import dataclasses
from functools import partial
from typing import Any

from bench.ablations.study import of_methods
from nacre.methods import AbstractMethod
from nacre.methods.merf import MERF
from nacre.methods.pearl import PEARL

METHODS: dict[str, Any] = {"PEARL": PEARL, "DP-MERF": MERF}
GENERATORS = ("mixture", "network")
FREQUENCIES_ON = ("pairs", "row")


def method(kind: Any, generator: str, frequencies_on: str) -> AbstractMethod:
    """One of four: the paper's settings for its network, our defaults for the mixture."""
    base: AbstractMethod = kind.as_published() if generator == "network" else kind()
    return dataclasses.replace(
        base,
        generator=generator,  # type: ignore[call-arg]
        frequencies_on=frequencies_on,
    )


STUDY = of_methods(
    "A mixture against the papers' network, on pairs of columns and on whole rows",
    "Networks have the papers' other settings, mixtures our defaults.",
    {
        f"{name}, {generator}, {on}": partial(method, kind, generator, on)
        for name, kind in METHODS.items()
        for generator in GENERATORS
        for on in FREQUENCIES_ON
    },
)
